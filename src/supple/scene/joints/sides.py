"""The sides of joints: points that are held fast to a body, or to a patch of it that carries a frame.

Rigid, floating and layered bodies have a frame at every place. Of finite elements, voxels, trees and particles a patch
around the joint serves as one, see `patch_frame`: the points of a region, or those within a radius.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from scipy.spatial import KDTree

from supple.bodies.capabilities import Patched
from supple.errors import InputError
from supple.scene.mapped.patch_frame import PatchFrame, is_off_line
from supple.scene.mapped.points import Points, PointSet, World
from supple.scene.node import Node, Selector

Array = np.ndarray
Side: TypeAlias = Node | type[World] | None
"""A body, or the world."""
Patch: TypeAlias = Selector | float
"""A region of a body, a radius [m], or None."""
REACH = 0.25
"""Radius of a patch that is not given, over the largest extent of the body, beyond its point nearest to the joint."""
MANY = 48
"""Points of a patch that is not given, at most: those nearest to the joint."""
GROWTH = 1.5
"""By which a patch grows that is on a line."""
NEAR = 1e-6
"""Of the body's extent: how near to a joint's place one of its points stands for it."""


def is_world(node: object) -> bool:
    """Whether a side is the world."""
    return node is World or node is None


def body_side(node: object, joint: str) -> Node:
    """A side that is a body, else an error."""
    if isinstance(node, Node):
        return node
    raise InputError(
        f"a {joint} joins bodies of a scene and the world",
        value=type(node).__name__,
        fix="Give what scene.add returned, or World.",
    )


def held_side(node: Side, at: Array, joint: str, patch: Patch = None) -> Points:
    """Points at world positions `at` (n, 3) [m] that are held fast to a body around the first of them, or to the world.

    patch: of a soft body, a region as in `node.points`, or a radius [m] around the first point.
    """
    if is_world(node):
        return World.points(at)
    body = body_side(node, joint)
    if body.is_frame:
        return body.held_points(at)
    around = _patch(body, at[0], patch, joint)
    return PointSet(around, PatchFrame.make(around.rest, at), at, f"{body.name} patch")


def point_side(node: Side | Points, at: Array, joint: str) -> Points:
    """A point (1, 3) [m] of a body, for joints that do not turn with it."""
    if is_world(node):
        return World.points(at)
    body = body_side(node, joint)
    if body.is_frame or isinstance(body.body, Patched) or hasattr(body.body, "mesh"):
        return body.held_points(at)
    nearest = int(np.argmin(np.linalg.norm(body.rest - at[0], axis=1)))
    if np.linalg.norm(body.rest[nearest] - at[0]) <= NEAR * _extent(body.rest):
        return body.points([nearest])
    return held_side(body, at, joint)


def _extent(x: Array) -> float:
    return float(np.ptp(x, axis=0).max()) or 1.0


def _patch(node: Node, at: Array, patch: Patch, joint: str) -> PointSet:
    """The points of a soft body that serve as a frame."""
    if patch is None or isinstance(patch, int | float):
        chosen = _around(node.rest, at, patch, isinstance(node.body, Patched))
    else:
        chosen = node.indices(patch)
    points = node.patch_points(chosen)
    if not is_off_line(points.rest):
        raise InputError(
            f"a {joint} needs three points of a body off a line",
            where=f"node '{node.name}'",
            value=f"{len(chosen)} points",
            fix="Give a larger patch, use a BallJoint, or join a rigid body to it.",
        )
    return points


def _around(rest: Array, at: Array, radius: float | None, one_is_enough: bool) -> Array:
    """Numbers of the points within a radius [m] of a place; of one that is found where it is not given."""
    distance, _ = KDTree(at[None]).query(rest)
    if radius is not None:
        return np.flatnonzero(distance <= radius)
    order = np.argsort(distance, kind="stable")
    count = min(MANY, int(np.sum(distance <= distance.min() + REACH * _extent(rest))))
    while not (one_is_enough or is_off_line(rest[order[:count]])) and count < len(rest):
        count = int(np.ceil(GROWTH * count))
    return np.sort(order[:count])
