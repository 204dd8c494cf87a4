"""Laws that every solver keeps: one suite over all methods that advance a scene."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.solvers.protocol import Solver
from supple.solvers.report import StepReport
from supple.validation.couplings import KINDS

G = np.array([0.0, 0.0, -9.81])
H = 1e-3
IMPLICIT = ("rigid", "fem", "particles")
SOLVERS: dict[str, tuple[Any, tuple[str, ...], float]] = {  # made how, for which kinds, end of a fall off by this part
    "implicit Euler": (lambda: sp.ImplicitEuler(H), (*IMPLICIT, "floating", "layered"), 0.1),
    "midpoint": (lambda: sp.Midpoint(H), (*IMPLICIT, "floating"), 1e-9),
    "Newmark": (lambda: sp.Newmark(H), IMPLICIT, 1e-9),
    "generalised alpha": (lambda: sp.GeneralizedAlpha(H), (*IMPLICIT, "floating"), 1e-6),
    "symplectic Euler": (lambda: sp.SymplecticEuler(1e-4), IMPLICIT, 0.1),
    "Runge-Kutta": (lambda: sp.RungeKutta4(1e-4), IMPLICIT, 1e-9),
    "partitioned": (lambda: sp.Partitioned(H), (*IMPLICIT, "floating", "layered", "tree", "voxel"), 0.1),
    "trees": (lambda: sp.TreeSolver(H), ("tree",), 0.1),
    "lattices": (lambda: sp.LatticeSolver(), ("voxel",), 0.1),
    "strides": (lambda: sp.StrideSolver(H), ("floating", "layered"), 0.1),
}
PAIRS = [(name, kind) for name, (_, kinds, _) in SOLVERS.items() for kind in kinds]
every_pair = pytest.mark.parametrize(("name", "kind"), PAIRS, ids=[f"{n} of {k}" for n, k in PAIRS])
END = 0.02


def falling(name: str, kind: str, **placed: Any) -> tuple[sp.Scene, Any, sp.System]:
    """A body in flight."""
    scene = sp.Scene(gravity=G, solver=SOLVERS[name][0]())
    scene.add(KINDS[kind](), name="body", **placed)
    return scene, scene.solver, scene.compile()


def fly(solver: Any, system: sp.System, end: float = END) -> tuple[Any, list[StepReport]]:
    """Steps to a time."""
    solver.prepare(system)
    state, reports = system.initial_state(), []
    while state.t < end - 1e-9:
        reports.append(solver.step(system, state))
    return state, reports


def centre(system: sp.System, state: Any) -> np.ndarray:
    """Of mass."""
    return system.centre_of_mass(system.propagate(state.t, state.x, state.v, state.memory))


@pytest.mark.parametrize("name", list(SOLVERS))
def test_it_keeps_the_contract(name: str) -> None:
    assert isinstance(SOLVERS[name][0](), Solver)


@every_pair
def test_a_body_falls_as_galilei_says(name: str, kind: str) -> None:
    """Off by dt / t for methods of the first order, which take the velocity at the end of each step."""
    _, solver, system = falling(name, kind, velocity=(0.3, 0.0, 0.1))
    state, reports = fly(solver, system)
    fall = np.array([0.3, 0.0, 0.1]) * state.t + G * state.t**2 / 2
    start = centre(system, system.initial_state())
    off = np.linalg.norm(centre(system, state) - start - fall) / np.linalg.norm(G * state.t**2 / 2)
    assert off < SOLVERS[name][2]
    assert all(isinstance(r, StepReport) for r in reports)
    assert all(r.is_solved for r in reports)
    assert state.t == pytest.approx(len(reports) * solver.dt, rel=1e-12)


@every_pair
def test_the_same_start_gives_the_same_bits(name: str, kind: str) -> None:
    ends = []
    for _ in range(2):
        _, solver, system = falling(name, kind, spin=(1.0, 2.0, -1.0))
        state, _ = fly(solver, system, END / 4)
        ends.append(np.concatenate([state.x, state.v]))
    assert np.array_equal(*ends)


@every_pair
def test_a_copied_state_goes_on_to_the_same_bits(name: str, kind: str) -> None:
    """All that a step needs is in the state."""
    _, solver, system = falling(name, kind, spin=(1.0, 2.0, -1.0))
    state, _ = fly(solver, system, END / 4)
    kept = state.copy()
    for _ in range(3):
        solver.step(system, state)
    fresh = SOLVERS[name][0]()
    fresh.prepare(system)
    for _ in range(3):
        fresh.step(system, kept)
    assert np.array_equal(state.x, kept.x)
    assert np.array_equal(state.v, kept.v)


@every_pair
def test_momentum_of_free_flight_is_kept(name: str, kind: str) -> None:
    scene = sp.Scene(solver=SOLVERS[name][0]())
    scene.add(KINDS[kind](), name="body", velocity=(0.5, -0.2, 0.1), spin=(1.0, 2.0, -1.0))
    system = scene.compile()
    before = system.momentum(system.propagate(0.0, system.x0, system.v0))
    state, _ = fly(scene.solver, system)
    after = system.momentum(system.propagate(state.t, state.x, state.v, state.memory))
    assert np.abs(after - before)[:3].max() < 1e-11 * np.linalg.norm(before[:3])


@pytest.mark.parametrize("name", ["implicit Euler", "midpoint", "Newmark", "symplectic Euler", "partitioned", "trees"])
@pytest.mark.parametrize("dt", [0.0, -1e-3, np.nan, np.inf])
def test_a_step_that_is_none_is_refused(name: str, dt: float) -> None:
    with pytest.raises(InputError):
        type(SOLVERS[name][0]())(dt)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("trees", "rigid"), ("lattices", "fem"), ("strides", "rigid"), ("midpoint", "tree"), ("implicit Euler", "tree")],
)
def test_a_kind_it_cannot_advance_is_refused_in_prepare(name: str, kind: str) -> None:
    _, solver, system = falling(name, kind)
    with pytest.raises(InputError) as caught:
        solver.prepare(system)
    assert caught.value.fix
