"""contact/tower and contact/pile: steps of rigid boxes that lie on each other, one thread.

tower: ten boxes on each other, at rest. pile: a hundred boxes that fall turned every way onto a plane; step_time is the
mean from the first to the last of three seconds, falling and coming to rest included.
"""

from __future__ import annotations

from time import perf_counter

import numpy as np

from supple.bench.row import Row, at_most, measured, threads
from supple.bodies.rigid import RigidBody
from supple.contact import Contact, Floor
from supple.scene.scene import Scene
from supple.solvers import ImplicitEuler

SIDE, DENSITY, G, DT = 0.1, 500.0, 9.81, 0.005
STIFFNESS = 2e8
"""Pressure a depth [N/m³], four times the default: up to three boxes lean on one corner of the pile."""


def tower_scene(count: int = 10) -> Scene:
    """Boxes on each other."""
    scene = Scene(gravity=(0, 0, -G), solver=ImplicitEuler(DT))
    for k in range(count):
        scene.add(RigidBody.box((SIDE,) * 3, density=DENSITY), at=(0, 0, (0.5 + k) * SIDE), name=f"box {k}")
    scene.add(Floor())
    scene.add(Contact(friction=0.5))
    return scene


def pile_scene(count: int = 100, seed: int = 0) -> Scene:
    """Boxes turned at random, above a plane, apart from each other."""
    rng, scene = np.random.default_rng(seed), Scene(gravity=(0, 0, -G), solver=ImplicitEuler(DT))
    for k in range(count):
        layer, (i, j) = k // 25, divmod(k % 25, 5)
        at = SIDE * (np.array([1.75 * (i - 2), 1.75 * (j - 2), 1.0 + 1.75 * layer]) + rng.uniform(-0.02, 0.02, 3))
        turn = rng.normal(size=4)
        body = RigidBody.box((SIDE,) * 3, density=DENSITY)
        scene.add(body, at=at, rotation=turn / np.linalg.norm(turn), name=f"box {k}")
    scene.add(Floor())
    scene.add(Contact(friction=0.5, stiffness=STIFFNESS))
    return scene


def tower() -> list[Row]:
    """Time of a step of ten boxes at rest."""
    case, scene = "contact/tower", tower_scene()
    system, solver = scene.compile(), scene.solver
    state = system.initial_state()
    with threads(1):
        for _ in range(100):
            solver.step(system, state)
        times = []
        for _ in range(400):
            start = perf_counter()
            solver.step(system, state)
            times.append(perf_counter() - start)
    contacts = len(system.contacts[0].touching(state.memory).force)
    return [
        at_most(case, "step_time, 10 boxes", 1e3 * float(np.mean(times)), 0.5, unit="ms", threads=1),
        measured(case, "contacts", contacts, unit="-", threads=1),
    ]


def pile() -> list[Row]:
    """Mean time of a step of a hundred boxes over three seconds, and whether they lie still then."""
    case, scene = "contact/pile", pile_scene()
    system, solver = scene.compile(), scene.solver
    with threads(1):
        solver.step(system, system.initial_state())  # compiles the kernels
        state, times, iterations = system.initial_state(), [], []
        for _ in range(round(3.0 / DT)):
            start = perf_counter()
            report = solver.step(system, state)
            times.append(perf_counter() - start)
            iterations.append(report.iterations)
    bound = system.contacts[0]
    depth = -float(bound.rigid.find(state.x, state.v, 0.0).gap.min()) / SIDE
    v = state.v.reshape(-1, 6)
    speed = float(max(np.abs(v[:, :3]).max(), SIDE * np.abs(v[:, 3:]).max()))
    return [
        at_most(case, "step_time, 100 boxes, mean", 1e3 * float(np.mean(times)), 4.0, unit="ms", threads=1),
        measured(case, "the same at rest", 1e3 * float(np.mean(times[-100:])), unit="ms", threads=1),
        measured(case, "iterations a step", float(np.mean(iterations)), unit="-", threads=1),
        measured(case, "contacts", len(bound.touching(state.memory).force), unit="-", threads=1),
        at_most(case, "fastest point after 3 s", speed, 1e-4, unit="m/s", threads=1),
        at_most(case, "greatest depth over the size", depth, 1e-3, unit="-", threads=1),
    ]


CASES = {"contact/tower": tower, "contact/pile": pile}
