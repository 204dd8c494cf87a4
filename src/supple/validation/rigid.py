"""Rigid bodies: torque-free spin, a plate on a soft block, a pendulum on a hinge."""

from __future__ import annotations

import numpy as np
from scipy.special import ellipk

from supple.bodies.rigid import RigidBody
from supple.examples import rigid_on_springs
from supple.scene import HingeJoint, Scene, State, System
from supple.solvers import Midpoint, RungeKutta4
from supple.validation.row import Row, bounded, compare

Array = np.ndarray
INERTIA, SPIN = (1.0, 2.0, 2.5), (0.5, 5.0, 0.3)


def spinning(dt: float, until: float, solver: type) -> tuple[System, State, float, float]:
    """A free asymmetric body; the largest relative change of its momentum and energy on the way."""
    scene = Scene()
    scene.add(RigidBody(1.0, INERTIA), spin=SPIN, name="top")
    system = scene.compile()
    state = system.initial_state()
    method = solver(dt)
    start = system.propagate(0.0, state.x, state.v)
    L0, E0 = system.momentum(start), system.kinetic_energy(start)
    momentum = energy = 0.0
    for _ in range(round(until / dt)):
        method.step(system, state)
        kin = system.propagate(state.t, state.x, state.v)
        momentum = max(momentum, float(np.abs(system.momentum(kin) - L0).max() / np.abs(L0).max()))
        energy = max(energy, abs(system.kinetic_energy(kin) / E0 - 1))
    return system, state, momentum, energy


def spin() -> list[Row]:
    """5 rad/s, dt = 1 ms, 10 s by the midpoint rule; the order against a fine Runge-Kutta solution."""
    _, _, momentum, energy = spinning(1e-3, 10.0, Midpoint)
    _, reference, _, _ = spinning(2.5e-4, 0.5, RungeKutta4)
    errors = [np.abs(spinning(dt, 0.5, Midpoint)[1].x - reference.x).max() for dt in (4e-3, 2e-3)]
    case, source = "scene/spin", "conservation of angular momentum and energy"
    return [
        bounded(case, "momentum error", momentum, 1e-10, source=source),
        bounded(case, "energy error", energy, 1e-5, source=source),
        compare(
            case,
            "order of the motion",
            float(np.log2(errors[0] / errors[1])),
            2.0,
            0.05,
            unit="-",
            source="midpoint rule",
        ),
    ]


def plate_on_block() -> list[Row]:
    """The bounce of the example `rigid-on-springs`, from its own motion."""
    scene = rigid_on_springs.make()
    system = scene.compile()
    state = system.initial_state()
    heights, times = [], []
    while state.t < 0.4:
        scene.solver.step(system, state)
        times.append(state.t)
        heights.append(float(system.positions(state, "plate")[0, 2]))
    measured = rigid_on_springs.frequency_of(np.array(times), np.array(heights))
    reference = rigid_on_springs.bounce_frequency()
    source = "fixed rod with an end mass, b tan b = m_rod/m"
    return [compare("scene/rigid-on-springs", "bounce frequency", measured, reference, 0.01, unit="Hz", source=source)]


def pendulum() -> list[Row]:
    """Period of a large swing on a hinge against the complete elliptic integral."""
    mass, arm, g, amplitude, inertia = 2.0, 0.7, 9.81, 1.0, np.array([0.01, 0.02, 0.015])
    scene = Scene(gravity=(0, 0, -g))
    at = arm * np.array([np.sin(amplitude), 0, -np.cos(amplitude)])
    bob = scene.add(RigidBody(mass, inertia), at=at, rotation=(0, -amplitude, 0), name="bob")
    scene.add(HingeJoint(bob, at=(0, 0, 0), axis=(0, 1, 0)))
    system = scene.compile()
    state = system.initial_state()
    solver = Midpoint(2e-3)
    w0 = np.sqrt(mass * g * arm / (inertia[1] + mass * arm**2))
    period = 4 / w0 * float(ellipk(np.sin(amplitude / 2) ** 2))
    times, angles = [], []
    while state.t < 1.02 * period:
        solver.step(system, state)
        x = system.positions(state, "bob")[0]
        times.append(state.t)
        angles.append(np.arctan2(x[0], -x[2]))
    t, a = np.array(times), np.array(angles)
    crossings = [t[k] - a[k] * (t[k + 1] - t[k]) / (a[k + 1] - a[k]) for k in np.flatnonzero(a[:-1] * a[1:] < 0)]
    measured = 2 * (crossings[1] - crossings[0])
    return [
        compare(
            "scene/pendulum", "period", float(measured), period, 1e-4, unit="s", source="complete elliptic integral K"
        ),
    ]


CASES = {"scene/spin": spin, "scene/rigid-on-springs": plate_on_block, "scene/pendulum": pendulum}
