"""Drag of a moving air on triangles. Symbols as in `supple.scene.acting.wind`."""

# mypy: ignore-errors
from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.cosine_kernels import cosine_of_turns

Array = np.ndarray
TURN = 2 * pi
CHUNK = 64
"""Points whose air is found together."""


class Flow(NamedTuple):
    """U: mean (3,) [m/s]. k (m, 3) [1/m], a (m, 3) [m/s], phase (m,) [rad]: waves that the mean carries along."""

    U: Array
    k: Array
    a: Array
    phase: Array


@compiled
def add_waves(flow, t, count, x, u_out):
    """Velocities of the air (3, CHUNK) at points x (3, CHUNK), of which there are `count`."""
    U, k, a = flow.U, flow.k, flow.a
    for i in range(count):
        u_out[0, i], u_out[1, i], u_out[2, i] = U[0], U[1], U[2]
    for m in range(len(flow.phase)):
        kx, ky, kz = k[m, 0] / TURN, k[m, 1] / TURN, k[m, 2] / TURN
        start = flow.phase[m] / TURN - t * (kx * U[0] + ky * U[1] + kz * U[2])  # (15.2)
        ax, ay, az = a[m, 0], a[m, 1], a[m, 2]
        for i in range(count):
            c = cosine_of_turns(kx * x[0, i] + ky * x[1, i] + kz * x[2, i] + start)  # (15.2)
            u_out[0, i] += c * ax
            u_out[1, i] += c * ay
            u_out[2, i] += c * az


@compiled
def compute_flow(flow, t, x, u_out):
    """Velocities of the air at points x (n, 3)."""
    at, u = np.empty((3, CHUNK)), np.empty((3, CHUNK))
    for first in range(0, len(x), CHUNK):
        count = min(CHUNK, len(x) - first)
        for i in range(count):
            at[0, i], at[1, i], at[2, i] = x[first + i, 0], x[first + i, 1], x[first + i, 2]
        add_waves(flow, t, count, at, u)
        for i in range(count):
            u_out[first + i, 0], u_out[first + i, 1], u_out[first + i, 2] = u[0, i], u[1, i], u[2, i]


@compiled
def meet_triangle(i, j, k, x, v, ux, uy, uz):
    """Area vector of a triangle, and the speed along its normal of a flow u that meets it; 0 where it has no area."""
    ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
    bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
    nx, ny, nz = 0.5 * (ay * bz - az * by), 0.5 * (az * bx - ax * bz), 0.5 * (ax * by - ay * bx)
    area = sqrt(nx * nx + ny * ny + nz * nz)
    if area == 0.0:
        return nx, ny, nz, 0.0
    ux -= (v[i, 0] + v[j, 0] + v[k, 0]) / 3.0
    uy -= (v[i, 1] + v[j, 1] + v[k, 1]) / 3.0
    uz -= (v[i, 2] + v[j, 2] + v[k, 2]) / 3.0
    return nx, ny, nz, (ux * nx + uy * ny + uz * nz) / area  # (15.1)


@compiled
def add_drag(flow, t, half, back, triangles, x, v, f_out):
    """Drag of all triangles on their corners; half: rho C / 2; back: the part of it on faces that look downwind."""
    at, u = np.empty((3, CHUNK)), np.empty((3, CHUNK))
    for first in range(0, len(triangles), CHUNK):
        count = min(CHUNK, len(triangles) - first)
        for n in range(count):
            i, j, k = triangles[first + n, 0], triangles[first + n, 1], triangles[first + n, 2]
            for c in range(3):
                at[c, n] = (x[i, c] + x[j, c] + x[k, c]) / 3.0
        add_waves(flow, t, count, at, u)
        for n in range(count):
            i, j, k = triangles[first + n, 0], triangles[first + n, 1], triangles[first + n, 2]
            nx, ny, nz, along = meet_triangle(i, j, k, x, v, u[0, n], u[1, n], u[2, n])
            g = along * along if along < 0.0 else -back * along * along  # (15.1)
            share = -half * g / 3.0  # (15.1)
            for p in (i, j, k):
                f_out[p, 0] += share * nx
                f_out[p, 1] += share * ny
                f_out[p, 2] += share * nz
