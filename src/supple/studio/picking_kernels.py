"""Rays that meet triangles, in a compiled loop."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled


@compiled
def nearest_triangle(points, triangles, origin, ray):
    """Number of the triangle that a ray meets first, how far along it, and the weights of its second and third corner;
    -1 where it meets none [Moeller97]."""
    best, far, u_best, v_best = -1, np.inf, 0.0, 0.0
    for k in range(len(triangles)):
        a, b, c = points[triangles[k, 0]], points[triangles[k, 1]], points[triangles[k, 2]]
        e0, e1, e2 = b[0] - a[0], b[1] - a[1], b[2] - a[2]
        f0, f1, f2 = c[0] - a[0], c[1] - a[1], c[2] - a[2]
        p0, p1, p2 = ray[1] * f2 - ray[2] * f1, ray[2] * f0 - ray[0] * f2, ray[0] * f1 - ray[1] * f0
        volume = e0 * p0 + e1 * p1 + e2 * p2
        if volume == 0.0:
            continue
        s0, s1, s2 = origin[0] - a[0], origin[1] - a[1], origin[2] - a[2]
        u = (s0 * p0 + s1 * p1 + s2 * p2) / volume
        q0, q1, q2 = s1 * e2 - s2 * e1, s2 * e0 - s0 * e2, s0 * e1 - s1 * e0
        v = (ray[0] * q0 + ray[1] * q1 + ray[2] * q2) / volume
        t = (f0 * q0 + f1 * q1 + f2 * q2) / volume
        if u >= 0.0 and v >= 0.0 and u + v <= 1.0 and 0.0 < t < far:
            best, far, u_best, v_best = k, t, u, v
    return best, far, u_best, v_best
