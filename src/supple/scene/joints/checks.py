"""Couplings that cannot be meant: of a point with itself, of a rigid body with itself, motors that kick free bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.algebra.dense.checks import check_array
from supple.errors import InputError
from supple.scene.joints.joint_coordinates import HingeAngle
from supple.scene.joints.joints import Joint
from supple.scene.mapped.points import JoinedPoints, Points, PointSet, WorldPoints
from supple.scene.node import Node

if TYPE_CHECKING:
    from supple.scene.scene import Scene

Array = np.ndarray
SAME = 1e-12
"""Of their size: places and velocities that differ by less are the same."""
SPEED = "motor_speed"
SLOW = 1e-9
"""[rad/s], [m/s] A jump of speed that counts as none."""


def refuse_self(points: JoinedPoints, where: str) -> None:
    """Refuse a coupling whose two sides are the same points, or world points alone."""
    a, b = points.parts
    if isinstance(a, WorldPoints) and isinstance(b, WorldPoints):
        raise InputError("both sides are the world", where=where, fix="Give a body on one side.")
    same = same_points(a, b)
    if same.any():
        raise InputError(
            "a point is coupled with itself",
            where=where,
            value=f"point {int(np.argmax(same))} of both sides",
            fix="Give another point of the body, or of another body.",
        )


def refuse_rigid_self(points: JoinedPoints, where: str) -> None:
    """Refuse a joint between two points of one rigid body: they stay where they are in any case."""
    a, b = (part.parent if isinstance(part, PointSet) else None for part in points.parts)
    if isinstance(a, Node) and a is b and a.is_frame and a.held_body.coordinates.v_width == 6:
        raise InputError(
            "both sides of the joint are on one rigid body",
            where=where,
            value=a.name,
            fix="Join it to another body, or to the world.",
        )


def same_points(a: Points, b: Points) -> Array:
    """Which points of two sets of equal count are one and the same, (count,): at one place at the start, and moving
    alike whatever their body does."""
    near = np.linalg.norm(a.rest - b.rest, axis=1) <= SAME * (1.0 + np.abs(a.rest).max(initial=0.0))
    nodes = {_owner(a), _owner(b)}
    node = nodes.pop()
    if nodes or not isinstance(node, Node) or not near.any():
        return near & False
    placed = node.held_body.place(node.placement)
    v = np.random.default_rng(0).normal(size=np.shape(placed.v))
    moves = [_moved(points, placed.x, v)[1] for points in (a, b)]
    return near & (np.linalg.norm(moves[0] - moves[1], axis=1) <= SAME * (1.0 + np.abs(moves[0]).max()))


def _owner(points: Node | Points) -> Node | None:
    """The body of points; None where they are of several, or of the world."""
    while isinstance(points, PointSet):
        points = points.parent
    return points if isinstance(points, Node) else None


def _moved(points: Node | Points, x: Array, v: Array) -> tuple[Array, Array]:
    """Positions and velocities of points (count, 3) of a body at x and v."""
    if not isinstance(points, PointSet):
        return x, v
    x, v = _moved(points.parent, x, v)
    return (x, v) if points.mapping is None else (points.mapping.apply(x), points.mapping.linearize(x).product(v))


def refuse_kicks(scene: Scene) -> None:
    """Refuse a motor without a largest torque or force that sets bodies with frames going at once, where none of them
    is held: the torque would be whatever the length of a step makes it."""
    joints = [given.joint() for given in scene.joints]
    held = {id(f.target) for f in scene.filters}
    for joint in joints:
        jump = _jump(joint)
        if jump is None or abs(jump) <= SLOW:
            continue
        bodies = _connected(joint, joints)
        if bodies is None or any(id(node) in held or not node.is_frame for node in bodies):
            continue
        unit, largest = (
            ("rad/s", "motor_torque") if isinstance(joint.coordinate, HingeAngle) else ("m/s", "motor_force")
        )
        raise InputError(
            "a motor without a limit sets free bodies going at once",
            where=joint.label,
            value=f"a jump of {jump:.3g} {unit}",
            fix=f"Give {largest}, or a speed that grows from what it is at the start, such as RampInTime.",
        )


def _jump(joint: Joint) -> float | None:
    """By how much an unlimited motor changes the speed of its joint at the start; None for other joints."""
    rows = joint.extra
    if rows is None or rows.speed is None or np.isfinite(rows.largest):
        return None
    v = np.concatenate([_velocities(part) for part in joint.points.parts])
    wanted = check_array(rows.speed(0.0) if callable(rows.speed) else rows.speed, name=SPEED, where=joint.label)
    if wanted.size != 1:
        raise InputError(f"{SPEED} is not one number", where=joint.label, value=wanted.shape)
    return float(wanted.ravel()[0]) - float(np.sum(rows.coordinate.gradient(joint.points.rest) * v))


def _velocities(points: Points) -> Array:
    """Of points as their body is placed, (n, 3) [m/s]."""
    owner = _owner(points)
    return owner.placement.point_velocities(points.rest) if isinstance(owner, Node) else np.zeros_like(points.rest)


def _connected(joint: Joint, joints: list[Joint]) -> set[Node] | None:
    """The bodies that hang together with a joint by joints; None where the world is among them."""
    from supple.scene.parts import nodes_of

    found, grown = nodes_of(joint.points), True
    while grown:
        near = [other for other in joints if nodes_of(other.points) & found]
        if any(isinstance(part, WorldPoints) for other in near for part in other.points.parts):
            return None
        reached = found.union(*(nodes_of(other.points) for other in near))
        found, grown = reached, len(reached) > len(found)
    return found
