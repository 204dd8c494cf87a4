"""Joints: free motions, Jacobians, forces."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sparse
from tests.scenes.held.stepping import AT, AXIS, JOINTS, RNG, all_joints, pair

from supple.algebra.dense import rotations
from supple.scene.derivatives import differentiate, relative_error
from supple.solvers.linear.newton import joint_forces


def dense(A: Any) -> np.ndarray:
    return A.toarray() if sparse.issparse(A) else A


def slide_or_turn(kind: str) -> np.ndarray:
    """Velocities of both bodies in which the joint moves freely, b against a, about the motion of a as a whole."""
    scene = pair(kind)
    a, b = scene.node("a"), scene.node("b")
    common_v, common_w = np.array([0.3, 0.2, -0.5]), np.array([0.4, -0.6, 0.2])
    slide = 0.8 * AXIS if kind == "slider" else np.zeros(3)
    spin = {"ball": np.array([0.5, 0.7, -0.9]), "hinge": 1.3 * AXIS}.get(kind, np.zeros(3))
    out = []
    for node, extra_w, extra_v in ((a, np.zeros(3), np.zeros(3)), (b, spin, slide)):
        w = common_w + extra_w
        v = common_v + np.cross(common_w, node.placement.at) + extra_v + np.cross(extra_w, node.placement.at - AT)
        out += [v, rotations.rotate_inverse(node.placement.rotation, w)]
    return np.concatenate(out)


@all_joints
def test_joints_leave_the_right_motions_free(kind):
    system = pair(kind).compile()
    kin = system.propagate(0.0, system.x0, system.v0)
    G = dense(system.linearize(kin).joint_jacobian())
    _, rows, free = JOINTS[kind]
    assert G.shape == (rows, 12)
    singular = np.linalg.svd(G, compute_uv=False)
    assert singular[-1] > 0.05 * singular[0], "rows say the same thing twice"
    assert 12 - np.linalg.matrix_rank(G) == 6 + free
    assert np.abs(system.violation(kin)).max() <= 1e-15
    np.testing.assert_allclose(G @ slide_or_turn(kind), 0.0, atol=1e-14)


@all_joints
def test_motions_along_a_joint_keep_it_closed_far_from_the_start(kind):
    """Frames moved by hand: b against a by a large slide or turn, then both together; phi stays zero, the rank full."""
    scene = pair(kind)
    system = scene.compile()
    a, b = (scene.node(n).placement for n in "ab")
    turn = {"ball": np.array([0.9, -1.4, 0.8]), "hinge": 2.1 * AXIS}.get(kind, np.zeros(3))
    slide = 0.9 * AXIS if kind == "slider" else np.zeros(3)
    q = rotations.exp(turn)
    moved_b = AT + rotations.rotate(q, b.at - AT) + slide
    all_turn, all_move = rotations.exp([0.7, 0.2, -1.5]), np.array([1.0, 2.0, 3.0])
    frames = []
    for at, rotation in ((a.at, a.rotation), (moved_b, rotations.multiply(q, b.rotation))):
        frames += [rotations.rotate(all_turn, at) + all_move, rotations.multiply(all_turn, rotation)]
    kin = system.propagate(0.0, np.concatenate(frames), system.v0)
    np.testing.assert_allclose(system.violation(kin), 0.0, atol=1e-14)
    G = dense(system.linearize(kin).joint_jacobian())
    assert np.linalg.matrix_rank(G) == JOINTS[kind][1]


@all_joints
def test_joint_jacobian_is_the_slope_of_the_violation(kind):
    system = pair(kind, to_world=True).compile()
    x = system.retract(system.x0, 0.3 * RNG.normal(size=12))
    v = np.zeros(12)
    G = system.linearize(system.propagate(0.0, x, v)).joint_jacobian()
    for d in RNG.normal(size=(3, 12)):
        slope = differentiate(lambda e, d=d: system.violation(system.propagate(0.0, system.retract(x, e * d), v)), 1e-3)
        assert relative_error(G @ d, slope) <= 1e-9


@all_joints
def test_joint_forces_and_their_tangent(kind):
    """G^T l adds up to no force and no moment; its derivative by position is in K when multipliers are given."""
    system = pair(kind).compile()
    x, l = system.retract(system.x0, 0.3 * RNG.normal(size=12)), RNG.normal(size=JOINTS[kind][1])
    start = system.propagate(0.0, system.x0, system.v0)
    f = joint_forces(system, start, l)
    np.testing.assert_allclose(f, system.linearize(start).joint_jacobian().T @ l, atol=1e-14)
    force, moment = np.zeros(3), np.zeros(3)
    for slot in system.bodies:
        frame, own = slot.view_x(system.x0)[0], slot.view_v(f)[0]
        force += own[:3]
        moment += np.cross(frame[:3], own[:3]) + rotations.rotate(frame[3:], own[3:])
    np.testing.assert_allclose(np.r_[force, moment], 0.0, atol=1e-13)
    lin = system.linearize(system.propagate(0.0, x, system.v0), multipliers=l)
    d = RNG.normal(size=12)
    slope = differentiate(
        lambda e: joint_forces(system, system.propagate(0.0, system.retract(x, e * d), system.v0), l), 1e-3
    )
    assert relative_error(lin.product(d, stiffness=1.0), slope) <= 1e-9
    assert relative_error(lin.matrix(stiffness=1.0) @ d, slope) <= 1e-9
