"""Forces and moments of what couples trees, on each tree as a whole: those on two trees are opposite to round-off.

A force between two trees acts at one place on both: of a contact and of a spring, which acts along its line, at the
mean of the points of both sides. Forces of a joint act on its points, which are those of both sides where it is closed.
Places are means of start and end of a step. A force between a tree and a lattice has acted in many small steps, each at
a place of its own: the tree takes the sum of their moments [theory.md, 12.15].
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from supple.contact.contact_set import ContactSet
from supple.scene.kinematics import Kinematics
from supple.scene.slots import Slot
from supple.solvers.coupling.across import LATTICE, bodies_of
from supple.solvers.coupling.joint_rows import CoupledJoints
from supple.solvers.coupling.laws import SpringLaw
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.trees.middle import is_midway, kinematics_at

if TYPE_CHECKING:
    from supple.solvers.coupling.trees.step import TreeStep

Array = np.ndarray
BALANCED = 1e-12
"""Sum of the shares of all trees in a law below which it acts among trees alone."""


def law_wrenches(step: TreeStep, pushes: Array) -> dict[str, Array]:
    """Force and moment about the origin, (6,) each, of forces (k, 3) [N] on the first sides of laws, by tree."""
    shares, places = {}, {}
    for slot in step.coupled:
        touch, end = step.touched[slot.name], step.ends[slot.name]
        x = (touch.points.apply(slot.view_x(step.state.x)) + touch.points.apply(end.x)) / 2
        shares[slot.name] = (touch.weights @ np.tile([1.0, 0.0, 0.0], len(x)))[::3]
        places[slot.name] = (touch.weights @ x.ravel()).reshape(-1, 3)
    if not shares:
        return {}
    S, X = np.array(list(shares.values())), np.array(list(places.values()))
    own = X / np.where(S == 0, 1.0, S)[..., None]
    weight = np.abs(S).sum(axis=0)
    common = (np.abs(S)[..., None] * own).sum(axis=0) / np.where(weight > 0, weight, 1.0)[:, None]
    together = is_central(step.meeting) & (np.abs(S.sum(axis=0)) < BALANCED)
    at = np.where(together[:, None], common, own)
    forces = S[..., None] * pushes
    moments = np.cross(at, forces)
    if step.meeting.moments is not None:
        swept = step.meeting.has(LATTICE) & (np.abs(weight - 1.0) < BALANCED)
        moments[:, swept] = -np.abs(S[:, swept, None]) * step.meeting.moments[swept]  # (12.15)
    return {name: np.concatenate([f.sum(axis=0), m.sum(axis=0)]) for name, f, m in zip(shares, forces, moments)}


def is_central(meeting: Meeting) -> Array:
    """Which laws (k,) act along the line of their two points, or where these meet."""
    found = [np.zeros(0, dtype=bool)]
    for law in meeting.laws:
        if isinstance(law, SpringLaw):
            found.append((law.spring.rest_length > 0) | (law.spring.damping == 0))
        else:
            found.append(np.full(law.size, isinstance(law, ContactSet)))
    return np.concatenate(found)


def joint_wrenches(step: TreeStep, held: Array) -> dict[str, Array]:
    """The same of forces (m,) on the rows of joints across parts."""
    joints = step.joints
    if joints is None:
        return {}
    numbers = list(range(len(joints.joints)))
    start, end = kinematics_at(step, "start"), kinematics_at(step, "end")
    E = [*joints.E]
    for k in filter(partial(is_midway, step), numbers):
        _, slot, rows = joints.joints[k]
        E[k] = rows.jacobian((start.x[slot.index] + end.x[slot.index]) / 2)
    found = wrenches_of(replace(joints, E=E), start, end, held)
    return {slot.name: found[slot.name] for slot in step.coupled if slot.name in found}


def wrenches_of(joints: CoupledJoints, start: Kinematics, end: Kinematics, held: Array) -> dict[str, Array]:
    """Force and moment (6,) on each body of forces (m,) on rows, which act between `start` and `end`.

    On a side that is of one body they act at the side's points; else at the points of each body that these follow.
    """
    found: dict[str, Array] = {}
    rows = np.cumsum([0, *(len(E) for E in joints.E)])

    def add(body: str, slot: Slot, force: Array) -> None:
        x = (start.x[slot.index] + end.x[slot.index]) / 2
        wrench = np.concatenate([force.sum(axis=0), np.cross(x, force).sum(axis=0)])
        found[body] = found.get(body, np.zeros(6)) + wrench

    for joint, own, E, a, b in zip(joints.joints, joints.points, joints.E, rows, rows[1:]):
        force, first = (E.T @ held[a:b]).reshape(-1, 3), 0
        for side in joint.slot.parents:
            part = slice(first, first + side.coordinates.count)
            bodies, first = bodies_of(side), part.stop
            if len(bodies) == 1:
                add(bodies[0].name, side, force[part])
                continue
            alone = np.zeros_like(force)
            alone[part] = force[part]
            for leaf, M in own.leaves.values():
                if not leaf.is_body:
                    add(leaf.parents[0].name, leaf, (M.T @ alone.ravel()).reshape(-1, 3))
    return found
