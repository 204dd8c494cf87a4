"""Reduced elastic force and tangent of one instance, from half of the coefficients.

    K(q) = K0 + K1(q) + K2(q, q),     f(q) = K0 q + K1(q) q / 2 + K2(q, q) q / 3

One instance reads every coefficient for two operations, so that memory limits it. K2 = G p, where p holds q_i q_j of
all pairs i <= j, twice where i < j; G is symmetric, and what is above its diagonal serves for both halves of the
product. It is stored in tiles of LANES rows and columns, those on and right of the diagonal, row of tiles by row.
K1 = T q is stored in strips of LANES pairs, the pair last. `force_kernels` does the same for many instances at once.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, lane_sum, load, store

Array = np.ndarray


class LoneArrays(NamedTuple):
    """Flat: K0 (r, r); strips: T; tiles: G; see the module."""

    linear: Array
    strips: Array
    tiles: Array


@compiled(inline=True)
def strip_count(r):
    """Strips of LANES pairs."""
    return (r * (r + 1) // 2 + LANES - 1) // LANES


@compiled(inline=True)
def lone_scratch(r):
    """Numbers of scratch of one instance: p, then K1 and K2 of all strips."""
    return 3 * LANES * strip_count(r)


def lone_arrays(linear: Array, T: Array, C: Array) -> LoneArrays:
    """From K0 (r, r), T (pairs, r) of K1 and the symmetric C (pairs, pairs) of K2."""
    pairs, r = T.shape
    count = (pairs + LANES - 1) // LANES
    wide_T, wide_C = np.zeros((LANES * count, r)), np.zeros((LANES * count, LANES * count))
    wide_T[:pairs], wide_C[:pairs, :pairs] = T, C
    strips = wide_T.reshape(count, LANES, r).transpose(0, 2, 1)
    tiles = wide_C.reshape(count, LANES, count, LANES).transpose(0, 2, 1, 3)
    return LoneArrays(np.ravel(linear), np.ravel(strips), np.ravel(tiles[np.triu_indices(count)]))


@compiled(borrows=True)
def multiply_tiles(tiles, at, count, scratch, p, out):
    """Rows `out` of scratch = G p; LANES strips each, tiles from `at`. LANES is 8 or 4."""
    none = load(scratch, p) * 0.0
    for n in range(count):
        store(scratch, out + LANES * n, none)
    for n in range(count):
        first = p + LANES * n
        x0, x1, x2, x3 = scratch[first], scratch[first + 1], scratch[first + 2], scratch[first + 3]
        v = load(scratch, first)
        a0, a1 = v * load(tiles, at), v * load(tiles, at + LANES)
        a2, a3 = v * load(tiles, at + 2 * LANES), v * load(tiles, at + 3 * LANES)
        x4, x5, x6, x7 = 0.0, 0.0, 0.0, 0.0
        a4, a5, a6, a7 = none, none, none, none
        if LANES == 8:
            x4, x5, x6, x7 = scratch[first + 4], scratch[first + 5], scratch[first + 6], scratch[first + 7]
            a4, a5 = v * load(tiles, at + 4 * LANES), v * load(tiles, at + 5 * LANES)
            a6, a7 = v * load(tiles, at + 6 * LANES), v * load(tiles, at + 7 * LANES)
        at += LANES * LANES
        for m in range(n + 1, count):
            v, y, z = load(scratch, p + LANES * m), load(scratch, out + LANES * m), none
            g = load(tiles, at)
            a0 += g * v
            y += g * x0
            g = load(tiles, at + LANES)
            a1 += g * v
            z += g * x1
            g = load(tiles, at + 2 * LANES)
            a2 += g * v
            y += g * x2
            g = load(tiles, at + 3 * LANES)
            a3 += g * v
            z += g * x3
            if LANES == 8:
                g = load(tiles, at + 4 * LANES)
                a4 += g * v
                y += g * x4
                g = load(tiles, at + 5 * LANES)
                a5 += g * v
                z += g * x5
                g = load(tiles, at + 6 * LANES)
                a6 += g * v
                y += g * x6
                g = load(tiles, at + 7 * LANES)
                a7 += g * v
                z += g * x7
            store(scratch, out + LANES * m, y + z)
            at += LANES * LANES
        here = out + LANES * n
        scratch[here] += lane_sum(a0)
        scratch[here + 1] += lane_sum(a1)
        scratch[here + 2] += lane_sum(a2)
        scratch[here + 3] += lane_sum(a3)
        if LANES == 8:
            scratch[here + 4] += lane_sum(a4)
            scratch[here + 5] += lane_sum(a5)
            scratch[here + 6] += lane_sum(a6)
            scratch[here + 7] += lane_sum(a7)


@compiled(borrows=True)
def compute_lone_force(r, arrays, kind, starts, scratch, at, values, q, f, K, wide):
    """f (r) and the upper triangle of K of one instance, a number every LANES places of scratch from f and K on.

    values: q, from `q` on in the same way. starts (kinds, 3): where each class begins in the arrays. scratch from `at`:
    `lone_scratch` numbers. K is packed like one of `wide` rows; what lies beyond r is left as it is.
    """
    count = strip_count(r)
    p, first, second = at, at + LANES * count, at + 2 * LANES * count
    linear, strips = arrays.linear, arrays.strips
    k = p
    for i in range(r):
        q_i = values[q + LANES * i]
        scratch[k] = q_i * q_i
        k += 1
        for j in range(i + 1, r):
            scratch[k] = 2.0 * q_i * values[q + LANES * j]
            k += 1
    while k < first:
        scratch[k] = 0.0
        k += 1
    there = starts[kind, 1]
    for n in range(count):
        value = load(scratch, p) * 0.0
        for l in range(r):
            value += values[q + LANES * l] * load(strips, there)
            there += LANES
        store(scratch, first + LANES * n, value)
    multiply_tiles(arrays.tiles, starts[kind, 2], count, scratch, p, second)
    for i in range(r):
        scratch[f + LANES * i] = 0.0
    k = 0
    for i in range(r):
        q_i, sum_i, row = values[q + LANES * i], 0.0, starts[kind, 0] + r * i
        for j in range(i, r):
            rest, one, two = linear[row + j], scratch[first + k], scratch[second + k]
            scratch[K + LANES * (j - i)] = rest + one + two  # (13.1)
            part = rest + 0.5 * one + (1.0 / 3.0) * two  # (13.1)
            sum_i += part * values[q + LANES * j]
            if j > i:
                scratch[f + LANES * j] += part * q_i
            k += 1
        scratch[f + LANES * i] += sum_i
        K += LANES * (wide - i)
