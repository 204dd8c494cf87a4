"""Resting: how high a robot stands that is let down from above until it touches the ground.

A voxel touches an obstacle where its centre is within half of its edge, as in `supple.design.touching`. The robot is
let down by the least gap of its voxels again and again, which never passes an obstacle, until nothing is left of it.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from supple.algebra.dense import rotations
from supple.contact import MeshObstacle, Obstacle, distance
from supple.errors import InputError
from supple.interaction.obstacles import Plane

Array = np.ndarray
HIGH = 1e4  # from which it is let down, and below which there is nothing [m]
CLOSE = 1e-10  # [m]
MOST_STEPS = 10_000
DIGITS = 9
"""Heights are rounded to nanometres, so that a robot on a level floor stands on it exactly."""


def resting_lift(obstacles: Iterable[Obstacle], centres: Array, size: float) -> float:
    """How far voxels with this edge [m] and these centres (n, 3) [m] are lifted to rest on what is below [m]; 0 where
    nothing is. Walls and ceilings that are planes are no ground.

    >>> from supple.interaction.obstacles import Box, Floor
    >>> there = [Floor(), Box((0, 0, 0.1), (0.2, 0.2, 0.2))]
    >>> resting_lift(there, np.array([[0.0, 0.0, 0.05]]), 0.1), resting_lift(there, np.array([[1.0, 0.0, 0.05]]), 0.1)
    (0.2, 0.0)
    """
    ground = [one for one in obstacles if not (isinstance(one, Plane) and np.asarray(one.normal)[2] <= 0)]
    for one in ground:
        if isinstance(one, MeshObstacle):
            raise InputError("a robot is not let down on a mesh", where="evaluation, at", value=one.name or one.kind,
                             fix="Say how high it stands: at=(x, y, z).")  # fmt: skip
    lift = HIGH
    for _ in range(MOST_STEPS if ground else 0):
        gap = min(float(_gaps(one, centres, lift).min()) for one in ground) - size / 2
        if gap < CLOSE:
            return round(lift, DIGITS) + 0.0
        lift -= gap
        if lift < -HIGH:
            break
    else:
        if ground:
            raise InputError("where the robot rests on the ground is not found", where="evaluation, at",
                             fix="Say how high it stands: at=(x, y, z).")  # fmt: skip
    return 0.0


def _gaps(obstacle: Obstacle, centres: Array, lift: float) -> Array:
    pose = obstacle.pose(0.0)
    return distance(obstacle, (centres + np.array([0, 0, lift]) - pose[:3]) @ rotations.to_matrix(pose[3:7]))[0]
