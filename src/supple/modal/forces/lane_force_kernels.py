"""Reduced elastic force and tangent of LANES instances of one class, side by side in rows of lanes.

    K(q) = K0 + K1(q) + K2(q, q),     f(q) = K0 q + K1(q) q / 2 + K2(q, q) q / 3

Every coefficient is a number that all lanes share. K1 = T q and K2 = G p, where p holds q_i q_j of all pairs i <= j,
twice where i < j. Pairs are those of a lower triangle, row by row, so that those of fewer coordinates come first. They
are computed in strips of `STRIP`, whose sums stay in registers while q and p pass by; a strip's coefficients lie in the
order in which they are read. `force_kernels` does the same by matrix products for any number of instances,
`lone_force_kernels` for one.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, store, value_at

Array = np.ndarray
STRIP = 8
"""Pairs whose sums are kept in registers."""


def lane_strips(linear: Array, T: Array, G: Array) -> Array:
    """Coefficients, flat, of each strip: K0 (STRIP), those of q (r, STRIP), those of p (pairs, STRIP).

    linear (pairs,), T (pairs, r), G (pairs, pairs): see `CubicForce.by_pairs`.
    """
    pairs, r = T.shape
    count = (pairs + STRIP - 1) // STRIP
    wide = np.zeros((count * STRIP, 1 + r + pairs))
    wide[:pairs] = np.column_stack([linear, T, G])
    return np.ravel(wide.reshape(count, STRIP, -1).transpose(0, 2, 1))


@compiled(inline=True)
def tangent_rows(r):
    """Rows that K takes: whole strips of pairs."""
    return STRIP * ((r * (r + 1) // 2 + STRIP - 1) // STRIP)


@compiled(inline=True)
def lane_scratch(r):
    """Numbers of scratch beside f and K: the parts of f, then p."""
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
def compute_products(r, values, q, scratch, p):
    """Rows p (pairs) of `scratch`, from rows q of `values`."""
    for j in range(r):
        q_j = load(values, q + LANES * j)
        for i in range(j):
            store(scratch, p, 2.0 * q_j * load(values, q + LANES * i))
            p += LANES
        store(scratch, p, q_j * q_j)
        p += LANES


@compiled(borrows=True)
def multiply_lower(r, scratch, part, values, q, f):
    """Rows f (r) of `scratch` = S q of symmetric matrices S in rows from `part`, with rows q of `values`."""
    for j in range(r):
        q_j = load(values, q + LANES * j)
        sum_j = q_j * 0.0
        for i in range(j):
            value, there = load(scratch, part), f + LANES * i
            sum_j += value * load(values, q + LANES * i)
            store(scratch, there, load(scratch, there) + value * q_j)
            part += LANES
        store(scratch, f + LANES * j, sum_j + load(scratch, part) * q_j)
        part += LANES


@compiled(borrows=True)
def compute_lane_force(r, strips, at, values, q, scratch, f, K, free):
    """Rows f (r) and K (pairs, then some more) of `scratch`, at rows q of `values`.

    strips from `at` on: of `lane_strips`. K has `tangent_rows` rows; scratch from `free` on: `lane_scratch` numbers.
    """
    rows, pairs = tangent_rows(r), r * (r + 1) // 2
    products = free + LANES * rows
    compute_products(r, values, q, scratch, products)
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
    multiply_lower(r, scratch, free, values, q, f)
