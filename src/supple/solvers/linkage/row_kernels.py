"""Rows of joints in compiled loops: where the points of joints are, what is violated, and the rows of each body.

    p = c + R u,  u = X + S q                     a point of a body; a point of the world stays
    meeting      p_j - p_i = 0                    three rows
    angle        (p_b - p_a) . (p_d - p_c) = c    one row
    J^T e = (e, u x R^T e, S^T R^T e)             what an entry e = dphi/dp of a row adds to the row of its body

A row is a list of entries, one a point: a unit vector, or the difference of two other points. Symbols as in
`scene.joints.joints`.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.addresses import address_at
from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross, turn, turn_back

Array = np.ndarray
START, MIDDLE, END = 0, 1, 2
"""The states of a step, in the first dimension of `places` and `arms`."""
WORLD = -1


class LinkRows(NamedTuple):
    """Points: body (k,), -1 in the world; local X (k, 3) [m]; shapes S (k, 3, most modes).

    Rows: meetings (a, 3) as (row, i, j) of three rows each; angles (b, 5) as (row, a, b, c, d), and constants (b,).
    Entries: entry (e, 5) as (place among the rows of its body, point, from, to, whether its row is of a meeting), with
    -1 - axis for from where it is a unit vector; signs (e,). Scratch: places p, arms u (3, k, 3) of the three states;
    violation phi (m,), right sides y (m,); S (m, m), its pivots and scales (m,).
    """

    body: Array
    local: Array
    shapes: Array
    meetings: Array
    angles: Array
    constants: Array
    entry: Array
    signs: Array
    places: Array
    arms: Array
    violation: Array
    y: Array
    S: Array
    pivots: Array
    scales: Array


@compiled(borrows=True)
def place_points(bodies, rows, state):
    """places and arms of all points of bodies at a state whose rotations are there."""
    for k in range(rows.body.size):
        if rows.body[k] == WORLD:
            continue
        body = address_at(bodies, rows.body[k])
        x, R = body.at[state], body.turns[state]
        a, b, c = rows.local[k, 0], rows.local[k, 1], rows.local[k, 2]
        for l in range(x.size - 7):
            q = x[7 + l]
            a += rows.shapes[k, 0, l] * q
            b += rows.shapes[k, 1, l] * q
            c += rows.shapes[k, 2, l] * q
        p = turn(R, (a, b, c))  # (11.3)
        arm, place = rows.arms[state, k], rows.places[state, k]
        arm[0], arm[1], arm[2] = a, b, c
        place[0], place[1], place[2] = x[0] + p[0], x[1] + p[1], x[2] + p[2]


@compiled(borrows=True)
def violate(rows, state):
    """phi at a state; returns the largest of them, NaN where one is."""
    p, out, largest = rows.places[state], rows.violation, 0.0
    for k in range(rows.meetings.shape[0]):
        row, i, j = rows.meetings[k, 0], rows.meetings[k, 1], rows.meetings[k, 2]
        for axis in range(3):
            out[row + axis] = p[j, axis] - p[i, axis]
    for k in range(rows.angles.shape[0]):
        row, a, b, c, d = (
            rows.angles[k, 0],
            rows.angles[k, 1],
            rows.angles[k, 2],
            rows.angles[k, 3],
            rows.angles[k, 4],
        )
        total = -rows.constants[k]
        for axis in range(3):
            total += (p[b, axis] - p[a, axis]) * (p[d, axis] - p[c, axis])
        out[row] = total
    for k in range(out.size):
        size = abs(out[k])
        if not size <= largest:
            largest = size
    return largest


@compiled(borrows=True)
def add_rows_of(bodies, rows, state, meet, other, in_middle):
    """Add the rows at a state, those of meetings times `meet`, others times `other`, to P of each body, with torques in
    the axes of the middle; or, where not in_middle, to G with torques in the axes of the state."""
    p = rows.places[state]
    for e in range(rows.entry.shape[0]):
        place, point, start, end, is_meeting = (
            rows.entry[e, 0],
            rows.entry[e, 1],
            rows.entry[e, 2],
            rows.entry[e, 3],
            rows.entry[e, 4],
        )
        weight = (meet if is_meeting else other) * rows.signs[e]
        if weight == 0.0:
            continue
        body = address_at(bodies, rows.body[point])
        R = body.turns[state]
        if start < 0:
            axis = -1 - start
            f = (
                weight if axis == 0 else 0.0,
                weight if axis == 1 else 0.0,
                weight if axis == 2 else 0.0,
            )
        else:
            f = (
                weight * (p[end, 0] - p[start, 0]),
                weight * (p[end, 1] - p[start, 1]),
                weight * (p[end, 2] - p[start, 2]),
            )
        F = turn_back(R, f)
        u = rows.arms[state, point]
        torque = cross((u[0], u[1], u[2]), F)  # (11.3)
        if in_middle and state != MIDDLE:
            torque = turn_back(body.workspace.middle.R, turn(R, torque))
        row = body.P[place] if in_middle else body.G[place]
        for i in range(3):
            row[i] += f[i]
            row[3 + i] += torque[i]
        for l in range(row.size - 6):
            S = rows.shapes[point]
            row[6 + l] += S[0, l] * F[0] + S[1, l] * F[1] + S[2, l] * F[2]  # (11.3)


@compiled(borrows=True)
def factor_rows(rows):
    """S <- its factors with row pivots, after its rows and columns are scaled to a diagonal of one. Returns the least
    pivot: near zero where rows say the same thing twice."""
    S, m = rows.S, rows.S.shape[0]
    for i in range(m):
        size = abs(S[i, i])
        rows.scales[i] = 1.0 / np.sqrt(size) if size > 0.0 else 0.0
    for i in range(m):
        for j in range(m):
            S[i, j] *= rows.scales[i] * rows.scales[j]
    least = np.inf
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if abs(S[i, k]) > abs(S[best, k]):
                best = i
        rows.pivots[k] = best
        if not abs(S[best, k]) > 0.0:
            return 0.0
        least = min(least, abs(S[best, k]))
        if best != k:
            for j in range(m):
                S[k, j], S[best, j] = S[best, j], S[k, j]
        inverse = 1.0 / S[k, k]
        for i in range(k + 1, m):
            S[i, k] *= inverse
            factor, row, pivot = S[i, k], S[i, k + 1 :], S[k, k + 1 :]
            for j in range(row.size):
                row[j] -= factor * pivot[j]
    return least


@compiled(borrows=True)
def solve_rows(rows):
    """y <- S^-1 y, after `factor_rows`."""
    S, y, m = rows.S, rows.y, rows.S.shape[0]
    for i in range(m):
        y[i] *= rows.scales[i]
    for k in range(m):
        best = rows.pivots[k]
        y[k], y[best] = y[best], y[k]
    for i in range(m):
        for j in range(i):
            y[i] -= S[i, j] * y[j]
    for i in range(m - 1, -1, -1):
        for j in range(i + 1, m):
            y[i] -= S[i, j] * y[j]
        y[i] /= S[i, i]
    for i in range(m):
        y[i] *= rows.scales[i]
