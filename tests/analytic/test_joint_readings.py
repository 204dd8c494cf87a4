"""What joints are read to do is what mechanics says: weights, centripetal forces, the power and the work of motors."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import supple as sp
from supple.scene.acting.time_functions import RampInTime
from supple.scene.joints.readings import JointReading

G = 9.81
SOLVERS: dict[str, Any] = {
    "linearised euler": lambda h: sp.ImplicitEuler(h),
    "full euler": lambda h: sp.ImplicitEuler(h, newton=True),
    "midpoint": lambda h: sp.Midpoint(h),
    "generalised alpha": lambda h: sp.GeneralizedAlpha(h, rho=0.5),
    "partitioned": lambda h: sp.Partitioned(h),
}
JOINTS: dict[str, Any] = {
    "ball": lambda body: sp.BallJoint(body, at=(0, 0, 1)),
    "hinge": lambda body: sp.HingeJoint(body, at=(0, 0, 1), axis=(0, 1, 0)),
    "slider": lambda body: sp.SliderJoint(body, at=(0, 0, 1), axis=(1, 0, 0)),
    "fixed": lambda body: sp.FixedJoint(body, at=(0.0, 0.2, 1)),
}


def advance(scene: sp.Scene, solver: Any, steps: int) -> tuple[Any, Any]:
    system = scene.compile()
    state = system.initial_state()
    for _ in range(steps):
        assert solver.step(system, state).is_solved
    return system, state


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("kind", JOINTS)
def test_a_hanging_weight_pulls_with_its_weight(kind: str, solver: str) -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    box = scene.add(sp.RigidBody(3.0, (0.1, 0.1, 0.1)), name="box")
    scene.add(JOINTS[kind](box))
    system, state = advance(scene, SOLVERS[solver](0.01), 10)
    reading = system.joint_readings(state)[kind]
    assert reading.bodies == ("box", "world")
    assert reading.force == pytest.approx([0, 0, 3.0 * G], abs=1e-9)
    np.testing.assert_array_equal(reading.on("world").force, -reading.force)
    arm = [-0.2 * 3.0 * G, 0, 0] if kind == "fixed" else np.zeros(3)  # of the weight, 0.2 m beside it
    assert reading.on("box").moment == pytest.approx(arm, abs=1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
def test_a_pendulum_pulls_with_its_weight_along_the_rod_and_its_centripetal_force(solver: str) -> None:
    """F = m g cos(a) + m v² / l along the rod; of first order for Euler's steps."""
    errors = []
    for h in (2e-3, 1e-3):
        scene = sp.Scene(gravity=(0, 0, -G))
        l, m = 0.8, 2.0
        ball = scene.add(sp.RigidBody(m, (1e-6, 1e-6, 1e-6)), at=(l * np.sin(1.0), 0, -l * np.cos(1.0)), name="ball")
        scene.add(sp.BallJoint(ball, at=(0, 0, 0)), name="pivot")
        system, state = advance(scene, SOLVERS[solver](h), round(0.5 / h))
        x, v = state.x[:3], state.v[:3]
        rod = -x / np.linalg.norm(x)
        expected = m * (G * rod[2] + (v @ v) / l)
        errors.append(abs(system.joint_readings(state)["pivot"].force @ rod - expected) / expected)
    assert errors[1] < 4e-3
    assert errors[1] < 0.6 * errors[0] or errors[1] < 1e-6


def test_a_motor_against_a_brake_reports_torque_times_speed() -> None:
    """A spring of a rope brake that pulls with a constant force F at a radius r: T = F r, P = T w."""
    scene = sp.Scene()
    wheel = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.02)), name="wheel")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=3.0), name="drive")
    scene.add(sp.Wrench(wheel, torque=(0, 0, -0.4)))
    system, state = advance(scene, sp.ImplicitEuler(0.01), 20)
    drive = system.joint_readings(state)["drive"]
    assert drive.angle == pytest.approx(0.2 * 3.0, abs=1e-8)
    assert (drive.speed, drive.motor, drive.power) == pytest.approx((3.0, 0.4, 1.2), rel=1e-8)
    assert drive.moment == pytest.approx([0, 0, 0.4], abs=1e-8)


@pytest.mark.parametrize("solver", ["midpoint", "linearised euler"])
def test_the_work_of_a_motor_is_the_energy_of_a_free_rotor(solver: str) -> None:
    """At its largest torque w is linear in time: the recorded power sums to I w² / 2 by the trapezoidal rule."""
    scene = sp.Scene(solver=SOLVERS[solver](5e-3))
    wheel = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.02)), name="wheel")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=100.0, motor_torque=0.5))
    frames = sp.run(scene, until=0.4, record_every=5e-3).frames
    power = np.array([frames.joints(k)["hinge"].power for k in range(len(frames.times))])
    speed = frames.joints(len(frames.times) - 1)["hinge"].speed
    assert speed == pytest.approx(0.5 / 0.02 * 0.4, rel=1e-9)
    assert np.trapezoid(power, frames.times) == pytest.approx(0.5 * 0.02 * speed**2, rel=1e-9)


