"""Obstacles with formulas: planes, balls, boxes, capsules and a height field; distance and normal of many points.

    plane      n . x - offset                            ball      |x - c| - R
    capsule    |x - c - s u| - R, s u along its axis     box       as in `bodies/voxel/surroundings`
    ground     (z - h(x, y)) n_z, n = (-h_x, -h_y, 1) / |...|: exact on slopes, to first order where they change

A mesh as an obstacle is a `ContactSurface` with fixed=True.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense import rotations
from supple.bodies.placement import check_vector
from supple.bodies.voxel.touching.obstacles import Box, HeightField, Plane, Sphere
from supple.contact.narrow.obstacle_kernels import (
    compute_box_distance,
    compute_capsule_distance,
    compute_ground_distance,
    compute_plane_distance,
)
from supple.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Capsule:
    """All points within radius [m] of the line between start (3,) and end (3,) [m].

    >>> gap, normal = distance(Capsule((0, 0, 0), (1, 0, 0), 0.1), [[0.5, 0.0, 0.3]])
    >>> round(float(gap[0]), 12), normal[0].tolist()
    (0.2, [0.0, 0.0, 1.0])
    """

    start: ArrayLike
    end: ArrayLike
    radius: float

    def __post_init__(self) -> None:
        for name in ("start", "end"):
            object.__setattr__(self, name, check_vector(getattr(self, name), name=name, where="Capsule"))
        if not (np.isfinite(self.radius) and self.radius > 0):
            raise InputError("the radius is not positive", where="Capsule", value=self.radius, allowed="> 0 m")


Obstacle = Plane | Sphere | Box | HeightField | Capsule


def distance(obstacle: Obstacle, x: ArrayLike) -> tuple[Array, Array]:
    """Signed distance [m], (k,), negative inside, and outward unit normal (k, 3) of points x (k, 3) [m].

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
        axes = np.ascontiguousarray(rotations.to_matrix(np.asarray(obstacle.rotation)).T)
        compute_box_distance(points, np.asarray(obstacle.centre), axes, np.asarray(obstacle.edges) / 2, gap, normal)
    elif isinstance(obstacle, HeightField):
        place = np.r_[np.asarray(obstacle.origin), np.asarray(obstacle.spacing)]
        compute_ground_distance(points, np.asarray(obstacle.heights), place, gap, normal)
    else:
        raise InputError(
            "not an obstacle",
            where="distance",
            value=type(obstacle).__name__,
            allowed="Plane, Sphere, Box, HeightField, Capsule",
        )
    return gap, normal
