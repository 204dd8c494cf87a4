"""Ties between domains: loops against finite elements, joints against theory and against rigid bodies."""

from __future__ import annotations

import numpy as np
import pytest

import supple as sp
from supple.algebra.dense import rotations
from supple.bodies.tree import Anchor, LinkedTrees, Tie, TreeDynamics, TreeModel, WorldAnchor
from supple.errors import ConvergenceError, InputError
from supple.validation.tree import ties as validation
from supple.validation.tree.coupling import GRAVITY, beam_domain_tree

SETTLED = 1e-8


@pytest.mark.parametrize("direction", [0, 2])
def test_a_closed_ring_is_as_stiff_as_finite_elements(direction: int) -> None:
    exact = validation.ring_compliance(direction)
    value, worst = validation.tied_compliance(30, direction)
    assert value == pytest.approx(exact, rel=0.02)
    assert worst < SETTLED
    left_open, _ = validation.tied_compliance(30, direction, tied=False)
    assert left_open > 1.5 * exact  # what the weld is there for


def test_a_loop_may_be_closed_by_stiff_springs() -> None:
    stiff, _ = validation.tied_compliance(30, 0, compliance=1e-8)
    assert stiff == pytest.approx(validation.tied_compliance(30, 0)[0], rel=1e-3)


def test_two_rigid_domains_swing_on_a_hinge() -> None:
    swing = validation.hinge_pendulum()
    assert swing.period == pytest.approx(validation.pendulum_period(0.3), rel=1e-3)
    assert swing.drift < 0.01
    assert swing.violation < SETTLED


def test_a_double_pendulum_on_balls_is_that_of_its_lagrangian() -> None:
    expected = validation.double_pendulum_angles(1.0)
    errors = [np.abs(validation.double_pendulum(dt, 1.0).angles - expected).max() for dt in (1 / 60, 1 / 120)]
    assert errors[1] < 0.01
    assert errors[0] / errors[1] == pytest.approx(4, rel=0.3)  # second order


def test_a_double_pendulum_keeps_its_energy() -> None:
    swing = validation.double_pendulum(1 / 60, 4.0)
    assert swing.drift < 0.01
    assert swing.violation < SETTLED


def test_a_soft_beam_swings_by_its_far_end_without_gaining_energy() -> None:
    swing = validation.soft_pendulum()
    assert swing.violation < SETTLED
    assert swing.rate / 60 < SETTLED
    assert swing.passes <= 6
    assert swing.gain < 1e-3


def test_a_ball_in_space_moves_as_a_rigid_body_does() -> None:
    tree = validation.rods(1)
    scene = sp.Scene(gravity=GRAVITY)
    scene.add(sp.TreeBody(tree.model), name="rod", spin=(1.0, 2.0, 0.5), velocity=(0, 0, 0))
    run = sp.run(
        scene, until=0.25, solver=sp.TreeSolver(1 / 240, ties=[Tie("ball", WorldAnchor(), Anchor(0, tree="rod"))])
    )
    frame = run.system.positions(run.state, "rod")[0, :7]
    other = sp.Scene(gravity=GRAVITY)
    rod = sp.RigidBody.box((validation.ROD, validation.THICK, validation.THICK), density=1000)
    arm = np.array([validation.ROD / 2, 0, 0])
    node = other.add(rod, at=arm, spin=(1.0, 2.0, 0.5), velocity=np.cross([1.0, 2.0, 0.5], arm), name="rod")
    other.add(sp.BallJoint(node, sp.World, at=(0, 0, 0)))
    rival = sp.run(other, until=0.25, solver=sp.Midpoint(dt=1 / 400))
    expected = rival.system.positions(rival.state, "rod")[0]
    assert np.abs(frame[:3]).max() < 1e-9
    tip = rotations.rotate(frame[3:], 2 * arm)
    assert np.abs(tip - (expected[:3] + rotations.rotate(expected[3:7], arm))).max() < 2e-4


def test_bad_ties_say_what_is_wrong() -> None:
    with pytest.raises(InputError, match="unknown tie"):
        Tie("glue", Anchor(0), WorldAnchor())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="axis"):
        Tie("hinge", Anchor(0), WorldAnchor())
    with pytest.raises(InputError, match="world"):
        Tie("ball", WorldAnchor(), WorldAnchor())
    with pytest.raises(InputError, match="compliance"):
        Tie("ball", Anchor(0), WorldAnchor(), compliance=-1.0)
    tree = TreeDynamics(TreeModel.of(beam_domain_tree(2, 6)))
    with pytest.raises(InputError, match="no tree of that number"):
        LinkedTrees([tree], [Tie("ball", Anchor(0, tree=3), WorldAnchor())])
    with pytest.raises(InputError, match="no interface"):
        LinkedTrees([tree], [Tie("ball", Anchor(0, interface="side"), WorldAnchor())])
    with pytest.raises(InputError, match="articulated"):
        LinkedTrees([TreeDynamics(tree.model, coupling="lumped", stiffness_damping=0.1)], [])


def test_a_tie_that_cannot_hold_says_so() -> None:
    tree = TreeDynamics(TreeModel.of(beam_domain_tree(2, 6)))
    far = LinkedTrees([tree], [Tie("ball", WorldAnchor(), Anchor(1, interface="tip"))], max_passes=2, tolerance=1e-16)
    states = far.states()
    states[0].q[0] += 0.3
    with pytest.raises(ConvergenceError, match="violated"):
        far.advance(states, 1 / 60, gravity=GRAVITY)
