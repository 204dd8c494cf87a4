"""Deformed points of all copies from coordinates and frames, x = o + s R (X + U q), points side by side in lanes.

X and U of a class are stored in blocks of `width` points, the point last: X (block, 3, width), U (block, r, 3, width),
filled up with zeros. An item of work is a few blocks of a class, small enough to stay in the first cache, for a few of
its copies: memory is read once an item, whatever the number of copies.
"""

# mypy: ignore-errors
from __future__ import annotations

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import load, store


@compiled(borrows=True)
def place_block(points, kind, block, q, pose, width, scratch, out):
    """Points of one block of a class for one copy. pose: domain, q_start, turns, origins of the copies; out (3 n,)."""
    domain, at_q, turn, o = pose
    r, first, count = points.r[kind], points.first[domain] + block * width, points.total[kind] - block * width
    at_X = points.X_start[kind] + 3 * block * width
    at_U = points.U_start[kind] + 3 * r * block * width
    y0, y1, y2 = load(points.X, at_X), load(points.X, at_X + width), load(points.X, at_X + 2 * width)
    for l in range(r):
        value, at = q[at_q + l], at_U + 3 * l * width
        y0 += load(points.U, at) * value  # (12.3)
        y1 += load(points.U, at + width) * value
        y2 += load(points.U, at + 2 * width) * value
    d = 9 * domain
    for c in range(3):
        x = turn[d + 3 * c] * y0 + turn[d + 3 * c + 1] * y1 + turn[d + 3 * c + 2] * y2  # (12.3)
        store(scratch, c * width, x + o[3 * domain + c])
    for j in range(min(width, count)):
        at = 3 * (first + j)
        out[at] = scratch[j]
        out[at + 1] = scratch[width + j]
        out[at + 2] = scratch[2 * width + j]


@compiled(borrows=True)
def place_item(points, item, q, turn, o, width, scratch, out):
    """Points of one item of work; see `PointArrays`."""
    kind, block, block_end, copy, copy_end = item[0], item[1], item[2], item[3], item[4]
    for k in range(copy, copy_end):
        domain = points.copies[k]
        pose = (domain, points.q_start[domain], turn, o)
        for b in range(block, block_end):
            place_block(points, kind, b, q, pose, width, scratch, out)


@compiled
def place_points(points, q, turn, o, width, out):
    """All points, out (3 n,)."""
    scratch = np.empty(3 * width, dtype=out.dtype)
    for k in range(len(points.items)):
        place_item(points, points.items[k], q, turn, o, width, scratch, out)


@compiled(parallel=True)
def place_points_parallel(points, q, turn, o, width, out):
    """The same, items shared by threads."""
    for k in numba.prange(len(points.items)):
        scratch = np.empty(3 * width, dtype=out.dtype)
        place_item(points, points.items[k], q, turn, o, width, scratch, out)


@compiled(borrows=True)
def project_seams(seams, group_start, out):
    """Points that were one before the cut become their mean, in place; out (3 n,)."""
    for g in range(len(group_start) - 1):
        first, last = group_start[g], group_start[g + 1]
        for c in range(3):
            mean = out[3 * seams[first] + c]
            for k in range(first + 1, last):
                mean += out[3 * seams[k] + c]
            mean /= last - first
            for k in range(first, last):
                out[3 * seams[k] + c] = mean
