"""Hinges with limits and motors: bounded torques reach and hold what mechanics says."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.errors import InputError
from supple.scene.derivatives import differentiate, relative_error
from supple.scene.joints.bounded_rows import BoundedRows
from supple.scene.joints.joint_coordinates import HingeAngle, JointCoordinate, SlideDisplacement

SOLVERS = {
    "linearised euler": lambda: sp.ImplicitEuler(5e-3),
    "full euler": lambda: sp.ImplicitEuler(5e-3, newton=True),
    "midpoint": lambda: sp.Midpoint(5e-3),
    "generalised alpha": lambda: sp.GeneralizedAlpha(5e-3),
}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_motor_spins_up_at_its_largest_torque_and_then_holds_its_speed(name: str) -> None:
    scene = sp.Scene()
    wheel = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.02)), name="wheel")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=10.0, motor_torque=0.5))
    system = scene.compile()
    state, solver = system.initial_state(), SOLVERS[name]()
    speeds = []
    for _ in range(120):
        assert solver.step(system, state).is_solved
        speeds.append(state.v[5])
    # torque / inertia = 25 rad/s²: half speed after 0.2 s, the full one after 0.4 s; one step of leeway
    assert speeds[39] == pytest.approx(5.0, abs=25 * 5e-3)
    assert speeds[90:] == pytest.approx([10.0] * 30, rel=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_limit_stops_a_falling_bar_and_carries_its_weight(name: str) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    bar = scene.add(sp.RigidBody.box((1, 0.1, 0.1), density=100), at=(0.5, 0, 0), name="bar")
    scene.add(sp.HingeJoint(bar, axis=(0, 1, 0), limits=(-1.0, 0.5)))
    system = scene.compile()
    state, solver = system.initial_state(), SOLVERS[name]()
    angles = []
    for _ in range(150):
        assert solver.step(system, state).is_solved
        angles.append(np.arctan2(-state.x[2], state.x[0]))
    assert max(angles) < 0.5 + 1e-6
    assert angles[-1] == pytest.approx(0.5, abs=1e-6)
    weight = 1.0 * 9.81 * 0.5 * np.cos(0.5)  # moment of a bar of 1 kg about its end
    assert state.memory["multipliers"][6] == pytest.approx(-weight, rel=1e-4)


@pytest.mark.parametrize("name", SOLVERS)
def test_a_slider_is_driven_to_its_limit_and_held_there(name: str) -> None:
    """A cart of 2 kg, driven by 4 N at most: 2 m/s² up to 0.5 m/s, then on to the limit at 0.3 m."""
    scene = sp.Scene()
    cart = scene.add(sp.RigidBody(2.0, (0.01, 0.01, 0.01)), name="cart")
    scene.add(sp.SliderJoint(cart, axis=(1, 0, 0), limits=(0.0, 0.3), motor_speed=0.5, motor_force=4.0))
    system = scene.compile()
    state, solver = system.initial_state(), SOLVERS[name]()
    for _ in range(20):
        assert solver.step(system, state).is_solved
    assert state.v[0] == pytest.approx(0.2, abs=2 * 5e-3)
    for _ in range(180):
        solver.step(system, state)
    assert state.x[0] == pytest.approx(0.3, abs=1e-6)
    reading = system.joint_readings(state)["slider"]
    assert (reading.displacement, reading.motor) == pytest.approx((0.3, 4.0), abs=1e-6)
    assert reading.limit == 1
    assert reading.force == pytest.approx(np.zeros(3), abs=1e-4)  # the motor pushes, the limit holds against it


@pytest.mark.parametrize("coordinate", [HingeAngle(), SlideDisplacement()])
def test_derivatives_of_angle_and_displacement_are_exact(coordinate: JointCoordinate) -> None:
    rng = np.random.default_rng(0)
    x, d = rng.normal(size=(2, 8, 3))
    rows, l = BoundedRows(coordinate, (-1.0, 1.0), 1.0, 2.0), np.array([0.3, 0.2, 0.5])
    slope = differentiate(lambda e: rows.violation(x + e * d), 1e-3)
    assert relative_error(rows.jacobian(x) @ d.ravel(), slope) < 1e-9
    bent = differentiate(lambda e: l @ rows.jacobian(x + e * d), 1e-3)
    assert relative_error(np.einsum("abij,bj->ai", rows.second(l, x), d).ravel(), bent) < 1e-8


@pytest.mark.parametrize(("limits", "torque"), [((0.1, 0.5), 1.0), ((-4.0, 1.0), 1.0), (None, -1.0)])
def test_limits_and_torques_that_make_no_sense_are_refused(limits: tuple[float, float] | None, torque: float) -> None:
    scene = sp.Scene()
    bar = scene.add(sp.RigidBody(1.0, (1, 1, 1)), name="bar")
    with pytest.raises(InputError, match="HingeJoint"):
        scene.add(sp.HingeJoint(bar, limits=limits, motor_speed=1.0, motor_torque=torque))
