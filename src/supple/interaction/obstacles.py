"""Obstacles: surfaces of the world that bodies rest on and run into. They belong to the scene, and stay where they are
or move as they are told: nothing that touches them changes their motion.

    plane      n . x - offset                            sphere    |x - c| - R
    capsule    |x - c - s u| - R, s u along its axis     box       |max(q, 0)| outside, max q inside, q = |A x| - h
    height     (z - h(x, y)) n_z, n = (-h_x, -h_y, 1) / |...|: exact on slopes, to first order where they change
    mesh       the nearest triangle

Each may have coefficients of friction and of restitution of its own, which then hold for every body, and a name, by
which contacts leave it out and reports call it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import as_quaternion, check_array, check_vector
from supple.errors import InputError, check_instance, check_number
from supple.geometry import SurfaceMesh
from supple.interaction.motion import Motion
from supple.interaction.obstacle_kernels import (
    compute_box_distance,
    compute_capsule_distance,
    compute_height_distance,
    compute_plane_distance,
    sample_heights,
)

Array = np.ndarray
OWN = ("friction", "static_friction", "restitution", "motion", "name")
"""What obstacles have beside their surface."""


def check_static_friction(static: float | None, friction: float | None, where: str) -> None:
    """Refuse one that is smaller than the friction of contacts that slide."""
    if static is None:
        return
    check_number(static, name="static_friction", where=where, least=0.0)
    if friction is not None and static < friction:
        raise InputError(
            "static friction is smaller than friction",
            where=where,
            value=static,
            allowed=f">= {friction:g}",
            fix="friction is that of contacts that slide: make it smaller, or leave static_friction out.",
        )


@dataclass(frozen=True, eq=False)
class Obstacle:
    """What all obstacles have. friction: Coulomb's coefficient, None: that of the contact or of the material.

    static_friction: of contacts that do not slide, at least `friction`; None: the same, or that of the contact.
    restitution: speed after an impact over that before, 0 to 1, of rigid bodies and balls; None: that of the contact.
    motion: how it moves from where it is given, with its friction: a plane that moves along itself is a conveyor; None:
    it stays. name: None takes the class in small letters, with a number where it is taken.
    """

    friction: float | None = field(default=None, kw_only=True)
    static_friction: float | None = field(default=None, kw_only=True)
    restitution: float | None = field(default=None, kw_only=True)
    motion: Motion | None = field(default=None, kw_only=True)
    name: str | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        if self.motion is not None and not isinstance(self.motion, Motion):
            raise InputError(
                "this is not a motion", where=self.kind, value=self.motion, fix="Use Motion(velocity=...)."
            )
        if self.friction is not None:
            check_number(self.friction, name="friction", where=self.kind, least=0.0)
        check_static_friction(self.static_friction, self.friction, self.kind)
        if self.restitution is not None:
            check_number(self.restitution, name="restitution", where=self.kind, least=0.0, most=1.0)
        if self.name is not None:
            check_instance(self.name, str, "a name", where=self.kind)
        if self.name == "":
            raise InputError("the name is empty", where=self.kind)

    @property
    def kind(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def pose(self, time: float) -> Array:
        """Where it is at a time [s]: a frame (7,) that carries it from where it is given, x = position + R X."""
        return np.array([0.0, 0, 0, 1, 0, 0, 0]) if self.motion is None else self.motion.pose(time)

    def velocity_at(self, time: float, points: ArrayLike) -> Array:
        """Velocities (k, 3) [m/s] at a time [s] of its material at points (k, 3) [m] in the world."""
        x = np.asarray(points, dtype=float).reshape(-1, 3)
        return np.zeros_like(x) if self.motion is None else self.motion.velocity_at(time, x)

    def same_place(self, other: Obstacle) -> bool:
        """Whether another obstacle has the same surface."""
        shape = [f.name for f in fields(self) if f.name not in OWN]
        same_kind = isinstance(self, type(other)) or isinstance(other, type(self))
        return same_kind and all(_equal(getattr(self, name), getattr(other, name)) for name in shape)


@dataclass(frozen=True, eq=False)
class Plane(Obstacle):
    """The half-space normal . x >= offset is free: normal (3,) of any length, offset [m]."""

    normal: ArrayLike = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        n = check_vector(self.normal, name="normal", where=self.kind)
        length = float(np.linalg.norm(n))
        if length == 0:
            raise InputError("the normal is zero", where=self.kind)
        check_number(self.offset, name="offset", where=self.kind)
        object.__setattr__(self, "normal", n / length)


class Floor(Plane):
    """The half-space z >= height is free; height [m].

    >>> floor = Floor(friction=0.8)
    >>> floor.normal.tolist(), floor.offset
    ([0.0, 0.0, 1.0], 0.0)
    """

    def __init__(
        self,
        height: float = 0.0,
        *,
        friction: float | None = None,
        static_friction: float | None = None,
        restitution: float | None = None,
        motion: Motion | None = None,
        name: str | None = None,
    ) -> None:
        own: dict[str, Any] = dict(zip(OWN, (friction, static_friction, restitution, motion, name)))
        super().__init__((0.0, 0.0, 1.0), height, **own)


@dataclass(frozen=True, eq=False)
class Sphere(Obstacle):
    """A ball: centre (3,) [m], radius [m]."""

    centre: ArrayLike
    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "centre", check_vector(self.centre, name="centre", where="Sphere"))
        check_number(self.radius, name="radius", where="Sphere", above=0.0)


@dataclass(frozen=True, eq=False)
class Capsule(Obstacle):
    """All points within radius [m] of the line between start (3,) and end (3,) [m].

    >>> gap, normal = distance(Capsule((0, 0, 0), (1, 0, 0), 0.1), [[0.5, 0.0, 0.3]])
    >>> round(float(gap[0]), 12), normal[0].tolist()
    (0.2, [0.0, 0.0, 1.0])
    """

    start: ArrayLike
    end: ArrayLike
    radius: float

    def __post_init__(self) -> None:
        super().__post_init__()
        for name in ("start", "end"):
            object.__setattr__(self, name, check_vector(getattr(self, name), name=name, where="Capsule"))
        check_number(self.radius, name="radius", where="Capsule", above=0.0)


@dataclass(frozen=True, eq=False)
class Box(Obstacle):
    """A block: centre (3,) [m], edges (3,) [m], rotation: a rotation vector (3,) [rad] or a quaternion (4,)."""

    centre: ArrayLike
    edges: ArrayLike
    rotation: ArrayLike | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "centre", check_vector(self.centre, name="centre", where="Box"))
        edges = check_vector(self.edges, name="edges", where="Box")
        if (edges <= 0).any():
            raise InputError("an edge is not positive", where="Box", value=edges.tolist(), allowed="> 0 m")
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "rotation", as_quaternion(self.rotation, where="Box"))

    @property
    def axes(self) -> Array:
        """Its axes as rows, (3, 3)."""
        return np.ascontiguousarray(rotations.to_matrix(np.asarray(self.rotation)).T)


@dataclass(frozen=True, eq=False)
class HeightField(Obstacle):
    """A height field: heights (rows, columns) [m] at x = origin_x + i spacing_x, y = origin_y + j spacing_y.

    Bilinear in between, level beyond its borders. origin (2,) [m], spacing: one or (2,) [m].

    >>> HeightField([[0.0, 0.0], [0.5, 0.5]], origin=(0, 0), spacing=1.0).height(0.5, 0.25)
    0.25
    """

    heights: ArrayLike
    origin: ArrayLike = (0.0, 0.0)
    spacing: ArrayLike = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        heights = check_array(self.heights, name="heights", where="HeightField").copy()
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
            raise InputError(
                "the heights are not a table of finite numbers",
                where="HeightField",
                value=heights.shape,
                allowed=">= 2x2",
            )
        origin = check_array(self.origin, name="origin", where="HeightField")
        spacing = check_array(self.spacing, name="spacing", where="HeightField")
        if origin.shape != (2,) or not np.isfinite(origin).all():
            raise InputError("the origin is not two finite numbers", where="HeightField", value=self.origin)
        if spacing.shape not in ((), (2,)) or not (np.isfinite(spacing) & (spacing > 0)).all():
            raise InputError("the spacing is not positive", where="HeightField", value=self.spacing, allowed="> 0 m")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "spacing", np.broadcast_to(spacing, 2).copy())

    def height(self, x: float, y: float) -> float:
        """Height at a place [m]."""
        return float(sample_heights(np.asarray(self.heights), self.place, float(x), float(y))[0])

    @property
    def place(self) -> Array:
        """Origin and spacing, (4,)."""
        return np.r_[np.asarray(self.origin), np.asarray(self.spacing)]


@dataclass(frozen=True, eq=False)
class MeshObstacle(Obstacle):
    """A surface mesh; its triangles face outward."""

    mesh: SurfaceMesh

    def __post_init__(self) -> None:
        super().__post_init__()
        if not isinstance(self.mesh, SurfaceMesh):
            raise InputError("this is not a surface mesh", where="MeshObstacle", value=type(self.mesh).__name__)


def _equal(a: Any, b: Any) -> bool:
    if isinstance(a, SurfaceMesh):
        return _equal(a.nodes, b.nodes) and _equal(a.triangles, b.triangles)
    return np.shape(a) == np.shape(b) and bool(np.all(np.asarray(a) == np.asarray(b)))


def distance(obstacle: Obstacle, x: ArrayLike) -> tuple[Array, Array]:
    """Signed distance [m], (k,), negative inside, and outward unit normal (k, 3) of points x (k, 3) [m].

    Of every obstacle but a mesh, where it is given, whatever its motion.

    >>> gap, normal = distance(Plane(), [[0.0, 0.0, -0.25]])
    >>> gap.tolist(), normal.tolist()
    ([-0.25], [[0.0, 0.0, 1.0]])
    """
    points = np.ascontiguousarray(x, dtype=float)
    if points.ndim != 2 or points.shape[1] != 3:
        raise InputError("the points are not rows of x, y, z", where="distance", value=points.shape, allowed="(k, 3)")
    gap, normal = np.empty(len(points)), np.empty((len(points), 3))
    if isinstance(obstacle, Plane):
        compute_plane_distance(points, np.asarray(obstacle.normal), float(obstacle.offset), gap, normal)
    elif isinstance(obstacle, Sphere):
        centre = np.asarray(obstacle.centre)
        compute_capsule_distance(points, centre, centre, float(obstacle.radius), gap, normal)
    elif isinstance(obstacle, Capsule):
        start, end = np.asarray(obstacle.start), np.asarray(obstacle.end)
        compute_capsule_distance(points, start, end, float(obstacle.radius), gap, normal)
    elif isinstance(obstacle, Box):
        half = np.asarray(obstacle.edges) / 2
        compute_box_distance(points, np.asarray(obstacle.centre), obstacle.axes, half, gap, normal)
    elif isinstance(obstacle, HeightField):
        compute_height_distance(points, np.asarray(obstacle.heights), obstacle.place, gap, normal)
    else:
        raise InputError(
            "there is no formula for the distance",
            where="distance",
            value=type(obstacle).__name__,
            allowed="Plane, Sphere, Box, HeightField, Capsule",
        )
    return gap, normal
