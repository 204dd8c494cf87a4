"""Reduced elastic force and tangent of LANES instances of one class, side by side in rows of lanes.

    K(q) = K0 + K1(q) + K2(q, q),     f(q) = K0 q + K1(q) q / 2 + K2(q, q) q / 3

Every coefficient is a number that all lanes share. Pairs (i, j), i <= j, of K are computed in strips of `STRIP`, whose
sums stay in registers while q and the products q_i q_j pass by; a strip's coefficients lie in the order in which they
are read. `force_kernels` does the same by matrix products for any number of instances, `lone_force_kernels` for one.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, store, value_at
from supple.modal.forces.force_kernels import ForceArrays

Array = np.ndarray
STRIP = 8
"""Pairs whose sums are kept in registers."""


def lane_strips(arrays: ForceArrays) -> Array:
    """Coefficients, flat, of each strip: K0 (STRIP), those of q (r, STRIP), those of the products (pairs, STRIP)."""
    pairs, r = arrays.by_q.shape
    count = (pairs + STRIP - 1) // STRIP
    wide = np.zeros((count * STRIP, 1 + r + pairs))
    wide[:pairs] = np.column_stack([arrays.linear[np.triu_indices(r)], arrays.by_q, arrays.by_pairs])
    return np.ravel(wide.reshape(count, STRIP, -1).transpose(0, 2, 1))


@compiled(inline=True)
def tangent_rows(r):
    """Rows that K takes: whole strips of pairs."""
    return STRIP * ((r * (r + 1) // 2 + STRIP - 1) // STRIP)


@compiled(inline=True)
def lane_scratch(r):
    """Numbers of scratch beside f and K: the parts of f, then the products."""
    return LANES * (tangent_rows(r) + r * (r + 1) // 2)


@compiled(inline=True)
def add_strip(sums, coefficients, at, x):
    """Eight sums + coefficients x."""
    return (
        sums[0] + value_at(coefficients, at) * x, sums[1] + value_at(coefficients, at + 1) * x,
        sums[2] + value_at(coefficients, at + 2) * x, sums[3] + value_at(coefficients, at + 3) * x,
        sums[4] + value_at(coefficients, at + 4) * x, sums[5] + value_at(coefficients, at + 5) * x,
        sums[6] + value_at(coefficients, at + 6) * x, sums[7] + value_at(coefficients, at + 7) * x,
    )  # fmt: skip


@compiled(borrows=True)
def compute_lane_force(r, strips, at, values, q, scratch, f, K, free):
    """Rows f (r) and K (pairs, the upper triangle row by row, then some more) of `scratch`, at rows q of `values`.

    strips from `at` on: of `lane_strips`. K has `tangent_rows` rows; scratch from `free` on: `lane_scratch` numbers.
    """
    rows, pairs = tangent_rows(r), r * (r + 1) // 2
    products, row = free + LANES * rows, free + LANES * rows
    for i in range(r):
        q_i = load(values, q + LANES * i)
        for j in range(i, r):
            store(scratch, row, q_i * load(values, q + LANES * j))
            row += LANES
    none = load(values, q) * 0.0
    for strip in range(0, rows, STRIP):
        first_at = at
        at += STRIP
        one = (none, none, none, none, none, none, none, none)
        for l in range(r):
            one = add_strip(one, strips, at, load(values, q + LANES * l))
            at += STRIP
        two = (none, none, none, none, none, none, none, none)
        for m in range(pairs):
            two = add_strip(two, strips, at, load(scratch, products + LANES * m))
            at += STRIP
        for k in range(STRIP):
            rest, here = value_at(strips, first_at + k), LANES * (strip + k)
            store(scratch, K + here, rest + one[k] + two[k])  # (13.1)
            store(scratch, free + here, rest + 0.5 * one[k] + (1.0 / 3.0) * two[k])  # (13.1)
    for i in range(r):
        store(scratch, f + LANES * i, none)
    part = free
    for i in range(r):
        q_i, sum_i = load(values, q + LANES * i), load(scratch, f + LANES * i)
        sum_i += load(scratch, part) * q_i
        part += LANES
        for j in range(i + 1, r):
            value, there = load(scratch, part), f + LANES * j
            sum_i += value * load(values, q + LANES * j)
            store(scratch, there, load(scratch, there) + value * q_i)
            part += LANES
        store(scratch, f + LANES * i, sum_i)