def test_a_limit_that_holds_says_so() -> None:
    scene = sp.Scene(gravity=(0, 0, -G))
    bar = scene.add(sp.RigidBody.box((1, 0.1, 0.1), density=100), at=(0.5, 0, 0), name="bar")
    scene.add(sp.HingeJoint(bar, axis=(0, 1, 0), limits=(-1.0, 0.5)))
    system, state = advance(scene, sp.ImplicitEuler(5e-3), 10)
    assert system.joint_readings(state)["hinge"].limit == 0
    system, state = advance(scene, sp.ImplicitEuler(5e-3), 200)
    reading = system.joint_readings(state)["hinge"]
    assert reading.limit == 1
    assert reading.moment[1] == pytest.approx(-1.0 * G * 0.5 * np.cos(0.5), rel=1e-4)
    assert reading.force == pytest.approx([0, 0, G], rel=1e-3, abs=1e-3)


def plank(*, across: bool) -> sp.Scene:
    """A box that hangs on a fixed plank: of rigid bodies in one part, or of a tree of domains and a rigid body."""
    from supple.bodies.tree import TreeBody, TreeSettings
    from supple.decompose import decompose
    from supple.geometry.generators.shapes import box_hexes
    from supple.material import Material

    scene = sp.Scene(gravity=(0, 0, -G))
    if across:
        mesh = box_hexes((0.4, 0.1, 0.1), (4, 1, 1))
        cells = mesh.nodes[mesh.elements].mean(axis=1)
        labels = np.where(cells[:, 0] < 0.2, "one", "two")
        steel = Material(2e11, 0.3, 1000.0)
        tree = decompose(mesh, labels, material=steel, modes=6, fixed="x_min")
        scene.add(TreeBody(tree, settings=TreeSettings()), name="plank")
    else:
        scene.add(sp.RigidBody.box((0.4, 0.1, 0.1), density=1000), at=(0.2, 0, 0), fix=True, name="plank")
    box = scene.add(sp.RigidBody(2.0, (0.01, 0.01, 0.01)), at=(0.4, 0, -0.3), name="box", velocity=(0, 0.3, 0))
    scene.add(sp.HingeJoint(scene.node("plank"), box, at=(0.4, 0, 0), axis=(1, 0, 0)))
    return scene


def reading_of(scene: sp.Scene) -> JointReading:
    system, state = advance(scene, sp.Partitioned(2e-3), 100)
    return system.joint_readings(state)["hinge"]


def test_a_joint_across_parts_reads_as_one_inside_a_part() -> None:
    """A stiff tree moves by 1e-5 of its length under such a weight."""
    inside, across = reading_of(plank(across=False)), reading_of(plank(across=True))
    assert across.bodies == inside.bodies == ("plank", "box")
    size = 2.0 * G
    assert across.force == pytest.approx(inside.force, abs=2e-3 * size)
    assert across.moment == pytest.approx(inside.moment, abs=2e-3 * size)
    assert (across.angle, across.speed) == pytest.approx((inside.angle, inside.speed), abs=1e-3)


def test_joints_inside_a_part_carry_what_hangs_on_joints_across_parts() -> None:
    """A weight of 3 kg hangs on one of 2 kg, which hangs on a tree."""
    scene = plank(across=True)
    scene.joints.clear()
    box = scene.node("box")
    weight = scene.add(sp.RigidBody(3.0, (0.01, 0.01, 0.01)), at=(0.4, 0, -0.6), name="weight")
    box.placement = replace(box.placement, velocity=np.zeros(3))
    scene.add(sp.BallJoint(scene.node("plank"), box, at=(0.4, 0, 0)), name="across")
    scene.add(sp.BallJoint(box, weight, at=(0.4, 0, -0.45)), name="inside")
    system, state = advance(scene, sp.Partitioned(5e-3), 60)
    readings = system.joint_readings(state)
    assert readings["across"].on("box").force[2] == pytest.approx(5.0 * G, rel=1e-6)
    assert readings["inside"].on("weight").force[2] == pytest.approx(3.0 * G, rel=1e-6)


def test_a_motor_in_time_is_read_at_the_end_of_its_step() -> None:
    scene = sp.Scene()
    wheel = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.02)), name="wheel")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=RampInTime(np.array(4.0), 0.1)))
    system, state = advance(scene, sp.ImplicitEuler(0.01), 20)
    assert system.joint_readings(state)["hinge"].speed == pytest.approx(4.0, rel=1e-8)


def test_a_joint_of_several_points_is_read_about_their_middle() -> None:
    """A box that hangs on three points: they carry its weight, about their middle with the lever of its centre."""
    scene = sp.Scene(gravity=(0, 0, -G))
    box = scene.add(sp.RigidBody.box((0.4, 0.3, 0.2), density=100), at=(0.1, 0.2, 0.3), name="box")
    corners = np.array([[0.25, 0.3, 0.4], [-0.05, 0.3, 0.4], [0.1, 0.1, 0.4]])
    scene.add(sp.BallJoint(box.points(at=corners)), name="hooks")
    system, state = advance(scene, sp.ImplicitEuler(0.01), 10)
    hooks, m = system.joint_readings(state)["hooks"], 2.4
    np.testing.assert_allclose(hooks.place, corners.mean(axis=0), atol=1e-9)
    np.testing.assert_allclose(hooks.force, [0, 0, m * G], atol=1e-6)
    np.testing.assert_allclose(hooks.moment, np.cross([0.1, 0.2, 0.3] - corners.mean(axis=0), [0, 0, m * G]), atol=1e-6)
