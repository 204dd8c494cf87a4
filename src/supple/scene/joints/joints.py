"""Joints as conditions between points, solved with multipliers.

A joint sees a few points p of its two sides. Its conditions phi(p) = 0 are of two kinds,

    meeting      p_b - p_a = 0                              three rows
    angle        (p_b - p_a) . (p_d - p_c) - constant = 0   one row

and every joint is a list of these: axes of a frame are tips one metre from its origin, so that the multiplier of an
angle row is a moment [N m]. G = dphi/dp, and the derivative of G^T lambda is exact. Points of frames and of soft bodies
serve alike, through their mappings.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_vector
from supple.errors import InputError, check_number
from supple.scene.joints.bounded_rows import BoundedRows, MotorSpeed
from supple.scene.joints.joint_coordinates import HingeAngle, JointCoordinate, SlideDisplacement
from supple.scene.joints.sides import Patch, Side, held_side, point_side
from supple.scene.mapped.points import JoinedPoints, Points, World, join

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class PointConditionRows:
    """meetings (k, 2); angles (l, 4) as (a, b, c, d); constants (l,). Rows: 3 a meeting, then the angles."""

    meetings: Array
    angles: Array
    constants: Array

    @property
    def count(self) -> int:
        """Number of scalar conditions."""
        return 3 * len(self.meetings) + len(self.angles)

    def violation(self, x: Array) -> Array:
        """phi, (count,): meetings [m], angles [m²] of unit axes."""
        a, b, c, d = self.angles.T
        meet = x[self.meetings[:, 1]] - x[self.meetings[:, 0]]
        return np.concatenate([meet.ravel(), np.einsum("li,li->l", x[b] - x[a], x[d] - x[c]) - self.constants])

    def jacobian(self, x: Array) -> Array:
        """G = dphi/dx, (count, 3 * point_count)."""
        G, unit = np.zeros((self.count, len(x), 3)), np.eye(3)
        for k, (i, j) in enumerate(self.meetings):
            G[3 * k : 3 * k + 3, i] -= unit
            G[3 * k : 3 * k + 3, j] += unit
        for r, (a, b, c, d) in enumerate(self.angles, start=3 * len(self.meetings)):
            first, second = x[b] - x[a], x[d] - x[c]
            G[r, a] -= second
            G[r, b] += second
            G[r, c] -= first
            G[r, d] += first
        return G.reshape(self.count, -1)

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest multiplier of each row: a joint pulls both ways."""
        return np.full(self.count, -np.inf), np.full(self.count, np.inf)

    @property
    def meets(self) -> Array:
        """Which rows ask points to meet: their forces are in balance only where the points do."""
        return np.arange(self.count) < 3 * len(self.meetings)

    is_driven = False

    @property
    def names(self) -> list[str]:
        """What each row asks for."""
        meet = [f"points meet in {axis}" for _ in self.meetings for axis in "xyz"]
        return meet + [f"axes stay at right angles, {k + 1} of {len(self.angles)}" for k in range(len(self.angles))]

    @property
    def units(self) -> list[str]:
        """Of each row's violation."""
        return ["m"] * (3 * len(self.meetings)) + ["m²"] * len(self.angles)

    @property
    def rates(self) -> Array:
        """dphi/dt where a row holds: zero."""
        return np.zeros(self.count)

    def begin(self, x: Array, dt: float, t1: float) -> None:
        """Nothing depends on the step."""

    def second(self, multipliers: Array, x: Array) -> Array:
        """d(G^T lambda)/dx, (point_count, point_count, 3, 3): constant, since phi is quadratic."""
        H = np.zeros((len(x), len(x), 3, 3))
        eye = np.eye(3)
        for l, (a, b, c, d) in zip(multipliers[3 * len(self.meetings) :], self.angles):
            for p, sign in ((a, -1.0), (b, 1.0)):
                for q, other in ((c, -1.0), (d, 1.0)):
                    H[p, q] += sign * other * l * eye
                    H[q, p] += sign * other * l * eye
        return H


def _rows(meetings: list[tuple[int, int]], angles: list[tuple[int, int, int, int]]) -> PointConditionRows:
    m = np.array(meetings, dtype=np.int64).reshape(-1, 2)
    a = np.array(angles, dtype=np.int64).reshape(-1, 4)
    return PointConditionRows(m, a, np.zeros(len(a)))


