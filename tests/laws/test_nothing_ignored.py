"""What is in a scene acts under every solver, or the solver refuses it: none ignores anything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.bodies.point_mass import PointMass
from supple.errors import InputError
from supple.solvers.choosing import choose
from supple.validation.contact_kinds import KINDS

DT = 1e-3
SOLVERS: dict[str, Callable[[sp.Scene], Any]] = {
    "chosen": lambda scene: choose(scene, DT).solver,
    "ImplicitEuler": lambda _: sp.ImplicitEuler(DT),
    "Midpoint": lambda _: sp.Midpoint(DT),
    "Newmark": lambda _: sp.Newmark(DT),
    "GeneralizedAlpha": lambda _: sp.GeneralizedAlpha(DT),
    "SymplecticEuler": lambda _: sp.SymplecticEuler(1e-5),
    "RungeKutta4": lambda _: sp.RungeKutta4(1e-5),
    "LatticeSolver": lambda _: sp.LatticeSolver(DT),
    "TreeSolver": lambda _: sp.TreeSolver(DT),
    "StrideSolver": lambda _: sp.StrideSolver(DT),
    "Partitioned": lambda _: sp.Partitioned(DT),
}


def _corner(node: sp.Node) -> Any:
    assert node.body is not None
    return node.points([0]) if node.body.kind == "particles" else node.points(at=[(0.04, 0.04, 0.04)])


def _touch(scene: sp.Scene, node: sp.Node) -> None:
    scene.add(sp.RigidBody.box((0.1,) * 3, density=500.0), at=(0.0999, 0, 0), velocity=(-1.0, 0, 0), name="other")
    scene.add(sp.Contact(friction=0.3))


def _gravity(scene: sp.Scene, node: sp.Node) -> None:
    scene.gravity = np.array([0.0, 0.0, -9.81])


THINGS: dict[str, Callable[[sp.Scene, sp.Node], Any]] = {
    "wind": lambda scene, node: scene.add(sp.Wind(velocity=(50.0, 0, 0))),
    "fluid": lambda scene, node: scene.add(sp.Fluid(density=800.0, level=1.0)),
    "floor": lambda scene, node: scene.add(sp.Floor(-0.0499, friction=0.5)),
    "mass": lambda scene, node: scene.add(PointMass(np.array([0.2])), on=_corner(node)),
    "load": lambda scene, node: scene.add(sp.Load(_corner(node), (1.0, 0, 0))),
    "spring": lambda scene, node: scene.add(sp.Springs(_corner(node), sp.World.points((0.04, 0.04, 0.3)), 100.0, 1.0)),
    "joint": lambda scene, node: scene.add(sp.BallJoint(node, at=(0.05, 0.05, 0.05))),
    "filter": lambda scene, node: scene.add(sp.FixedPoints(node, [0])),
    "contact": _touch,
    "gravity": _gravity,
}


def _end(kind: str, solver: str, thing: Callable[[sp.Scene, sp.Node], Any] | None) -> np.ndarray:
    """Velocities of a turning body after some steps."""
    scene = sp.Scene(gravity=(0, 0, 0))
    node = scene.add(KINDS[kind](), name="body", velocity=(0.1, 0, -0.05), spin=(0.0, 3.0, 2.0))
    if thing is not None:
        thing(scene, node)
    method = SOLVERS[solver](scene)
    system = scene.compile()
    state = system.initial_state()
    method.prepare(system)
    for _ in range(4):
        method.step(system, state)
    return np.array(system.velocities(state, "body"))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_in_a_scene_acts_or_is_refused(kind: str, solver: str) -> None:
    try:
        alone = _end(kind, solver, None)
    except InputError:
        return  # a solver for other kinds
    ignored = []
    for name, thing in THINGS.items():
        try:
            acted = float(np.abs(_end(kind, solver, thing) - alone).max())
        except InputError:
            assert solver != "chosen" or name == "filter", f"{name} is refused where no solver is named"
            continue
        if acted < 1e-9:
            ignored.append(name)
    assert not ignored
