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
from supple.algebra.lanes.triples import store_triples


@compiled(inline=True)
def block_points(points, kind, block, q, at_q, turn, d, width):
    """s R (X + U q) of the points of one block of a class; s R from turn[d] on."""
    r = points.r[kind]
    at_X = points.X_start[kind] + 3 * block * width
    at_U = points.U_start[kind] + 3 * r * block * width
    y0, y1, y2 = load(points.X, at_X), load(points.X, at_X + width), load(points.X, at_X + 2 * width)
    for l in range(r):
        value, at = q[at_q + l], at_U + 3 * l * width
        y0 += load(points.U, at) * value  # (12.3)
        y1 += load(points.U, at + width) * value
        y2 += load(points.U, at + 2 * width) * value
    return (
        turn[d] * y0 + turn[d + 1] * y1 + turn[d + 2] * y2,  # (12.3)
        turn[d + 3] * y0 + turn[d + 4] * y1 + turn[d + 5] * y2,
        turn[d + 6] * y0 + turn[d + 7] * y1 + turn[d + 8] * y2,
    )


@compiled(borrows=True)
def place_block(points, kind, block, q, pose, width, scratch, out):
    """Points of one block of a class for one copy. pose: domain, q_start, turns, origins of the copies; out (3 n,)."""
    domain, at_q, turn, o = pose
    first, count = points.first[domain] + block * width, points.total[kind] - block * width
    x, y, z = block_points(points, kind, block, q, at_q, turn, 9 * domain, width)
    store(scratch, 0, x + o[3 * domain])
    store(scratch, width, y + o[3 * domain + 1])
    store(scratch, 2 * width, z + o[3 * domain + 2])
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


@compiled
def place_seen(points, q, R, scale, o, width, out):
    """All points in single precision, out (3 n,) float32, from rotations R (d, 9), sizes and origins o (d, 3) of the
    copies in double precision. Whole blocks are written; what lies beyond a copy's points is written again."""
    turn, room = np.empty(9), np.empty(3 * width, dtype=np.float32)
    for domain in range(len(points.kind)):
        kind = points.kind[domain]
        for i in range(9):
            turn[i] = R[domain, i] * scale[domain]
        for block in range((points.total[kind] + width - 1) // width):
            x, y, z = block_points(points, kind, block, q, points.q_start[domain], turn, 0, width)
            x, y, z = x + o[domain, 0], y + o[domain, 1], z + o[domain, 2]
            at = 3 * (points.first[domain] + block * width)
            if at + 3 * width <= len(out):
                store_triples(out, at, x, y, z)
            else:
                store_triples(room, 0, x, y, z)
                out[at:] = room[: len(out) - at]


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