def _perpendicular(axis: Array) -> tuple[Array, Array]:
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    x = np.cross(axis, helper)
    x /= np.linalg.norm(x)
    return x, np.cross(axis, x)


@dataclass(frozen=True, eq=False)
class Joint:
    """A compiled-ready joint: points of both sides and the conditions between them.

    extra: limits and motor. coordinate: what is left free, read as a number. is_framed: the points are o, x, y, z of
    each side; else each side has as many points as the other.
    """

    points: JoinedPoints
    rows: PointConditionRows
    label: str
    extra: BoundedRows | None = None
    coordinate: JointCoordinate | None = None
    is_framed: bool = True

    @property
    def origins(self) -> Array:
        """Numbers of the points of the second side whose mean is the joint's place."""
        half = self.points.count // 2
        return np.array([half]) if self.is_framed else np.arange(half, 2 * half)


class Jointed(Protocol):
    """What a person adds to a scene as a joint."""

    def joint(self) -> Joint:
        """The points it holds, and how."""
        ...


@dataclass(frozen=True, eq=False)
class BallJoint:
    """Points of two sides that stay together. a, b: point sets of equal count, or two nodes and a world position.

    Where a tree or particles have no point at that position, a patch of them around it holds one.
    """

    a: Side | Points
    b: Side | Points = World
    at: ArrayLike | None = None

    def joint(self) -> Joint:
        """Three conditions a pair of points."""
        a, b = self.a, self.b
        if self.at is not None:
            p = np.atleast_2d(check_vector(self.at, name="at", where="BallJoint"))
            a, b = point_side(a, p, "ball joint"), point_side(b, p, "ball joint")
        elif b is World and isinstance(a, Points):
            b = World.points(a.rest)
        if not (isinstance(a, Points) and isinstance(b, Points)):
            raise InputError(
                "a BallJoint joins two point sets, or two nodes at a position", where="BallJoint", fix="Give at=."
            )
        if a.count != b.count:
            raise InputError(
                "the two sides have different numbers of points", where="BallJoint", value=(a.count, b.count)
            )
        pairs = [(i, a.count + i) for i in range(a.count)]
        return Joint(join(a, b), _rows(pairs, []), f"ball {a.label} - {b.label}", is_framed=False)


@dataclass(frozen=True, eq=False)
class HingeJoint:
    """Two bodies (or a body and the world) that turn about a common axis (3,) through `at` [m] at the start.

    patch_a, patch_b: which part of a soft body, a tree or a lattice serves as a frame there: a region as in
    `node.points`, a radius [m] around `at`, or None for what is near.
    limits: (lowest, highest) angle [rad] of a against b, within a half turn. motor_speed: [rad/s], a number or a
    function of time, kept with at most motor_torque [N m].
    """

    a: Side
    b: Side = World
    at: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (0.0, 0.0, 1.0)
    patch_a: Patch = field(default=None, kw_only=True)
    patch_b: Patch = field(default=None, kw_only=True)
    limits: tuple[float, float] | None = field(default=None, kw_only=True)
    motor_speed: MotorSpeed = field(default=None, kw_only=True)
    motor_torque: float = field(default=float("inf"), kw_only=True)

    def joint(self) -> Joint:
        """Points (o, x, y, z of a; o, x, y, z of b): meet in o, z of a normal to x and y of b."""
        o, axes = _joint_axes(self.at, self.axis, "HingeJoint")
        _check_limits(self.limits, "HingeJoint")
        if self.limits is not None and not (-np.pi < self.limits[0] <= 0 <= self.limits[1] < np.pi):
            raise InputError(
                "the limits do not contain the start",
                where="HingeJoint",
                value=self.limits,
                allowed="-pi < low <= 0 <= high < pi",
            )
        _check_motor(self.motor_speed, self.motor_torque, "motor_torque", self.limits is not None, "HingeJoint")
        tips = np.vstack([o, o + axes])
        sides = ((self.a, self.patch_a), (self.b, self.patch_b))
        points = join(*(held_side(node, tips, "hinge", patch) for node, patch in sides))
        rows = _rows([(0, 4)], [(0, 3, 4, 5), (0, 3, 4, 6)])
        extra = BoundedRows(HingeAngle(), self.limits, self.motor_speed, self.motor_torque)
        label = f"hinge {_name(self.a)} - {_name(self.b)}"
        return Joint(points, rows, label, extra if extra.count else None, extra.coordinate)


