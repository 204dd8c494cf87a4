"""Which voxels touch an obstacle."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from supple.algebra.dense import rotations
from supple.contact import MeshObstacle, Obstacle, distance

Array = np.ndarray


def touching(obstacles: Iterable[Obstacle], x: Array, size: Array | float, time: float) -> Array:
    """Whether voxels of centres x (n, 3) and sizes (n,) [m] touch an obstacle at a time [s], (n,); meshes are met by
    surfaces alone."""
    found = np.zeros(len(x), dtype=bool)
    for obstacle in obstacles:
        if isinstance(obstacle, MeshObstacle):
            continue
        pose = obstacle.pose(time)
        local = (x - pose[:3]) @ rotations.to_matrix(pose[3:7])
        found |= distance(obstacle, local)[0] < np.asarray(size) / 2
    return found
