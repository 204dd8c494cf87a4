"""Joined bodies in motion: momentum, chains, motors, limits."""

from __future__ import annotations

import numpy as np
import pytest
from tests.scenes.held.stepping import all_joints, pair, run, solver_of, swing, turn

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import InputError
from supple.solvers.linear.mass_solve import project_velocity
from supple.solvers.linear.newton import joint_forces


def drift_of_a_free_pair(kind: str, dt: float, time: float) -> tuple[np.ndarray, float]:
    """Change of both momenta, relative, and of the energy, of a tumbling joined pair under no outer force."""
    system = pair(kind, velocity=(0.4, -0.2, 0.3), spin=(2.0, -1.0, 3.0)).compile()
    state, solver = system.initial_state(), sp.Midpoint(dt)
    every = np.zeros(system.joint_row_count)
    state.v = project_velocity(system, system.propagate(0.0, state.x, state.v), every)
    start = system.propagate(0.0, state.x, state.v)
    for _ in range(round(time / dt)):
        assert solver.step(system, state).is_solved
        kin = system.propagate(state.t, state.x, state.v)
        assert np.abs(system.violation(kin)).max() <= 1e-11
    assert np.abs(system.difference(system.x0, state.x)).max() > 0.3
    change = system.momentum(kin) - system.momentum(start)
    size = np.linalg.norm(system.momentum(start))
    return change / size, system.kinetic_energy(kin) / system.kinetic_energy(start) - 1


@all_joints
def test_a_free_joined_pair_keeps_its_momentum(kind):
    """Joint forces are equal and opposite: linear momentum to round-off; angular momentum and energy in order h²."""
    change, energy = drift_of_a_free_pair(kind, 0.01, 0.4)
    assert np.abs(change[:3]).max() <= 1e-14
    assert np.abs(change[3:]).max() <= 2e-6
    assert abs(energy) <= 2e-5


@pytest.mark.parametrize("kind", ["slider", "ball", "hinge", "fixed"])
def test_a_free_joined_pair_keeps_its_angular_momentum(kind):
    """Equal and opposite forces on one line: nothing but rounding may turn the pair."""
    change, _ = drift_of_a_free_pair(kind, 0.02, 0.4)
    assert np.abs(change[3:]).max() <= 1e-13


@pytest.mark.parametrize(
    "name", ["implicit Euler", "implicit Euler, Newton", "midpoint", "Newmark", "generalised alpha"]
)
def test_a_swinging_chain_of_joints_stays_closed(name):
    """World - ball - a - hinge - b under gravity for 0.8 s."""
    system = pair("hinge", gravity=(0, 0, -9.81), to_world=True).compile()
    state, worst = system.initial_state(), 0.0
    solver = sp.Newmark(0.01, beta=0.3025, gamma=0.6) if name == "Newmark" else solver_of(name, 0.01)
    far = 0.0
    for _ in range(80):
        assert solver.step(system, state).is_solved
        worst = max(worst, np.abs(system.violation(system.propagate(state.t, state.x, state.v))).max())
        far = max(far, np.abs(system.difference(system.x0, state.x)).max())
    # the linearised step asks for G v = -phi / h: what is left is of second order in the angle of one step
    assert worst <= (2e-2 if name == "implicit Euler" else 1e-9)
    assert far > 0.5


def test_a_hanging_body_rests_on_its_joint():
    """The multipliers carry the weight, and nothing else, whatever the solver calls them."""
    scene = sp.Scene(gravity=(0, 0, -10.0))
    lamp = scene.add(sp.RigidBody.sphere(0.1, density=500), at=(0, 0, -0.5), name="lamp")
    scene.add(sp.BallJoint(lamp, at=(0, 0, 0)))
    system = scene.compile()
    newmark = sp.Newmark(0.01, beta=0.3025, gamma=0.6)
    for solver in (sp.ImplicitEuler(0.01), sp.ImplicitEuler(0.01, newton=True), newmark, sp.Midpoint(0.01)):
        state = run(system, solver, 5)
        np.testing.assert_allclose(state.x, system.x0, atol=1e-9)
        kin = system.propagate(state.t, state.x, state.v)
        push = joint_forces(system, kin, state.memory["multipliers"])
        np.testing.assert_allclose(push + system.force(kin), 0.0, atol=1e-7 * np.abs(push).max())


