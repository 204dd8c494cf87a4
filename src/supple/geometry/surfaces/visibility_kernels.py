"""Lines of sight through a grid of filled cells."""

from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled

Array = np.ndarray


@compiled(inline=True)
def sees(filled: Array, a: Array, b: Array, tolerance: float) -> bool:
    """Whether the way from a to b, in cells, leaves the filled cells by no more than `tolerance` cells of length.

    It is sampled twice a cell.
    """
    length = np.sqrt((b[0] - a[0]) ** 2 + (b[1] - a[1]) ** 2 + (b[2] - a[2]) ** 2)
    count = int(2.0 * length) + 1
    step = length / count
    outside = 0.0
    for sample in range(1, count):
        t = sample / count
        i = int(np.floor(a[0] + t * (b[0] - a[0])))
        j = int(np.floor(a[1] + t * (b[1] - a[1])))
        k = int(np.floor(a[2] + t * (b[2] - a[2])))
        within = 0 <= i < filled.shape[0] and 0 <= j < filled.shape[1] and 0 <= k < filled.shape[2]
        if not within or filled[i, j, k] == 0:
            outside += step
        if outside > tolerance:
            return False
    return True


@compiled
def add_group_visibility(filled: Array, points: Array, groups: Array, tolerance: float, seen_out: Array) -> None:
    """Count, for each pair of groups, the pairs of points that see each other.

    filled (nx, ny, nz) uint8; points (p, 3) in cells; groups (p,); seen_out (g, g): symmetric.
    """
    for i in range(len(points)):
        for j in range(i + 1, len(points)):
            if sees(filled, points[i], points[j], tolerance):
                seen_out[groups[i], groups[j]] += 1
                seen_out[groups[j], groups[i]] += 1


@compiled
def compute_point_visibility(filled: Array, points: Array, targets: Array, tolerance: float, share_out: Array) -> None:
    """Share of targets (t, 3) that each point (p, 3) sees, share_out (p,)."""
    for i in range(len(points)):
        seen = 0
        for j in range(len(targets)):
            if sees(filled, points[i], targets[j], tolerance):
                seen += 1
        share_out[i] = seen / len(targets)
