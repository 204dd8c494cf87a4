"""Points that are led, and filters and joints that are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.scenes.held.stepping import EXPLICIT, IMPLICIT, all_solvers, chain, run, solver_of, swing, turn

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import InputError

ORDER = {"implicit Euler": 1, "implicit Euler, cg": 1, "implicit Euler, Newton": 1}


all_implicit = pytest.mark.parametrize("name", IMPLICIT)


def swing_rate(t):
    return np.array([0.9 * np.sin(9 * t), 0.35 * np.cos(7 * t), 0.2])


def shaken() -> tuple[Any, Any]:
    """A chain led by its first particle, and a box led in place and rotation, tied to each other."""
    scene = sp.Scene(gravity=(0, 0, -9.81))
    net = chain(scene)
    box = scene.add(
        sp.RigidBody.box((0.2, 0.1, 0.3), density=100), at=(1.0, 0.0, 0.5), rotation=(0.4, 0.0, 0.0), name="box"
    )
    scene.add(sp.PrescribedMotion(net, [0], displacement=swing))
    scene.add(sp.PrescribedMotion(box, displacement=swing, rotation=turn))
    scene.add(sp.Springs(net.points([3]), box.points(local=[[-0.1, 0, 0]]), 20.0))
    return scene.compile(), net


@all_solvers
def test_prescribed_positions_are_followed_exactly(name):
    system, _ = shaken()
    state, solver = system.initial_state(), solver_of(name, 0.01)
    for _ in range(30):
        assert solver.step(system, state).is_solved
        np.testing.assert_allclose(system.positions(state, "chain")[0], swing(state.t), atol=1e-14)
        frame = system.positions(state, "box")[0]
        np.testing.assert_allclose(frame[:3], swing(state.t) + np.array([1.0, 0.0, 0.5]), atol=1e-14)
        q = rotations.multiply(rotations.exp(turn(state.t)), rotations.exp([0.4, 0.0, 0.0]))
        np.testing.assert_allclose(rotations.to_matrix(frame[3:]), rotations.to_matrix(q), atol=1e-14)


def velocity_error(name: str, dt: float) -> float:
    """Largest error of the prescribed velocities, the box's spin in body axes included, over 0.3 s."""
    system, _ = shaken()
    state, solver, worst = system.initial_state(), solver_of(name, dt), 0.0
    for _ in range(round(0.3 / dt)):
        assert solver.step(system, state).is_solved
        v = system.velocities(state, "box")[0]
        spin = np.array([0.0, 3.0 * np.cos(5 * state.t), 0.0])  # about a fixed axis
        spin = rotations.rotate_inverse(system.positions(state, "box")[0, 3:], spin)
        errors = [system.velocities(state, "chain")[0] - swing_rate(state.t), v[:3] - swing_rate(state.t), v[3:] - spin]
        worst = max(worst, *(np.abs(e).max() for e in errors))
    return worst


@pytest.mark.parametrize("name", [*IMPLICIT, *EXPLICIT])
def test_prescribed_velocities_are_followed_in_the_order_of_the_solver(name):
    """Implicit Euler's velocity is the mean of the last step; the others have the rate itself, or h² from it."""
    coarse, fine = velocity_error(name, 0.01), velocity_error(name, 0.005)
    if coarse > 1e-6:  # else the rate itself, differenced over 1e-5 s
        assert np.log2(coarse / fine) > ORDER.get(name, 2) - 0.2
    assert coarse < (0.5 if name in ORDER else 0.05)


@all_implicit
def test_uniform_prescribed_motion_is_exact_in_velocity(name):
    scene = sp.Scene()
    net = chain(scene)
    scene.add(sp.PrescribedMotion(net, [0], displacement=lambda t: (0.3 * t, -0.2 * t, 0.1 * t)))
    system = scene.compile()
    state = run(system, solver_of(name, 0.01), 20)
    # rounding of x / dt, and for those who difference the path over 1e-3 of a step, of x / 1e-5
    np.testing.assert_allclose(system.velocities(state, "chain")[0], [0.3, -0.2, 0.1], atol=1e-10)


@all_implicit
def test_led_chain_ends_as_the_chain_seen_from_the_moving_point(name):
    """Led at constant velocity from rest relative to it, a chain moves as a fixed one: Galileo."""
    velocity = np.array([0.5, -0.3, 0.2])
    ends = []
    for moving in (True, False):
        scene = sp.Scene(gravity=(0, 0, -9.81))
        net = chain(scene, velocity=velocity if moving else (0, 0, 0))
        path = (lambda t: velocity * t) if moving else (lambda t: np.zeros(3))
        scene.add(sp.PrescribedMotion(net, [0], displacement=path))
        system = scene.compile()
        state = run(system, solver_of(name, 0.01), 40)
        ends.append(system.positions(state, "chain") - (velocity * state.t if moving else 0.0))
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-7)  # Newton's and cg's tolerances over 40 steps


def test_two_filters_that_both_move_a_point_are_refused():
    scene = sp.Scene()
    net = chain(scene)
    scene.add(sp.FixedPoints(net, [0]))
    scene.add(sp.PrescribedMotion(net, [0], displacement=swing))
    with pytest.raises(InputError, match="two filters move one point"):
        scene.compile()


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda s, n: s.add(sp.FixedAxes(n, [0], axes="xw")), "axes are not letters of xyz"),
        (lambda s, n: s.add(sp.FixedAxes(n, [0], axes="")), "axes are not letters of xyz"),
        (lambda s, n: s.add(sp.SlidingPlane(n, [0], normal=(0, 0, 0))), "normal is zero"),
        (lambda s, n: s.add(sp.FixedPoints(n, [9])), "out of range"),
        (lambda s, n: s.add(sp.FixedPoints(n, "x_max")), "no named regions"),
        (lambda s, n: s.add(sp.BallJoint(n.points([0]), n.points([1, 2]))), "different numbers of points"),
        (lambda s, n: s.add(sp.BallJoint(n, n)), "Give at="),
        (lambda s, n: s.add(sp.HingeJoint(n)), "three points of a body off a line"),
        (lambda s, n: s.add(sp.SliderJoint(n)), "three points of a body off a line"),
        (lambda s, n: s.add(sp.FixedJoint(n)), "three points of a body off a line"),
        (lambda s, n: s.add(sp.HingeJoint(n.points([0]))), "joins bodies of a scene and the world"),
        (lambda s, n: s.add(sp.BallJoint("chain", at=(0, 0, 0))), "joins bodies of a scene and the world"),
        (lambda s, n: s.add(sp.HingeJoint(sp.World, sp.World, axis=(0, 0, 0))), "axis is zero"),
        (lambda s, n: s.add(sp.HingeJoint(sp.World, sp.World, limits=(0.1, 0.2))), "do not contain the start"),
        (
            lambda s, n: s.add(sp.HingeJoint(sp.World, sp.World, motor_speed=1.0, motor_torque=0.0)),
            "motor_torque is out of range",
        ),
    ],
)
def test_bad_filters_and_joints_are_refused(make, says):
    scene = sp.Scene()
    with pytest.raises(InputError, match=says):
        make(scene, chain(scene))


def test_a_path_that_ends_in_nothing_is_refused_with_its_time():
    scene = sp.Scene()
    net = chain(scene)
    scene.add(sp.PrescribedMotion(net, [0], displacement=lambda t: (0.0, 0.0, 0.0 if t < 0.015 else np.nan)))
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(0.01)
    solver.step(system, state)
    with pytest.raises(InputError, match=r"displacement at t = 0\.02 s"):
        solver.step(system, state)
