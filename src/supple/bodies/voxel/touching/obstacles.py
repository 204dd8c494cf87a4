"""Obstacles that voxels rest on: a penalty normal to the surface, and Coulomb's friction along it.

    p = size/2 - (n . x - offset),   N = max(0, k p - c n . v),   k = 2 E l,   c = 2 zeta sqrt(m E l)
    V* = V + dt F/m without friction, along the plane
    at rest:   |V*| <= mu_s N dt/m stays at rest                                             [HL12, eq. 36]
    sliding:   |V*| <= mu_d N dt/m stops; else V = V* (1 - mu_d N dt / (m |V*|))             [HL12, eqs. 37, 38]

Eq. 38 tests the velocity before the step; tested is the candidate V*, so that friction never turns a motion round. A
voxel counts as at rest while it does not move along the plane. The normal force never pulls. Contact acts at the
voxel's centre: it exerts no torque. On a sphere n points from its centre to the voxel, and p = size/2 + R - distance;
boxes and the ground likewise, by the distance to their surfaces.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.bodies.placement import as_quaternion, check_vector
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.touching.surroundings import sample_ground
from supple.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Plane:
    """The half-space normal . x >= offset is free: normal (3,) of any length, offset [m]. Plane() is a floor."""

    normal: ArrayLike = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        n = check_vector(self.normal, name="normal", where="Plane")
        length = float(np.linalg.norm(n))
        if length == 0:
            raise InputError("the normal is zero", where="Plane")
        if not np.isfinite(self.offset):
            raise InputError("the offset is not finite", where="Plane", value=self.offset)
        object.__setattr__(self, "normal", n / length)


@dataclass(frozen=True)
class Sphere:
    """A ball that stays where it is: centre (3,) [m], radius [m]."""

    centre: tuple[float, float, float]
    radius: float

    def __post_init__(self) -> None:
        centre = check_vector(self.centre, name="centre", where="Sphere")
        if not (np.isfinite(self.radius) and self.radius > 0):
            raise InputError("the radius is not positive", where="Sphere", value=self.radius, allowed="> 0 m")
        object.__setattr__(self, "centre", (float(centre[0]), float(centre[1]), float(centre[2])))


@dataclass(frozen=True, eq=False)
class Box:
    """A block that stays where it is: centre (3,) [m], edges (3,) [m], rotation: a rotation vector (3,) [rad] or a
    quaternion (4,)."""

    centre: ArrayLike
    edges: ArrayLike
    rotation: ArrayLike | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "centre", check_vector(self.centre, name="centre", where="Box"))
        edges = check_vector(self.edges, name="edges", where="Box")
        if (edges <= 0).any():
            raise InputError("an edge is not positive", where="Box", value=edges.tolist(), allowed="> 0 m")
        object.__setattr__(self, "edges", edges)
        object.__setattr__(self, "rotation", as_quaternion(self.rotation, where="Box"))


@dataclass(frozen=True, eq=False)
class HeightField:
    """A height field: heights (rows, columns) [m] at x = origin_x + i spacing_x, y = origin_y + j spacing_y.

    Bilinear in between, level beyond its borders. origin (2,) [m], spacing: one or (2,) [m].

    >>> HeightField([[0.0, 0.0], [0.5, 0.5]], origin=(0, 0), spacing=1.0).height(0.5, 0.25)
    0.25
    """

    heights: ArrayLike
    origin: ArrayLike = (0.0, 0.0)
    spacing: ArrayLike = 1.0

    def __post_init__(self) -> None:
        heights = np.array(self.heights, dtype=float)
        if heights.ndim != 2 or min(heights.shape) < 2 or not np.isfinite(heights).all():
            raise InputError(
                "the heights are not a table of finite numbers",
                where="HeightField",
                value=heights.shape,
                allowed=">= 2x2",
            )
        origin, spacing = np.asarray(self.origin, dtype=float), np.asarray(self.spacing, dtype=float)
        if origin.shape != (2,) or not np.isfinite(origin).all():
            raise InputError("the origin is not two finite numbers", where="HeightField", value=self.origin)
        if spacing.shape not in ((), (2,)) or not (np.isfinite(spacing) & (spacing > 0)).all():
            raise InputError("the spacing is not positive", where="HeightField", value=self.spacing, allowed="> 0 m")
        object.__setattr__(self, "heights", heights)
        object.__setattr__(self, "origin", origin)
        object.__setattr__(self, "spacing", np.broadcast_to(spacing, 2).copy())

    def height(self, x: float, y: float) -> float:
        """Height at a place [m]."""
        return float(sample_ground(np.asarray(self.heights), self._place, float(x), float(y))[0])

    @property
    def _place(self) -> Array:
        """Origin, spacing, and the highest height, (5,)."""
        return np.r_[np.asarray(self.origin), np.asarray(self.spacing), np.asarray(self.heights).max()]


Obstacle = Plane | Sphere | Box | HeightField


def obstacle_arrays(obstacles: Sequence[Obstacle], axes: Sequence[int]) -> dict[str, Array]:
    """The obstacles as the sweep takes them, in its axes."""
    chosen = list(axes)
    rows: dict[type, list[Array]] = {Plane: [], Sphere: [], Box: []}
    ground, place = np.zeros((0, 0)), np.zeros(0)
    for obstacle in obstacles:
        if isinstance(obstacle, HeightField):
            if ground.size:
                raise InputError("there is more than one height field", where="obstacles", allowed="one HeightField")
            ground, place = np.asarray(obstacle.heights), np.r_[obstacle._place, np.argsort(chosen)]
        elif isinstance(obstacle, Box):
            R = rotations.to_matrix(np.asarray(obstacle.rotation)).T  # rows: axes of the box
            centre = np.asarray(obstacle.centre)[chosen]
            rows[Box].append(np.r_[centre, R[:, chosen].ravel(), np.asarray(obstacle.edges) / 2])
        elif isinstance(obstacle, Sphere):
            rows[Sphere].append(np.r_[np.asarray(obstacle.centre)[chosen], obstacle.radius])
        elif isinstance(obstacle, Plane):
            rows[Plane].append(np.r_[np.asarray(obstacle.normal)[chosen], obstacle.offset])
        else:
            raise InputError(
                "not an obstacle",
                where="obstacles",
                value=type(obstacle).__name__,
                allowed="Plane, Sphere, Box, HeightField",
            )
    planes, spheres, boxes = (np.concatenate(r) if r else np.zeros(0) for r in rows.values())
    return {"planes": planes, "spheres": spheres, "boxes": boxes, "ground": ground, "ground_place": place}


def contact_constants(model: VoxelModel) -> Array:
    """k/m [1/s²], c/m [1/s], mu_s, mu_d of each voxel, (n, 4)."""
    square = model.values("young") * model.size / model.mass
    return np.stack(
        [
            2 * square,
            2 * model.values("contact_damping") * np.sqrt(square),
            model.values("static_friction"),
            model.values("kinetic_friction"),
        ],
        axis=1,
    )
