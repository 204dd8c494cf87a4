"""Joints of trees: loops against finite elements, pendulums against theory and against rigid bodies."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.errors import InputError
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
