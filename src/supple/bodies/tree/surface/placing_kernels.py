"""Points on domains, and means of them, at several instants: points side by side in lanes, shapes read once for all.

x = o + R s (X + U q),    seen = W x
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, store

Array = np.ndarray
ROW = 4
"""Numbers of a point that hangs on a domain: x, y, z and zero."""
PAIR = 2 * ROW
"""Numbers of such a point at two instants, one after the other, which are weighed at once."""


class HungBlocks(NamedTuple):
    """Points of d domains in blocks of LANES, filled up by zeros, the point last: block_start (d + 1,), X (blocks, 3,
    LANES) [m], U from value[d] on: (blocks, r, 3, LANES), flat. start (d + 1,): of coordinates; scale (d,)."""

    block_start: Array
    value: Array
    X: Array
    U: Array
    start: Array
    scale: Array


@compiled(borrows=True)
def place_hung_block(blocks, k, block, R, o, q, scratch, out):
    """World positions of a block of domain k: R (d, 9), o (d, 3), q (n,); out: one ROW of each PAIR, flat."""
    at, r, s = blocks.start[k], blocks.start[k + 1] - blocks.start[k], blocks.scale[k]
    here, U = 3 * LANES * block, blocks.value[k] + 3 * r * LANES * (block - blocks.block_start[k])
    a, b, c = load(blocks.X, here), load(blocks.X, here + LANES), load(blocks.X, here + 2 * LANES)
    for l in range(r):
        a += q[at + l] * load(blocks.U, U)  # (12.3)
        b += q[at + l] * load(blocks.U, U + LANES)
        c += q[at + l] * load(blocks.U, U + 2 * LANES)
        U += 3 * LANES
    a, b, c = s * a, s * b, s * c
    for i in range(3):
        x = o[k, i] + (R[k, 3 * i] * a + R[k, 3 * i + 1] * b + R[k, 3 * i + 2] * c)  # (12.3)
        store(scratch, i * LANES, x)
    for p in range(LANES):
        place = PAIR * (LANES * block + p)
        out[place], out[place + 1] = scratch[p], scratch[LANES + p]
        out[place + 2], out[place + 3] = scratch[2 * LANES + p], 0.0


@compiled
def place_hung(blocks, R, o, q, out):
    """All points that hang on domains at k instants: R (k, d, 9), o (k, d, 3), q (k, n); out (pairs, PAIR points)."""
    scratch = np.empty(3 * LANES)
    for k in range(len(blocks.scale)):
        for block in range(blocks.block_start[k], blocks.block_start[k + 1]):
            for j in range(len(q)):
                place_hung_block(blocks, k, block, R[j], o[j], q[j], scratch, out[j // 2, ROW * (j % 2) :])


@compiled
def weigh(indptr, indices, weights, hung, out):
    """Means (k, n, 3) over hung points (pairs, PAIR points), rounded to the precision of `out`."""
    scratch = np.empty(PAIR)
    for j in range(0, len(out), 2):
        own, both = hung[j // 2], j + 1 < len(out)
        none = 0.0 * load(own, 0, 8)
        for i in range(len(indptr) - 1):
            total = none
            for k in range(indptr[i], indptr[i + 1]):
                total += weights[k] * load(own, PAIR * indices[k], 8)
            store(scratch, 0, total)
            out[j, i, 0], out[j, i, 1], out[j, i, 2] = scratch[0], scratch[1], scratch[2]
            if both:
                out[j + 1, i, 0], out[j + 1, i, 1], out[j + 1, i, 2] = scratch[ROW], scratch[ROW + 1], scratch[ROW + 2]


@compiled
def largest_apart(hung, place, group_start, largest_out):
    """The largest distance [m] of a point from the mean of its group, at each instant, (k,): hung (pairs, PAIR
    points), place: of the points of all groups."""
    for j in range(len(largest_out)):
        largest, own = 0.0, hung[j // 2, ROW * (j % 2) :]
        for g in range(len(group_start) - 1):
            first, last = group_start[g], group_start[g + 1]
            a, b, c = 0.0, 0.0, 0.0
            for k in range(first, last):
                at = PAIR * place[k]
                a, b, c = a + own[at], b + own[at + 1], c + own[at + 2]
            a, b, c = a / (last - first), b / (last - first), c / (last - first)
            for k in range(first, last):
                at = PAIR * place[k]
                d, e, f = own[at] - a, own[at + 1] - b, own[at + 2] - c
                largest = max(largest, d * d + e * e + f * f)
        largest_out[j] = np.sqrt(largest)
