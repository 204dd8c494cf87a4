"""Velocities of trees that joints hold, at the end of a step: impulses put them on what the joints let go.

    E J (v_1 + M^-1 J^T E^T n) = phi'      E, J, M at the end of the step, phi' of motors, else zero [theory.md, 12.14]

A step by the midpoint rule has p such that its way ends where joints are closed, and v_1 = 2 u - v_0 of the mean
velocity u = (x_1 - x_0) / h. So what v_0 has across the joints turns round in every step, undamped. n takes it away: of
a smooth motion it is a third power of h, of one that begins against its joints all. The impulses are equal and
opposite, at points that meet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.algebra.sparse.threefold import composed
from supple.bodies.tree.dynamics import PULLED
from supple.bodies.tree.step.responses import point_shapes
from supple.scene.kinematics import Kinematics
from supple.scene.slots import Slot
from supple.solvers.coupling.across import bodies_of
from supple.solvers.coupling.coupled_points import CoupledPoints
from supple.solvers.coupling.joint_rows import CoupledJoints, least_norm
from supple.solvers.coupling.trees.middle import is_midway, kinematics_at
from supple.solvers.coupling.trees.momentum import end_on
from supple.solvers.coupling.trees.touch import TreeTouch
from supple.solvers.coupling.trees.wrenches import wrenches_of

if TYPE_CHECKING:
    from supple.solvers.coupling.trees.step import TreeStep

Array = np.ndarray


def project_velocities(step: TreeStep, held: Array) -> None:
    """Change the ends of a step, in place; held (m,): forces on the rows of joints in it."""
    joints = step.joints
    numbers = [] if joints is None else [k for k in range(len(joints.joints)) if _rings(step, k)]
    if joints is None or not numbers:
        return
    end, starts = kinematics_at(step, "end"), np.cumsum([0, *(len(E) for E in joints.E)])
    rows = np.concatenate([np.arange(starts[k], starts[k + 1]) for k in numbers])
    now = _joints_at(step, joints, numbers, rows, end)
    rate, W = -np.concatenate([joint.rows.rates for joint in now.joints]), np.zeros((len(rows), len(rows)))
    slots = [slot for slot in step.coupled if now.on(slot)]
    touches = {slot.name: step.touched[slot.name].with_joints(slot, now) for slot in slots}
    for slot in slots:
        touch, at = touches[slot.name], step.ends[slot.name]
        rate += touch.joints @ touch.points.linearize(at.x).product(at.v).ravel()
        W += _response(step, slot, touch)
    holds, n = (held[rows] > now.low) & (held[rows] < now.high), np.zeros(len(rows))
    n[holds] = least_norm(W[np.ix_(holds, holds)], -rate[holds])  # (12.14)
    wrenches = wrenches_of(now, end, end, n)
    for slot in slots:
        _strike(step, slot, (touches[slot.name].joints.T @ n).reshape(-1, 3), wrenches[slot.name])


def _joints_at(step: TreeStep, joints: CoupledJoints, numbers: list[int], rows: Array, at: Kinematics) -> CoupledJoints:
    """Some of the joints, of these rows, as they are at an instant."""
    found = [joints.joints[k] for k in numbers]
    points = [CoupledPoints.at_start(joint.slot, at, step.meeting.part) for joint in found]
    E = [joint.rows.jacobian(own.x) for joint, own in zip(found, points)]
    return CoupledJoints(found, points, E, joints.r[rows], joints.low[rows], joints.high[rows])


def _response(step: TreeStep, slot: Slot, touch: TreeTouch) -> Array:
    """E J M^-1 J^T E^T of one tree at its end, (m, m)."""
    body, at = slot.node.body, step.ends[slot.name]
    now, sides = body.unpack(at.x, at.v), step.part.sides_of(slot)
    shapes = point_shapes(body.dynamics, touch.points, now, at.x, 0.0, gravity=np.zeros(3), sides=sides)
    B = composed(touch.joints, shapes.B).toarray()
    return np.asarray(B @ shapes.Y @ B.T)


def _rings(step: TreeStep, number: int) -> bool:
    """Whether velocities across a joint would turn round in every step."""
    joints = step.joints
    assert joints is not None
    names = [body.name for body in bodies_of(joints.joints[number].slot)]
    return is_midway(step, number) and max(step.theta[name] for name in names) < PULLED


def _strike(step: TreeStep, slot: Slot, impulses: Array, wrench: Array) -> None:
    """Change velocities at the end by impulses (p, 3) [N s] on points; wrench (6,): their sum and moment."""
    body, end = slot.node.body, step.ends[slot.name]
    struck, now = np.zeros_like(end.v), body.unpack(end.x, end.v)
    step.touched[slot.name].points.linearize(end.x).add_transpose(impulses, struck)
    before = body.measures(end.x, end.v).momentum.copy()
    with_it, without = (body.dynamics.accelerations(now, **body.loads(end.x, f)) for f in (struck, None))
    end.v[0, :6] += with_it[1] - without[1]
    end.v[0, 6 : 6 + len(with_it[0])] += with_it[0] - without[0]
    if body.model.is_free:
        end_on(body, end, before + wrench)
