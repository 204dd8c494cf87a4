"""Drag of a moving air on triangles. Symbols as in `supple.scene.acting.wind`."""

# mypy: ignore-errors
from __future__ import annotations

from math import pi, sqrt
from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.cosine_kernels import cosine_of_turns
from supple.algebra.lanes.lane_type import LANES, load, store

Array = np.ndarray
TURN = 2 * pi
CHUNK = 64
"""Points whose air is found together, whole lanes of them."""
WAVE = 8
"""Numbers of a wave."""


class Flow(NamedTuple):
    """U: mean (3,) [m/s]. k (m, 3) [1/m], a (m, 3) [m/s], phase (m,) [rad]: waves that the mean carries along."""

    U: Array
    k: Array
    a: Array
    phase: Array


@compiled
def find_waves(flow, t, out):
    """The waves at time t in rows of WAVE numbers: k by turns (3), phase at the origin by turns, a (3)."""
    U, k, a = flow.U, flow.k, flow.a
    for m in range(len(flow.phase)):
        at = WAVE * m
        for c in range(3):
            out[at + c], out[at + 4 + c] = k[m, c] / TURN, a[m, c]
        out[at + 3] = flow.phase[m] / TURN - t * (out[at] * U[0] + out[at + 1] * U[1] + out[at + 2] * U[2])  # (15.2)


@compiled(inline=True)
def air_at(U0, U1, U2, waves, first, last, x):
    """Velocity of the air at a point, or lanes of them: mean U, and waves of `find_waves` from the first to before the
    last."""
    u0, u1, u2 = 0.0 * x[0] + U0, 0.0 * x[0] + U1, 0.0 * x[0] + U2
    for at in range(WAVE * first, WAVE * last, WAVE):
        turns = waves[at] * x[0] + waves[at + 1] * x[1] + waves[at + 2] * x[2] + waves[at + 3]
        c = cosine_of_turns(turns)  # (15.2)
        u0, u1, u2 = u0 + c * waves[at + 4], u1 + c * waves[at + 5], u2 + c * waves[at + 6]
    return u0, u1, u2


@compiled
def compute_air(flow, waves, count, x, u_out):
    """Velocities of the air, rows (3) of CHUNK, at points x of which there are `count`; up to whole lanes. waves: of
    `find_waves`."""
    U = flow.U
    for i in range(0, count, LANES):
        at = (load(x, i), load(x, CHUNK + i), load(x, 2 * CHUNK + i))
        u = air_at(U[0], U[1], U[2], waves, 0, len(flow.phase), at)
        store(u_out, i, u[0])
        store(u_out, CHUNK + i, u[1])
        store(u_out, 2 * CHUNK + i, u[2])


@compiled
def compute_flow(flow, t, x, u_out):
    """Velocities of the air at points x (n, 3)."""
    at, u, waves = np.zeros(3 * CHUNK), np.empty(3 * CHUNK), np.empty(WAVE * len(flow.phase))
    find_waves(flow, t, waves)
    for first in range(0, len(x), CHUNK):
        count = min(CHUNK, len(x) - first)
        for i in range(count):
            for c in range(3):
                at[c * CHUNK + i] = x[first + i, c]
        compute_air(flow, waves, count, at, u)
        for i in range(count):
            for c in range(3):
                u_out[first + i, c] = u[c * CHUNK + i]


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
    at, u, waves = np.zeros(3 * CHUNK), np.empty(3 * CHUNK), np.empty(WAVE * len(flow.phase))
    find_waves(flow, t, waves)
    for first in range(0, len(triangles), CHUNK):
        count = min(CHUNK, len(triangles) - first)
        for n in range(count):
            i, j, k = triangles[first + n, 0], triangles[first + n, 1], triangles[first + n, 2]
            for c in range(3):
                at[c * CHUNK + n] = (x[i, c] + x[j, c] + x[k, c]) / 3.0
        compute_air(flow, waves, count, at, u)
        for n in range(count):
            i, j, k = triangles[first + n, 0], triangles[first + n, 1], triangles[first + n, 2]
            nx, ny, nz, along = meet_triangle(i, j, k, x, v, u[n], u[CHUNK + n], u[2 * CHUNK + n])
            g = along * along if along < 0.0 else -back * along * along  # (15.1)
            share = -half * g / 3.0  # (15.1)
            for p in (i, j, k):
                f_out[p, 0] += share * nx
                f_out[p, 1] += share * ny
                f_out[p, 2] += share * nz
