"""Which cells of a grid form a rigid body, and where two of these share faces.

Cells of one rigid material that share faces are one rigid body. Two bodies of different rigid materials that share
faces are joined at the middles of these: one face makes a ball joint, faces in a line a hinge, all others hold them
fast. Three points say as much as all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.ndimage import label

Array = np.ndarray
FLAT = 1e-6
"""Of a voxel: points that lie closer than this to a line are on it."""


class SharedFaces(NamedTuple):
    """Pairs of points that stay together. voxel (k, 2); local (k, 2, 3) [m]: the points in the axes of their voxels."""

    voxel: Array
    local: Array


def find_groups(materials: Array, rigid: Sequence[int]) -> Array:
    """Number of the rigid body that each cell of a grid belongs to, -1: none. rigid: numbers of the rigid materials.

    >>> find_groups(np.array([[[2, 2, 1, 2]]]), [2]).ravel().tolist()
    [0, 0, -1, 1]
    """
    group, count = np.full(materials.shape, -1, dtype=np.int64), 0
    for number in rigid:
        found, more = label(materials == number)
        group[found > 0] = count + found[found > 0] - 1
        count += more
    return group


def shared_faces(centres: Array, size: Array, group: Array, link_voxels: Array, link_axis: Array) -> SharedFaces:
    """Where rigid bodies hold each other. centres (n, 3), size (n,) [m] at rest; group (n,): as of `find_groups`."""
    pairs = group[link_voxels]
    joined = np.flatnonzero((pairs >= 0).all(axis=1) & (pairs[:, 0] != pairs[:, 1]))
    way = np.eye(3)[link_axis[joined]] * (size[link_voxels[joined, 0]] / 2)[:, None]
    middle = centres[link_voxels[joined, 0]] + way
    chosen: list[int] = []
    pairs = np.sort(pairs[joined], axis=1)
    for pair in np.unique(pairs, axis=0):
        own = np.flatnonzero((pairs == pair).all(axis=1))
        chosen += own[spanning(middle[own], FLAT * float(size.max()))].tolist()
    voxel = link_voxels[joined[chosen]].astype(np.int64).reshape(-1, 2)
    return SharedFaces(voxel, np.stack([way[chosen], -way[chosen]], axis=1).reshape(-1, 2, 3))


def spanning(points: Array, near: float) -> Array:
    """Numbers of one point, of two on the line of all, or of three on their plane; near [m]: as good as on it.

    >>> spanning(np.array([[0, 0, 0], [1, 0, 0], [2, 0, 0]]), 1e-9).tolist()
    [0, 2]
    """
    first = int(np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1)))
    apart = points - points[first]
    far = np.linalg.norm(apart, axis=1)
    second = int(np.argmax(far))
    if far[second] <= near:
        return np.array([first])
    along = apart[second] / far[second]
    beside = np.linalg.norm(apart - np.outer(apart @ along, along), axis=1)
    third = int(np.argmax(beside))
    return np.array([first, second] if beside[third] <= near else [first, second, third])
