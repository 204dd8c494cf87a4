"""Filters: conditions on single points or frames, kept by projecting velocities and positions.

    (I - C) (x - p(t)) = 0,      C an orthogonal projector of each point, p(t) where it must be

Homogeneous conditions filter the solve, C A C dv = C b; the prescribed part of the motion is moved to the right-hand
side. Positions are projected too, so that a sliding point does not drift off its plane.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import as_quaternion, check_vector
from supple.errors import InputError, check_instance
from supple.scene.node import Node, Selector

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class PointConditions:
    """What a filter asks of the points (or frame origins) of one body.

    indices (k,); projector (k, 3, 3), the free directions; path(t) -> (k, 3) [m], or None: where they started.
    hold_rotation: frames only. orientation(t) -> quaternion (4,), or None: as it started.
    """

    indices: Array
    projector: Array
    path: Callable[[float], Array] | None = None
    hold_rotation: bool = False
    orientation: Callable[[float], Array] | None = None


class Filter(Protocol):
    """Anything that makes conditions for a node."""

    target: Node

    def conditions(self) -> PointConditions: ...


def _conditions(node: Node, selector: Selector, projector: Array, where: str, **more: Any) -> PointConditions:
    check_instance(node, Node, "a node of a scene", where=where)
    if node.is_frame and selector is not None:
        raise InputError(
            "a body with one frame is held as a whole, so it has no parts to choose",
            where=f"node '{node.name}'",
            value=selector,
            allowed="fix=True, or no selector",
        )
    if not node.is_frame and node.held_body.coordinates.count != len(node.rest):
        raise InputError(
            "filters act on points and frames, and this body moves by other coordinates",
            where=f"node '{node.name}'",
            fix="Hold it by joints to the world, or where it is made: of a tree, nodes of its root.",
        )
    indices = node.coordinate_rows(selector)
    return PointConditions(indices, np.broadcast_to(projector, (len(indices), 3, 3)), **more)


@dataclass(frozen=True, eq=False)
class FixedPoints:
    """Points of a body that stay where they are; a rigid body keeps its place and, unless told, its orientation."""

    target: Node
    selector: Selector = None
    rotation: bool = True

    def conditions(self) -> PointConditions:
        """No free direction."""
        return _conditions(self.target, self.selector, np.zeros((3, 3)), "FixedPoints", hold_rotation=self.rotation)


@dataclass(frozen=True, eq=False)
class FixedAxes:
    """Points that keep their world coordinates along some axes: axes="xz". rotation: frames keep their orientation."""

    target: Node
    selector: Selector = None
    axes: str = "xyz"
    rotation: bool = False

    def conditions(self) -> PointConditions:
        """The other axes are free."""
        check_instance(self.axes, str, "a text", where="FixedAxes, axes")
        if not self.axes or set(self.axes) - set("xyz"):
            raise InputError("axes are not letters of xyz", where="FixedAxes", value=self.axes)
        free = np.diag([0.0 if axis in self.axes else 1.0 for axis in "xyz"])
        return _conditions(self.target, self.selector, free, "FixedAxes", hold_rotation=self.rotation)


@dataclass(frozen=True, eq=False)
class SlidingPlane:
    """Points that slide in the plane through their start with a normal (3,)."""

    target: Node
    selector: Selector = None
    normal: ArrayLike = (0.0, 0.0, 1.0)

    def conditions(self) -> PointConditions:
        """Free in the plane."""
        n = check_vector(self.normal, name="normal", where="SlidingPlane")
        if np.linalg.norm(n) == 0:
            raise InputError("the normal is zero", where="SlidingPlane")
        n = n / np.linalg.norm(n)
        return _conditions(self.target, self.selector, np.eye(3) - np.outer(n, n), "SlidingPlane")


@dataclass(frozen=True, eq=False)
class PrescribedMotion:
    """Points that move by displacement(t) (3,) [m] from where they started; a rigid body turns by rotation(t).

    displacement: a function of time [s]. rotation: a function of time giving a rotation vector [rad] in world axes,
    applied to the body's first orientation; None holds the orientation.
    """

    target: Node
    selector: Selector = None
    displacement: Callable[[float], ArrayLike] | None = None
    rotation: Callable[[float], ArrayLike] | None = None

    def conditions(self) -> PointConditions:
        """No free direction, a moving place."""
        from supple.algebra.dense import rotations

        node, where = self.target, "PrescribedMotion"
        check_instance(node, Node, "a node of a scene", where=where)
        start = node.row_starts(self.selector)
        move, turn = self.displacement, self.rotation
        for name, given in (("displacement", move), ("rotation", turn)):
            if given is not None and not callable(given):
                raise InputError(f"{name} is not a function of time", where=where, value=given)

        def path(t: float) -> Array:
            if move is None:
                return start
            return start + check_vector(move(t), name=f"displacement at t = {t:g} s", where=where)

        def orientation(t: float) -> Array:
            q = as_quaternion(None if turn is None else turn(t), where=where)  # type: ignore[arg-type]
            return rotations.multiply(q, node.placement.rotation)

        return _conditions(
            node, self.selector, np.zeros((3, 3)), where, path=path, hold_rotation=True, orientation=orientation
        )
