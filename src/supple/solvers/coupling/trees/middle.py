"""Joints among trees in the middle of a step: how their forces act on the trees' points.

    phi(x_1) - phi(x_0) = E (x_1 - x_0),   E = dphi/dx at (x_0 + x_1) / 2          phi is a polynomial of degree two

So forces E^T p do no work on points that end where the joint asks for. A patch that carries a frame passes them on as
in the middle state of its tree. Joints with bodies of other parts act as at the start, on both sides alike.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from supple.scene.kinematics import Kinematics
from supple.solvers.coupling.across import bodies_of
from supple.solvers.coupling.coupled_points import CoupledPoints
from supple.solvers.coupling.joint_rows import CoupledJoints
from supple.solvers.coupling.trees.theta import EULER

if TYPE_CHECKING:
    from supple.solvers.coupling.trees.step import TreeStep


def joints_between(step: TreeStep) -> CoupledJoints:
    """The joints of a step, those among trees that take no Euler step as in the middle of it; else as they are."""
    joints = step.joints
    assert joints is not None
    moved = [k for k in range(len(joints.joints)) if is_midway(step, k)]
    if not moved:
        return joints
    middle, end = kinematics_at(step, "middle"), kinematics_at(step, "end")
    E, points = [*joints.E], [*joints.points]
    for k in moved:
        _, slot, rows = joints.joints[k]
        start = joints.points[k].x
        points[k] = replace(CoupledPoints.at_start(slot, middle, step.meeting.part), x=start)
        E[k] = rows.jacobian((start + end.x[slot.index]) / 2)
    return replace(joints, E=E, points=points)


def is_midway(step: TreeStep, number: int) -> bool:
    """Whether a joint acts as in the middle of the step."""
    joints = step.joints
    assert joints is not None
    bodies = bodies_of(joints.joints[number].slot)
    return all(step.theta.get(body.name, EULER) < EULER for body in bodies)


def kinematics_at(step: TreeStep, when: Literal["start", "middle", "end"]) -> Kinematics:
    """Where the points of joints are at the start of the step, and, as it was reached last, in its middle, at its end.

    Bodies that are no trees are where they start.
    """
    x, joints = step.state.x.copy(), step.joints
    assert joints is not None
    for slot in step.coupled if when != "start" else ():
        slot.view_x(x)[:] = step.middle[slot.name] if when == "middle" else step.ends[slot.name].x
    known = step.known.get(when)
    if known is None or not np.array_equal(known.flat_x, x):
        known = step.part.system.propagate(step.state.t, x, step.state.v, only=step.joint_slots)
        step.known[when] = known
    return known
