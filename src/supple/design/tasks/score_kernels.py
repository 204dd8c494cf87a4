# mypy: disable-error-code="no-untyped-def"
"""Sums over the voxels of a body in the order of their numbers: centre, lowest point, uprightness, nearest approach."""

from __future__ import annotations

import math

from supple.algebra.compiling.compiled import compiled

CENTRE, LOWEST, UPRIGHT, NEAREST, SUMMARY = 0, 3, 4, 5, 6
"""Places in a summary, and how many there are."""
CELL_STATE = 9
"""Numbers of a voxel that `compute_cells` writes."""


@compiled
def compute_summary(x, mass, size, target, summary_out):
    """Of frames x (n, 7) with masses and sizes (n,): the centre of mass [m], the height of the lowest voxel's underside
    [m], the mean cosine between the voxels' z axes and the vertical, the least distance of a voxel to a target [m]."""
    total, lowest, nearest = 0.0, math.inf, math.inf
    cx, cy, cz, up = 0.0, 0.0, 0.0, 0.0
    for i in range(len(x)):
        total += mass[i]
        cx += mass[i] * x[i, 0]
        cy += mass[i] * x[i, 1]
        cz += mass[i] * x[i, 2]
        up += 1.0 - 2.0 * (x[i, 4] * x[i, 4] + x[i, 5] * x[i, 5])
        lowest = min(lowest, x[i, 2] - 0.5 * size[i])
        dx, dy, dz = x[i, 0] - target[0], x[i, 1] - target[1], x[i, 2] - target[2]
        nearest = min(nearest, math.sqrt(dx * dx + dy * dy + dz * dz))
    summary_out[0] = cx / total
    summary_out[1] = cy / total
    summary_out[2] = cz / total
    summary_out[3] = lowest
    summary_out[4] = up / len(x)
    summary_out[5] = nearest


@compiled
def compute_cells(x, v, centre, extent, links, rest, touches, cell_out):
    """What each voxel observes, in the first nine columns of cell_out: present, place relative to the centre over the
    grid's extent (3), velocity [m/s] (3), mean strain of its links, whether it touches something."""
    for i in range(len(x)):
        cell_out[i, 0] = 1.0
        for k in range(3):
            cell_out[i, 1 + k] = (x[i, k] - centre[k]) / extent
            cell_out[i, 4 + k] = v[i, k]
        cell_out[i, 7] = 0.0
        cell_out[i, 8] = touches[i]
    for i in range(len(x)):
        total, count = 0.0, 0
        for m in range(len(links)):
            one, two = links[m, 0], links[m, 1]
            if one == i or two == i:
                dx, dy, dz = x[two, 0] - x[one, 0], x[two, 1] - x[one, 1], x[two, 2] - x[one, 2]
                total += math.sqrt(dx * dx + dy * dy + dz * dz) / rest - 1.0
                count += 1
        if count > 0:
            cell_out[i, 7] = total / count
