"""Numbers that make no sense are refused where they are given, with an InputError that names them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError

NAN, INF = float("nan"), float("inf")


def scene() -> sp.Scene:
    """A ball."""
    made = sp.Scene()
    made.add(sp.RigidBody.sphere(0.1, density=500), name="ball")
    return made


def run(**given: Any) -> None:
    sp.run(scene(), **({"until": 0.01} | given))


def hinge(**given: Any) -> None:
    made = scene()
    made.add(sp.HingeJoint(made.node("ball"), **given))
    made.compile()


def held(fix: Any) -> None:
    made = sp.Scene()
    made.add(sp.RigidBody.sphere(0.1, density=500), fix=fix)
    made.compile()


ACCEPTED: dict[str, Callable[[], Any]] = {
    "symplectic Euler, safety 0": lambda: sp.SymplecticEuler(safety=0),
    "symplectic Euler, safety -1": lambda: sp.SymplecticEuler(safety=-1),
    "symplectic Euler, safety nan": lambda: sp.SymplecticEuler(safety=NAN),
    "lattice stride, safety nan": lambda: sp.LatticeSolver(safety=NAN),
    "lattice stride, safety 0": lambda: sp.LatticeSolver(safety=0),
    "lattice stride, safety -1": lambda: sp.LatticeSolver(safety=-1),
    "lattice stride, bend limit nan": lambda: sp.LatticeSolver(bend_limit=NAN),
    "run, dt denormal": lambda: run(until=1e-319, dt=1e-320),
    "run, checkpoint_every nan": lambda: run(checkpoint_every=NAN),
    "run, checkpoint_every -1": lambda: run(checkpoint_every=-1),
    "hinge, torque nan": lambda: hinge(motor_speed=1.0, motor_torque=NAN),
    "hinge, speed nan": lambda: hinge(motor_speed=NAN, motor_torque=1.0),
    "implicit Euler, tolerance -1": lambda: sp.ImplicitEuler(tolerance=-1.0),
    "implicit Euler, tolerance inf": lambda: sp.ImplicitEuler(tolerance=INF),
    "implicit Euler, newton_tolerance nan": lambda: sp.ImplicitEuler(newton_tolerance=NAN),
    "midpoint, newton_tolerance -1": lambda: sp.Midpoint(newton_tolerance=-1.0),
    "Newmark, newton_tolerance inf": lambda: sp.Newmark(newton_tolerance=INF),
    "generalised alpha, newton_tolerance nan": lambda: sp.GeneralizedAlpha(newton_tolerance=NAN),
    "statics, tolerance -1": lambda: sp.Statics(-1.0),
    "statics, tolerance inf": lambda: sp.Statics(INF),
    "tree settings, theta inf": lambda: sp.TreeSettings(theta=INF),
    "tree settings, 1.5 passes": lambda: sp.TreeSettings(passes=1.5),  # type: ignore[arg-type]
    "tree stride, 1.5 steps": lambda: sp.TreeSolver(steps=1.5),  # type: ignore[arg-type]
    "particles, none": lambda: sp.Particles(np.zeros((0, 3)), 1.0),
    "rigid body, a region it has not": lambda: held("nope"),
    "implicit Euler, no iterations": lambda: sp.ImplicitEuler(max_iterations=0),
    "Newmark, beta inf": lambda: sp.Newmark(beta=INF),
    "parts, 1.5 steps of trees": lambda: sp.Partitioned(tree_steps=1.5),  # type: ignore[arg-type]
    "contact, a pair of one": lambda: sp.Contact(exclude=["ab"]),  # type: ignore[list-item]
    "points, a place in a plane": lambda: scene().node("ball").points(at=(0.0, 0.0)),
    "points, a place nowhere": lambda: scene().node("ball").points(at=(0.0, 0.0, NAN)),
    "modes, none": lambda: sp.vibration_modes(scene().compile(), 0),
}
RAW: dict[str, Callable[[], Any]] = {
    "rigid box, density": lambda: sp.RigidBody.box((1, 1, 1), density="a"),  # type: ignore[arg-type]
    "rigid sphere, radius": lambda: sp.RigidBody.sphere("a", density=1.0),  # type: ignore[arg-type]
    "particles, mass": lambda: sp.Particles(np.eye(3), "a"),  # type: ignore[arg-type]
    "run, until": lambda: run(until="a"),
    "run, record_every": lambda: run(record_every="a"),
    "run, threads": lambda: run(threads=1.5),
    "implicit Euler, dt": lambda: sp.ImplicitEuler("a"),  # type: ignore[arg-type]
    "box of tets, cells": lambda: sp.box_tets((1, 1, 1), ("a", 1, 1)),  # type: ignore[arg-type]
    "voxel grid, size": lambda: sp.VoxelGrid(np.ones((1, 1, 1), dtype=int), "a"),  # type: ignore[arg-type]
    "contact, friction": lambda: sp.Contact(friction="a"),  # type: ignore[arg-type]
    "contact, no friction": lambda: sp.Contact(friction=None),  # type: ignore[arg-type]
    "contact, stiffness": lambda: sp.Contact(stiffness="a"),  # type: ignore[arg-type]
    "contact, damping": lambda: sp.Contact(damping="a"),  # type: ignore[arg-type]
    "wind, intensity": lambda: sp.Wind(speed=1.0, intensity="a"),  # type: ignore[arg-type]
    "wind, modes": lambda: sp.Wind(speed=1.0, modes="a"),  # type: ignore[arg-type]
    "fluid, density": lambda: sp.Fluid("a"),  # type: ignore[arg-type]
    "actuation, amplitude": lambda: sp.Actuation("a", 1.0),  # type: ignore[arg-type]
    "commands, rate": lambda: sp.Commands(lambda t, state: [0.0], "a"),  # type: ignore[arg-type]
    "samples, rate": lambda: sp.Samples([1.0], "a"),  # type: ignore[arg-type]
    "samples, values": lambda: sp.Samples("a", 1.0),
    "settle, tolerance": lambda: sp.settle(scene(), tolerance="a"),  # type: ignore[arg-type]
    "world, points": lambda: sp.World.points("a"),
    "points, at": lambda: scene().node("ball").points(at="a"),
    "load, force": lambda: sp.Load(scene().node("ball").points(local=(0, 0, 0)), "a"),
    "box of tets, size": lambda: sp.box_tets("a", (1, 1, 1)),
    "generalised alpha, rho": lambda: sp.GeneralizedAlpha(rho="a"),  # type: ignore[arg-type]
    "Newmark, beta": lambda: sp.Newmark(beta="a"),  # type: ignore[arg-type]
    "run, scene": lambda: sp.run("a", until=1.0),  # type: ignore[arg-type]
    "run, start": lambda: run(start="a"),
    "modes, count": lambda: sp.vibration_modes(scene().compile(), "a"),  # type: ignore[arg-type]
    "plane, offset": lambda: sp.Plane(offset="a"),  # type: ignore[arg-type]
    "contact, bodies": lambda: sp.Contact(True),  # type: ignore[arg-type]
}
TOO_LONG = 10**400  # no double
LARGE: dict[str, Callable[[int], Any]] = {
    "implicit Euler, dt": lambda n: sp.ImplicitEuler(n),
    "contact, friction": lambda n: sp.Contact(friction=n),
    "contact, stiffness": lambda n: sp.Contact(stiffness=n),
    "contact, damping": lambda n: sp.Contact(damping=n),
    "contact, restitution": lambda n: sp.Contact(restitution=n),
    "rigid body, mass": lambda n: sp.RigidBody(n, (1, 1, 1)),
    "motion, until": lambda n: sp.Motion.sampled(lambda t: (t, 0, 0), until=n),
    "lattice, bend limit": lambda n: sp.LatticeSolver(bend_limit=n),
}
"""Calls with a whole number of more digits than an integer of the machine has."""


@pytest.mark.parametrize("name", ACCEPTED)
def test_a_number_that_makes_no_sense_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        ACCEPTED[name]()


@pytest.mark.parametrize("name", RAW)
def test_a_value_of_a_wrong_type_is_named(name: str) -> None:
    with pytest.raises(InputError):
        RAW[name]()


@pytest.mark.parametrize("name", LARGE)
def test_whole_numbers_of_many_digits_are_numbers_or_refused(name: str) -> None:
    with pytest.raises(InputError):
        LARGE[name](TOO_LONG)
    if name in ("motion, until", "contact, restitution"):
        with pytest.raises(InputError):
            LARGE[name](10**30)
    else:
        LARGE[name](10**30)


def test_a_motion_of_too_many_samples_is_refused() -> None:
    for until, every in ((1e308, 1.0), (1.0, 1e-320), (1e9, 1e-3)):
        with pytest.raises(InputError, match="until / every"):
            sp.Motion.sampled(lambda t: (t, 0, 0), until=until, every=every)
