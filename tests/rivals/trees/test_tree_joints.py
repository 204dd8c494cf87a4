"""Joints of trees: loops against finite elements, pendulums against theory and against rigid bodies."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.tree.dynamics import PULLED
from supple.errors import DivergenceError, InputError
from supple.solvers.coupling.trees import step as tree_step
from supple.validation.contact_kinds import RUBBER, cube
from supple.validation.tree import joints as validation
from supple.validation.tree.coupling import GRAVITY

SETTLED = 1e-8


@pytest.mark.parametrize("direction", [0, 2])
def test_a_closed_ring_is_as_stiff_as_finite_elements(direction: int) -> None:
    exact = validation.ring_compliance(direction)
    value, worst = validation.joined_compliance(30, direction)
    assert value == pytest.approx(exact, rel=0.02)
    assert worst < SETTLED
    left_open, _ = validation.joined_compliance(30, direction, is_closed=False)
    assert left_open > 1.5 * exact  # what the joint is there for


def test_patches_of_a_loop_are_the_points_that_were_one() -> None:
    parts = validation.ring(6)
    body = sp.TreeBody(parts.domain_tree)
    (patch,) = parts.loop_patches(body)
    X = body.rest_points
    assert len(patch.a) >= 6
    np.testing.assert_allclose(np.sort(X[patch.a], axis=0), np.sort(X[patch.b], axis=0), atol=1e-9)
    assert not set(patch.a) & set(patch.b)
    with pytest.raises(InputError, match="another domain tree"):
        parts.loop_patches(sp.TreeBody(validation.rods(1)))


def test_two_rigid_domains_swing_on_a_hinge() -> None:
    swing = validation.hinge_pendulum(dt=1 / 60, seconds=4.0)
    assert swing.period == pytest.approx(validation.pendulum_period(0.3), rel=1e-3)
    assert swing.drift < 0.01
    assert swing.violation < SETTLED


def test_a_double_pendulum_on_balls_is_that_of_its_lagrangian() -> None:
    expected = validation.double_pendulum_angles(1.0)
    errors = [np.abs(validation.double_pendulum(dt, 1.0).angles - expected).max() for dt in (1 / 60, 1 / 120)]
    assert errors[1] < 0.01
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.3)  # second order


@pytest.mark.slow
def test_a_double_pendulum_keeps_its_energy() -> None:
    swing = validation.double_pendulum(1 / 60, 4.0)
    assert swing.drift < 0.01
    assert swing.violation < SETTLED


def test_a_soft_beam_swings_by_its_far_end_without_gaining_energy() -> None:
    swing = validation.soft_pendulum()
    assert swing.violation < SETTLED
    assert swing.rate / 60 < SETTLED
    assert swing.gain < 1e-3


def test_a_ball_in_space_moves_as_a_rigid_body_does() -> None:
    ends, arm = [], np.array([validation.ROD / 2, 0, 0])
    box = sp.RigidBody.box((validation.ROD, validation.THICK, validation.THICK), density=1000)
    bodies = [(sp.TreeBody(validation.rods(1)), np.zeros(3)), (box, arm)]
    for (body, at), solver in zip(bodies, (sp.Partitioned(1 / 240), sp.Midpoint(dt=1 / 400))):
        scene = sp.Scene(gravity=GRAVITY)
        node = scene.add(body, at=at, spin=(1.0, 2.0, 0.5), velocity=np.cross([1.0, 2.0, 0.5], at), name="rod")
        scene.add(sp.BallJoint(node, sp.World, at=(0, 0, 0)))
        run = sp.run(scene, until=0.25, solver=solver)
        x = run.system.positions(run.state, "rod")[0]
        ends.append(x[:3] + rotations.rotate(x[3:7], 2 * arm - at))
    assert np.abs(ends[0] - ends[1]).max() < 2e-4


def hinged(**options: object) -> tuple[sp.System, sp.Partitioned]:
    """Two rods in a row that hang on a hinge, half a radian from straight down."""
    scene = sp.Scene(gravity=GRAVITY)
    node = scene.add(sp.TreeBody(validation.rods(2)), name="rods", rotation=validation.down(0.5))
    scene.add(sp.HingeJoint(node, at=(0, 0, 0), axis=(0, 1, 0), **options))
    return scene.compile(), sp.Partitioned(1 / 60)


def test_a_rate_across_a_joint_with_an_implicit_body_turns_round_and_dies_out() -> None:
    """The rod's end moves by h (theta v_1 + (1 - theta) v_0), the body by h v_1, and the joint holds them together.

    So with A and B [1/kg], what an impulse across the rod does to the velocities of its end and of the body, the end's
    against the body's is -(1 - theta) A / (theta A + B) of that before. With theta = 1/2 it would ring where A >> B.
    """
    rod, mass = validation.ROD, 1000 * validation.ROD * validation.THICK**2
    scene = sp.Scene(solver=sp.Partitioned(1 / 100))
    tree = scene.add(sp.TreeBody(validation.rods(1)), name="rod", spin=(0, 0, 0.01))
    heavy = scene.add(sp.RigidBody.box((0.1, 0.1, 0.1), density=1000), at=(rod, 0, 0), name="body")
    scene.add(sp.BallJoint(tree, heavy, at=(rod, 0, 0)))
    system = scene.compile()
    state = system.initial_state()
    rates = []
    A, B = 1 / mass + (rod / 2) ** 2 / (mass * (rod**2 + validation.THICK**2) / 12), 1.0  # of a body of 1 kg
    for _ in range(8):
        assert scene.solver.step(system, state).is_solved
        kin = system.propagate(state.t, state.x, state.v, state.memory)
        ((_, slot, rows),) = system.joints
        rates.append(float((rows.jacobian(kin.x[slot.index]) @ kin.v[slot.index].ravel())[1]))
    factor = -(1 - PULLED) * A / (PULLED * A + B)
    assert np.array(rates[1:]) / rates[:-1] == pytest.approx(factor, rel=1e-3)  # a turn of 1e-4 in a step


def test_a_motor_turns_a_tree_with_its_speed() -> None:
    system, solver = hinged(motor_speed=2.0)
    state = system.initial_state()
    for k in range(20):
        assert solver.step(system, state).is_solved
        (reading,) = system.joint_readings(state).values()
        assert reading.value == pytest.approx((k + 1) * 2.0 / 60, abs=1e-8)
        assert reading.speed == pytest.approx(2.0, abs=1e-9)


def test_a_limit_stops_a_tree_without_rebound() -> None:
    system, solver = hinged(limits=(-0.2, 0.2))
    state = system.initial_state()
    for _ in range(30):
        assert solver.step(system, state).is_solved
    (reading,) = system.joint_readings(state).values()
    assert reading.value == pytest.approx(0.2, abs=1e-9)
    assert abs(reading.speed) < 1e-9
    assert reading.limit == 1


def test_steps_of_a_coupled_tree_are_halved_where_its_passes_do_not_settle(monkeypatch: pytest.MonkeyPatch) -> None:
    def after(limit: float) -> tuple[np.ndarray, float]:
        monkeypatch.setattr(tree_step, "UNSETTLED", limit)
        kind = sp.DomainTemplate("cube", cube(), RUBBER, 8)
        scene = sp.Scene(gravity=GRAVITY)
        body = sp.TreeBody(sp.DomainTree({"cube": kind}, [sp.Domain("cube")], free=True))
        scene.add(sp.BallJoint(scene.add(body, spin=(0, 5, 0), name="cube"), at=(-0.05, 0, 0)))
        system, solver = scene.compile(), sp.Partitioned(1 / 60)
        state = system.initial_state()
        for _ in range(5):
            assert solver.step(system, state).is_solved
        return state.x, float(state.memory.get("cube/halvings", np.zeros(1))[0])

    (whole, none), (halved, level) = after(0.1), after(1e-6)
    assert none == 0
    assert level > 0
    assert 0 < np.abs(whole - halved).max() < 0.01


@pytest.mark.parametrize("fails", [False, True])
def test_a_calm_coupled_tree_keeps_its_halves_where_longer_steps_do_not_settle(
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    system, solver = hinged()
    state, (slot,) = system.initial_state(), system.bodies
    tried: list[int] = []

    def unsettled(body: sp.TreeBody) -> float:
        tried.append(1)
        if len(tried) == 2 and fails:
            raise DivergenceError("the tree left the finite")
        return 0.5 if len(tried) == 2 else 0.0

    monkeypatch.setattr(tree_step, "unsettled", unsettled)
    state.memory[f"{slot.name}/halvings"] = np.array([1.0])
    assert solver.step(system, state).is_solved
    assert len(tried) > 2
    assert state.memory[f"{slot.name}/halvings"] == 1
