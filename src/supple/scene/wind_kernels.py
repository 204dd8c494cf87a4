"""Drag of a moving air on triangles. Symbols as in `supple.scene.wind`."""

# mypy: ignore-errors
from __future__ import annotations

from math import cos, sqrt
from typing import NamedTuple

import numpy as np

from supple.algebra.compiling import compiled

Array = np.ndarray


class Flow(NamedTuple):
    """U: mean (3,) [m/s]. k (m, 3) [1/m], a (m, 3) [m/s], phase (m,) [rad]: waves that the mean carries along."""

    U: Array
    k: Array
    a: Array
    phase: Array


@compiled(inline=True)
def flow_at(flow, t, x, y, z):
    """Velocity of the air [m/s]."""
    U, k, a = flow.U, flow.k, flow.a
    x, y, z = x - t * U[0], y - t * U[1], z - t * U[2]
    u, v, w = U[0], U[1], U[2]
    for m in range(len(flow.phase)):
        c = cos(k[m, 0] * x + k[m, 1] * y + k[m, 2] * z + flow.phase[m])
        u, v, w = u + c * a[m, 0], v + c * a[m, 1], w + c * a[m, 2]
    return u, v, w


@compiled
def compute_flow(flow, t, x, u_out):
    """Velocities of the air at points x (n, 3)."""
    for p in range(len(x)):
        u_out[p, 0], u_out[p, 1], u_out[p, 2] = flow_at(flow, t, x[p, 0], x[p, 1], x[p, 2])


@compiled
def add_drag(flow, t, half, back, triangles, x, v, f_out):
    """Drag of all triangles on their corners; half: rho C / 2; back: the part of it on faces that look downwind."""
    for n in range(len(triangles)):
        i, j, k = triangles[n, 0], triangles[n, 1], triangles[n, 2]
        ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        nx, ny, nz = 0.5 * (ay * bz - az * by), 0.5 * (az * bx - ax * bz), 0.5 * (ax * by - ay * bx)
        area = sqrt(nx * nx + ny * ny + nz * nz)
        if area == 0.0:
            continue
        wx, wy, wz = flow_at(
            flow,
            t,
            (x[i, 0] + x[j, 0] + x[k, 0]) / 3.0,
            (x[i, 1] + x[j, 1] + x[k, 1]) / 3.0,
            (x[i, 2] + x[j, 2] + x[k, 2]) / 3.0,
        )
        ux = wx - (v[i, 0] + v[j, 0] + v[k, 0]) / 3.0
        uy = wy - (v[i, 1] + v[j, 1] + v[k, 1]) / 3.0
        uz = wz - (v[i, 2] + v[j, 2] + v[k, 2]) / 3.0
        along = (ux * nx + uy * ny + uz * nz) / area
        g = along * along if along < 0.0 else -back * along * along
        share = -half * g / 3.0
        fx, fy, fz = share * nx, share * ny, share * nz
        for c in range(3):
            p = triangles[n, c]
            f_out[p, 0] += fx
            f_out[p, 1] += fy
            f_out[p, 2] += fz
