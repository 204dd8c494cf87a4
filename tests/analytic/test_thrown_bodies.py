"""A body thrown through a uniform gravity flies on its parabola and does not turn, however fast it is thrown: the laws
of motion do not know how fast the observer moves."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.bodies.layered import LayeredBody
from supple.geometry import box_tets
from supple.modal import ElasticSolid
from supple.scene.state import State
from supple.solvers.protocol import Solver

GRAVITY = (0.0, 0.0, -9.81)
RUBBER = sp.Material(young=1e7, poisson=0.3, density=1000.0)
THROWN = np.array([30.0, 4.0, 2.0])


def floating() -> object:
    mesh = box_tets(size=(1.0, 0.1, 0.1), cells=(8, 2, 2))
    return sp.FloatingBody.from_solid(ElasticSolid(mesh, RUBBER), modes=6)


def layered() -> object:
    mesh = box_tets(size=(0.3, 0.2, 0.1), cells=(6, 4, 4))
    inside = np.array([0.16, 0.11, 0.06])
    return LayeredBody.from_mesh(mesh, RUBBER, core=lambda x: (np.abs(x - mesh.nodes.mean(axis=0)) < inside / 2).all(1))


def fly(body: object, solver: Solver, spin: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> tuple[State, State]:
    """States after the same time of a body thrown and of one at rest."""
    found = []
    for velocity in (THROWN, np.zeros(3)):
        scene = sp.Scene(gravity=GRAVITY)
        scene.add(body, velocity=velocity, spin=spin, name="body")
        system = scene.compile()
        state = system.initial_state()
        solver.prepare(system)
        for _ in range(50):
            solver.step(system, state)
        found.append(state)
    return found[0], found[1]


SOLVERS = {
    "stride": lambda: sp.StrideSolver(0.01),
    "midpoint": lambda: sp.Midpoint(0.01),
    "euler": lambda: sp.ImplicitEuler(0.01, newton=True, newton_tolerance=1e-11),
}


@pytest.mark.parametrize("make", [floating, layered])
@pytest.mark.parametrize("name", sorted(SOLVERS))
def test_a_thrown_body_does_not_turn(make: object, name: str) -> None:
    thrown, resting = fly(make(), SOLVERS[name]())  # type: ignore[operator]
    assert np.abs(thrown.x[4:7]).max() < 1e-9  # of the quaternion: half the turn
    assert np.allclose(thrown.x[:3] - resting.x[:3], 0.5 * THROWN, atol=1e-9)


@pytest.mark.parametrize("make", [floating, layered])
@pytest.mark.parametrize("name", ["midpoint", "stride"])
def test_a_spinning_body_spins_alike_thrown_or_not(make: object, name: str) -> None:
    thrown, resting = fly(make(), SOLVERS[name](), (3.0, 1.0, -2.0))  # type: ignore[operator]
    assert np.abs(thrown.x[3:7] - resting.x[3:7]).max() < 1e-8
    assert np.abs(thrown.v[3:6] - resting.v[3:6]).max() < 1e-7
