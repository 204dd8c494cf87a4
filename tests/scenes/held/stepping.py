"""Solvers, chains and how they are stepped."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import supple as sp

RNG = np.random.default_rng(23)


IMPLICIT = {
    "implicit Euler": lambda dt: sp.ImplicitEuler(dt),
    "implicit Euler, cg": lambda dt: sp.ImplicitEuler(dt, linear="cg", tolerance=1e-12),
    "implicit Euler, Newton": lambda dt: sp.ImplicitEuler(dt, newton=True),
    "midpoint": lambda dt: sp.Midpoint(dt),
    "Newmark": lambda dt: sp.Newmark(dt),
    "generalised alpha": lambda dt: sp.GeneralizedAlpha(dt),
}


EXPLICIT = {"symplectic Euler": lambda dt: sp.SymplecticEuler(dt), "Runge-Kutta": lambda dt: sp.RungeKutta4(dt)}


all_solvers = pytest.mark.parametrize("name", [*IMPLICIT, *EXPLICIT])


def solver_of(name: str, dt: float) -> Any:
    return {**IMPLICIT, **EXPLICIT}[name](dt)


def chain(scene: sp.Scene, n: int = 4, **more: Any) -> Any:
    X = np.c_[np.arange(n) * 0.3, np.zeros((n, 2))]
    return scene.add(
        sp.Particles(X, 0.2, springs=[(i, i + 1) for i in range(n - 1)], stiffness=40.0, damping=0.1),
        name="chain",
        **more,
    )


def run(system: Any, solver: Any, steps: int) -> Any:
    state = system.initial_state()
    for _ in range(steps):
        assert solver.step(system, state).is_solved
    return state


def swing(t):
    return np.array([0.1 * (1 - np.cos(9 * t)), 0.05 * np.sin(7 * t), 0.2 * t])


def turn(t):
    return np.array([0.0, 0.6 * np.sin(5 * t), 0.0])


AT, AXIS = np.array([0.1, -0.2, 0.3]), np.array([0.3, 1.0, -0.4]) / np.linalg.norm([0.3, 1.0, -0.4])


JOINTS = {
    "ball": (lambda a, b: sp.BallJoint(a, b, at=AT), 3, 3),
    "hinge": (lambda a, b: sp.HingeJoint(a, b, at=AT, axis=AXIS), 5, 1),
    "slider": (lambda a, b: sp.SliderJoint(a, b, at=AT, axis=AXIS), 5, 1),
    "fixed": (lambda a, b: sp.FixedJoint(a, b, at=AT), 6, 0),
}


all_joints = pytest.mark.parametrize("kind", JOINTS)


def pair(kind: str | None, *, gravity=(0.0, 0.0, 0.0), to_world: bool = False, **more: Any) -> sp.Scene:
    scene = sp.Scene(gravity=gravity)
    a = scene.add(
        sp.RigidBody.box((0.2, 0.3, 0.4), density=500), at=(0.4, 0.1, 0.2), rotation=(0.5, -0.3, 0.8), name="a", **more
    )
    b = scene.add(
        sp.RigidBody.box((0.3, 0.1, 0.2), density=900), at=(-0.3, -0.4, 0.5), rotation=(-0.2, 1.1, 0.4), name="b"
    )
    if kind is not None:
        scene.add(JOINTS[kind][0](a, b))
    if to_world:
        scene.add(sp.BallJoint(a, at=(0.4, 0.1, 0.7)))
    return scene
