"""What the drag of a wind on triangles may have done along given ways, at several times. Symbols as in `wind`.

    (w - v) . N = (U - v) . N + sum_m (a_m . N) cos(k_m . x - k_m . U t + phase_m)

Triangles stay where they are, so that from time to time only the phases of the waves turn, all triangles' by the same
angles: cosine and sine are found once, lanes of triangles at once.
"""

# mypy: ignore-errors
from __future__ import annotations

from math import cos, sin

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.cosine_kernels import cosine_of_turns
from supple.algebra.lanes.lane_type import LANES, lane_sum, load, maximum, select_ge, store
from supple.scene.acting.wind_kernels import TURN, WAVE, find_waves

N, CENTRE, MOVING, ROWS = 0, 3, 6, 9
"""Rows of LANES triangles: area vector, centroid, its velocity."""
NO_AREA = 1e-300


@compiled(borrows=True)
def gather_triangles(triangles, x, v, first, rows_out):
    """Rows of the triangles from the first on, at points x that move with v; beyond the last, zeros."""
    for b in range(LANES):
        if first + b >= len(triangles):
            for c in range(ROWS):
                rows_out[c * LANES + b] = 0.0
            continue
        i, j, k = triangles[first + b, 0], triangles[first + b, 1], triangles[first + b, 2]
        ax, ay, az = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        bx, by, bz = x[k, 0] - x[i, 0], x[k, 1] - x[i, 1], x[k, 2] - x[i, 2]
        rows_out[b], rows_out[LANES + b] = 0.5 * (ay * bz - az * by), 0.5 * (az * bx - ax * bz)
        rows_out[2 * LANES + b] = 0.5 * (ax * by - ay * bx)
        for c in range(3):
            rows_out[(CENTRE + c) * LANES + b] = (x[i, c] + x[j, c] + x[k, c]) / 3.0
            rows_out[(MOVING + c) * LANES + b] = (v[i, c] + v[j, c] + v[k, c]) / 3.0


@compiled
def compute_shares(flow, times, half, back, triangles, x, v, N_out, share_out):
    """At each time share_out (times, t') of triangles filled up to whole lanes, zero beyond: a third of the drag on
    each is share N, N_out (t', 3)."""
    count, waves = len(flow.phase), np.empty(WAVE * len(flow.phase))
    find_waves(flow, times[0], waves)
    turned = np.empty((len(times), 2, count))  # cosine and sine of what the phases turn by
    for n in range(len(times)):
        for m in range(count):
            at = WAVE * m
            rate = waves[at] * flow.U[0] + waves[at + 1] * flow.U[1] + waves[at + 2] * flow.U[2]
            angle = -TURN * (times[n] - times[0]) * rate
            turned[n, 0, m], turned[n, 1, m] = cos(angle), sin(angle)
    rows, swings = np.empty(ROWS * LANES), np.empty(2 * LANES * max(count, 1))
    shares = share_out.reshape(-1)
    for first in range(0, len(triangles), LANES):
        gather_triangles(triangles, x, v, first, rows)
        for b in range(LANES):
            for c in range(3):
                N_out[first + b, c] = rows[c * LANES + b]
        n0, n1, n2 = load(rows, 0), load(rows, LANES), load(rows, 2 * LANES)
        x0, x1, x2 = load(rows, 3 * LANES), load(rows, 4 * LANES), load(rows, 5 * LANES)
        v0, v1, v2 = load(rows, 6 * LANES), load(rows, 7 * LANES), load(rows, 8 * LANES)
        area2 = n0 * n0 + n1 * n1 + n2 * n2
        mean = (flow.U[0] - v0) * n0 + (flow.U[1] - v1) * n1 + (flow.U[2] - v2) * n2
        for m in range(count):
            at = WAVE * m
            turns = waves[at] * x0 + waves[at + 1] * x1 + waves[at + 2] * x2 + waves[at + 3]  # (15.2)
            along = waves[at + 4] * n0 + waves[at + 5] * n1 + waves[at + 6] * n2
            store(swings, 2 * m * LANES, along * cosine_of_turns(turns))
            store(swings, (2 * m + 1) * LANES, along * cosine_of_turns(turns - 0.25))
        for n in range(len(times)):
            speed = mean  # times the area
            for m in range(count):
                speed += turned[n, 0, m] * load(swings, 2 * m * LANES)
                speed -= turned[n, 1, m] * load(swings, (2 * m + 1) * LANES)
            g = select_ge(area2, NO_AREA, half * speed * speed / area2, 0.0 * area2) / 3.0  # (15.1)
            store(shares, n * share_out.shape[1] + first, select_ge(speed, 0.0 * speed, back * g, -g))  # (15.1)


@compiled
def compute_works(share, N, triangles, ways, pushed_out, whole_out):
    """Of forces at each time, shares (times, t') of N (t', 3) on each corner: work along each of the ways (k, p, 3),
    whole_out (times, k), and that of the points alone on which it is positive, pushed_out."""
    kinds, points = ways.shape[0], np.empty((ways.shape[0], ways.shape[1]))
    corner = np.empty((len(triangles), 3, kinds))
    for n in range(len(triangles)):
        for i in range(3):
            p = triangles[n, i]
            for k in range(kinds):
                corner[n, i, k] = N[n, 0] * ways[k, p, 0] + N[n, 1] * ways[k, p, 1] + N[n, 2] * ways[k, p, 2]
    for t in range(len(share)):
        points[:] = 0.0
        for n in range(len(triangles)):
            s = share[t, n]
            for i in range(3):
                for k in range(kinds):
                    points[k, triangles[n, i]] += s * corner[n, i, k]
        for k in range(kinds):
            pushed, whole = 0.0, 0.0
            for p in range(ways.shape[1]):
                whole += points[k, p]
                pushed += max(points[k, p], 0.0)
            pushed_out[t, k], whole_out[t, k] = pushed, whole


@compiled
def compute_works_apart(share, N, triangles, ways, pushed_out, whole_out):
    """The same where no point is a corner of two triangles, lanes of these at once."""
    filled, corner = share.shape[1], np.zeros(3 * share.shape[1])
    shares = share.reshape(-1)
    for k in range(ways.shape[0]):
        for n in range(len(triangles)):
            for i in range(3):
                p = triangles[n, i]
                corner[i * filled + n] = N[n, 0] * ways[k, p, 0] + N[n, 1] * ways[k, p, 1] + N[n, 2] * ways[k, p, 2]
        for t in range(len(share)):
            pushed, whole = 0.0 * load(corner, 0), 0.0 * load(corner, 0)
            for n in range(0, filled, LANES):
                s = load(shares, t * filled + n)
                for i in range(3):
                    work = s * load(corner, i * filled + n)
                    whole += work
                    pushed += maximum(work, 0.0 * work)
            pushed_out[t, k], whole_out[t, k] = lane_sum(pushed), lane_sum(whole)
