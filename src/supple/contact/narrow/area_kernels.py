"""The area that a touching vertex stands for: a third of what its triangles turn to the other side.

    a = sum_t A_t max(0, -n . n_t) / 3,        at least LEAST of a third of their areas

A cube on a plane touches with its lower face, not with the thirds of its sides that its corners own as well.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

from supple.algebra.compiling.compiled import compiled

LEAST = 0.05


@compiled
def compute_facing_areas(x, triangles, start, around, vertex, normal, area_out):
    """area_out (k,) [m²] of vertices (k,) that are pushed along normals (k, 3); x (n, 3) [m], triangles (m, 3).

    The triangles around vertex i are around[start[i]] ... around[start[i + 1] - 1].
    """
    for k in range(len(vertex)):
        facing, whole = 0.0, 0.0
        for e in range(start[vertex[k]], start[vertex[k] + 1]):
            t = around[e]
            a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
            x1, y1, z1 = x[b, 0] - x[a, 0], x[b, 1] - x[a, 1], x[b, 2] - x[a, 2]
            x2, y2, z2 = x[c, 0] - x[a, 0], x[c, 1] - x[a, 1], x[c, 2] - x[a, 2]
            nx, ny, nz = y1 * z2 - z1 * y2, z1 * x2 - x1 * z2, x1 * y2 - y1 * x2
            whole += math.sqrt(nx * nx + ny * ny + nz * nz)
            facing += max(0.0, -(nx * normal[k, 0] + ny * normal[k, 1] + nz * normal[k, 2]))  # (16.1)
        area_out[k] = max(facing, LEAST * whole) / 6.0  # (16.1)
