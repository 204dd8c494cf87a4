"""Pressure and drag of a fluid on triangles, of which the part below its surface is wet.

S_ij = 2 ∫ l_i l_j over the wet part of a triangle, in its barycentric coordinates l;   1/6, 1/12 where all is wet
p_j  = rho x depth of corner j, so that   -∫ p l_i n dA = -N sum_j S_ij p_j,   exact for the linear pressure
wet  = sum_ij S_ij, the wet part of the area;   N = n A
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.scene.acting.wind_kernels import meet_triangle


@compiled
def cut_moments(t, u):
    """S of the triangle cut off at a corner, the edges from it at t and u: of corner and corner, corner and the ends of
    the edges, end and end of each, and of both."""
    area = t * u / 12.0  # (15.6)
    s0, s1, s2 = 3.0 - t - u, t, u  # sums of the barycentric coordinates of its corners
    own = 1.0 + (1.0 - t) * (1.0 - t) + (1.0 - u) * (1.0 - u)
    return (
        area * (own + s0 * s0),  # (15.6)
        area * ((1.0 - t) * t + s0 * s1),
        area * ((1.0 - u) * u + s0 * s2),
        area * (t * t + s1 * s1),
        area * (u * u + s2 * s2),
        area * s1 * s2,
    )


@compiled
def wet_moments(everywhere, d, S_out):
    """S (3, 3) of a triangle whose corners are at depths d (3,); everywhere: the fluid has no surface."""
    count = 3 if everywhere else 0
    for i in range(3):
        count += d[i] > 0.0 and not everywhere
    full = 0.0 if count <= 1 else 1.0
    for i in range(3):
        for j in range(3):
            S_out[i, j] = full * (2.0 if i == j else 1.0) / 12.0  # (15.5)
    if count in (0, 3):
        return
    a = 0  # the one corner that is wet, or the one that is dry
    for i in range(3):
        if (d[i] > 0.0) == (count == 1):
            a = i
    b, c = (a + 1) % 3, (a + 2) % 3
    sign = 1.0 if count == 1 else -1.0
    aa, ab, ac, bb, cc, bc = cut_moments(d[a] / (d[a] - d[b]), d[a] / (d[a] - d[c]))
    S_out[a, a] += sign * aa
    S_out[b, b] += sign * bb
    S_out[c, c] += sign * cc
    S_out[a, b] += sign * ab
    S_out[b, a] += sign * ab
    S_out[a, c] += sign * ac
    S_out[c, a] += sign * ac
    S_out[b, c] += sign * bc
    S_out[c, b] += sign * bc


@compiled
def compute_wet(everywhere, triangles, depth, S_out):
    """S of all triangles (t, 3, 3); depth (n,) [m] of the points."""
    d = np.empty(3)
    for n in range(len(triangles)):
        for i in range(3):
            d[i] = depth[triangles[n, i]]
        wet_moments(everywhere, d, S_out[n])


@compiled
def add_fluid(rho, half, pull, everywhere, depth, flow, triangles, x, v, f_out):
    """Pressure and drag of all triangles on their corners.

    rho [kg/m³], half: rho C / 2, pull [m/s²]: of gravity along the depth, depth (n,) [m], flow (3,) [m/s].
    """
    d, S = np.empty(3), np.empty((3, 3))
    for n in range(len(triangles)):
        i, j, k = triangles[n, 0], triangles[n, 1], triangles[n, 2]
        d[0], d[1], d[2] = depth[i], depth[j], depth[k]
        wet_moments(everywhere, d, S)
        wet = S.sum()
        if wet <= 0.0:
            continue
        nx, ny, nz, speed = meet_triangle(i, j, k, x, v, flow[0], flow[1], flow[2])
        along = min(speed, 0.0)
        drag = -half * along * along * wet / 3.0  # (15.4)
        for c in range(3):
            share = drag - rho * pull * (S[c, 0] * d[0] + S[c, 1] * d[1] + S[c, 2] * d[2])  # (15.4)
            p = triangles[n, c]
            f_out[p, 0] += share * nx
            f_out[p, 1] += share * ny
            f_out[p, 2] += share * nz