def test_a_ball_joins_a_soft_body_and_a_rigid_one():
    """The joint pulls on the element's nodes by the barycentric weights: the pair falls as one, momentum as m g t."""
    scene = sp.Scene(gravity=(0, 0, -10.0))
    stuff = sp.Material(young=1e5, poisson=0.3, density=1000)
    beam = scene.add(sp.FemBody(sp.box_tets(size=(0.4, 0.1, 0.1), cells=(2, 1, 1)), stuff), name="beam")
    ball = scene.add(sp.RigidBody.sphere(0.05, density=8000), at=(0.3, 0.02, -0.1), spin=(3.0, 1.0, 0.0), name="ball")
    scene.add(sp.BallJoint(beam, ball, at=(0.3, 0.02, -0.03)))
    system = scene.compile()
    state = system.initial_state()
    total = ball.body.mass + beam.body.total_mass
    before = system.momentum(system.propagate(0.0, state.x, state.v))
    solver = sp.Midpoint(0.002)
    for _ in range(25):
        assert solver.step(system, state).is_solved
    kin = system.propagate(state.t, state.x, state.v)
    assert np.abs(system.violation(kin)).max() <= 1e-11
    np.testing.assert_allclose(system.momentum(kin)[:3] - before[:3], [0, 0, -10 * total * state.t], atol=1e-9)


def test_a_led_body_leads_what_is_joined_to_it():
    scene = sp.Scene(gravity=(0, 0, -9.81))
    a = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.01)), name="a")
    b = scene.add(sp.RigidBody(1.0, (0.01, 0.01, 0.01)), at=(0, 0, -0.3), name="b")
    scene.add(sp.PrescribedMotion(a, displacement=swing, rotation=turn))
    scene.add(sp.BallJoint(a, b, at=(0, 0, -0.1)))
    system = scene.compile()
    for solver in (sp.Midpoint(0.005), sp.ImplicitEuler(0.005, newton=True), sp.GeneralizedAlpha(0.005)):
        state = run(system, solver, 25)
        np.testing.assert_allclose(system.positions(state, "a")[0, :3], swing(state.t), atol=1e-14)
        kin = system.propagate(state.t, state.x, state.v)
        assert np.abs(system.violation(kin)).max() <= 1e-9


def test_explicit_solvers_refuse_joints():
    system = pair("ball").compile()
    for solver in (sp.RungeKutta4(0.01), sp.SymplecticEuler(0.01)):
        with pytest.raises(InputError, match="joints need an implicit solver"):
            solver.prepare(system)


def test_a_hinge_motor_turns_at_its_speed():
    """The speed of the first side against the second, through more than a whole turn."""
    for order, sign in ((1, 1.0), (-1, -1.0)):
        scene = sp.Scene()
        wheel = scene.add(sp.RigidBody(1.0, (0.1, 0.1, 0.1)), name="wheel")
        scene.add(sp.HingeJoint(*[wheel, sp.World][::order], axis=(0, 0, 1), motor_speed=40.0))
        state = run(scene.compile(), sp.ImplicitEuler(0.01), 20)
        assert state.v[5] == pytest.approx(sign * 40.0, rel=1e-9)


def test_a_hinge_motor_gives_no_more_than_its_torque():
    """0.2 N m on 0.1 kg m² for 0.3 s: 0.6 rad/s on the way to 5."""
    scene = sp.Scene()
    wheel = scene.add(sp.RigidBody(1.0, (0.1, 0.1, 0.1)), name="wheel")
    scene.add(sp.HingeJoint(wheel, axis=(0, 0, 1), motor_speed=5.0, motor_torque=0.2))
    state = run(scene.compile(), sp.ImplicitEuler(0.01), 30)
    assert state.v[5] == pytest.approx(0.6, rel=1e-6)


def test_hinge_limits_stop_the_turn():
    scene = sp.Scene()
    door = scene.add(sp.RigidBody(1.0, (0.1, 0.1, 0.1)), spin=(0, 0, 3.0), name="door")
    scene.add(sp.HingeJoint(door, axis=(0, 0, 1), limits=(-0.5, 0.2)))
    system = scene.compile()
    state, solver = system.initial_state(), sp.ImplicitEuler(0.01)
    for _ in range(20):
        solver.step(system, state)
        assert rotations.log(state.x[3:])[2] <= 0.2 + 1e-6
    assert rotations.log(state.x[3:])[2] == pytest.approx(0.2, abs=1e-6)
    assert abs(state.v[5]) <= 1e-6


@pytest.mark.parametrize("make", [sp.Newmark, lambda dt: sp.GeneralizedAlpha(dt, rho=1.0)])
def test_joints_without_numerical_damping_are_refused(make):
    """Multipliers of joints are neutrally unstable at gamma = 1/2: a hinged bar would gain energy without bound."""
    system = pair("hinge", gravity=(0, 0, -9.81), to_world=True).compile()
    with pytest.raises(InputError, match="numerical damping"):
        make(0.01).prepare(system)
    with pytest.raises(InputError, match="numerical damping"):
        make(0.01).step(system, system.initial_state())