@dataclass(frozen=True, eq=False)
class SliderJoint:
    """b slides along an axis (3,) of a through `at` [m], without turning against it; patches: as of a hinge.

    limits: (lowest, highest) displacement [m] of a against b. motor_speed: [m/s], a number or a function of time, kept
    with at most motor_force [N].
    """

    a: Side
    b: Side = World
    at: ArrayLike = (0.0, 0.0, 0.0)
    axis: ArrayLike = (0.0, 0.0, 1.0)
    patch_a: Patch = field(default=None, kw_only=True)
    patch_b: Patch = field(default=None, kw_only=True)
    limits: tuple[float, float] | None = field(default=None, kw_only=True)
    motor_speed: MotorSpeed = field(default=None, kw_only=True)
    motor_force: float = field(default=float("inf"), kw_only=True)

    def joint(self) -> Joint:
        """The origin of b stays on a's z axis, the axes stay parallel."""
        o, axes = _joint_axes(self.at, self.axis, "SliderJoint")
        _check_limits(self.limits, "SliderJoint")
        if self.limits is not None and not (-np.inf < self.limits[0] <= 0 <= self.limits[1] < np.inf):
            raise InputError(
                "the limits do not contain the start",
                where="SliderJoint",
                value=self.limits,
                allowed="low <= 0 <= high, both finite",
            )
        _check_motor(self.motor_speed, self.motor_force, "motor_force", self.limits is not None, "SliderJoint")
        tips = np.vstack([o, o + axes])
        sides = ((self.a, self.patch_a), (self.b, self.patch_b))
        points = join(*(held_side(node, tips, "slider", patch) for node, patch in sides))
        rows = _rows([], [(0, 1, 0, 4), (0, 2, 0, 4), (0, 2, 4, 7), (0, 3, 4, 5), (0, 1, 4, 6)])
        extra = BoundedRows(SlideDisplacement(), self.limits, self.motor_speed, self.motor_force)
        label = f"slider {_name(self.a)} - {_name(self.b)}"
        return Joint(points, rows, label, extra if extra.count else None, extra.coordinate)


@dataclass(frozen=True, eq=False)
class FixedJoint:
    """b is held fast to a around `at` [m], as they stand at the start; patches: as of a hinge."""

    a: Side
    b: Side = World
    at: ArrayLike = (0.0, 0.0, 0.0)
    patch_a: Patch = field(default=None, kw_only=True)
    patch_b: Patch = field(default=None, kw_only=True)

    def joint(self) -> Joint:
        """Origins meet, axes stay parallel."""
        o, axes = _joint_axes(self.at, (0.0, 0.0, 1.0), "FixedJoint")
        tips = np.vstack([o, o + axes])
        sides = ((self.a, self.patch_a), (self.b, self.patch_b))
        points = join(*(held_side(node, tips, "fixed joint", patch) for node, patch in sides))
        rows = _rows([(0, 4)], [(0, 2, 4, 7), (0, 3, 4, 5), (0, 1, 4, 6)])
        return Joint(points, rows, f"fixed joint {_name(self.a)} - {_name(self.b)}")


def _check_limits(limits: tuple[float, float] | None, where: str) -> None:
    if limits is not None:
        check_vector(limits, name="limits", where=where, size=2)


def _check_motor(speed: MotorSpeed, largest: float, name: str, is_limited: bool, where: str) -> None:
    """Refuse numbers that are none, and a motor that nothing bounds against limits. name: of its largest effort."""
    check_number(largest, name=name, where=where, above=0.0, infinite=True)
    if speed is None or callable(speed):
        return
    check_number(speed, name="motor_speed", where=where)
    if is_limited and speed != 0 and not np.isfinite(largest):
        raise InputError(
            "a motor without a limit drives against the limits of its joint",
            where=where,
            value=speed,
            fix=f"Give {name}: at the limit the motor pushes with that and no more.",
        )


def _name(node: Side) -> str:
    return "world" if node is None else str(node.name)


def _joint_axes(at: ArrayLike, axis: ArrayLike, where: str) -> tuple[Array, Array]:
    o, z = check_vector(at, name="at", where=where), check_vector(axis, name="axis", where=where)
    if np.linalg.norm(z) == 0:
        raise InputError("the axis is zero", where=where)
    z = z / np.linalg.norm(z)
    x, y = _perpendicular(z)
    return o, np.vstack([x, y, z])
