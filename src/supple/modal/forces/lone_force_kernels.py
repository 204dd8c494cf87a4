"""Reduced elastic tangent of one instance, from half of the coefficients.

    K(q) = K0 + K1(q) + K2(q, q),     f(q) = (K0 + K1(q) / 2 + K2(q, q) / 3) q

One instance reads every coefficient for two operations, so that memory limits it. K2 = G p as in `lane_force_kernels`;
G is symmetric, and what is above its diagonal serves for both halves of the product. It is stored in tiles of LANES
rows and columns, those on and right of the diagonal, row of tiles by row. K1 = T q is stored in strips of LANES pairs,
the pair last. What is not the same for every instance, p before and f after it, is left to rows of lanes.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_sums import lane_sums
from supple.algebra.lanes.lane_type import LANES, load, store

Array = np.ndarray


class LoneArrays(NamedTuple):
    """Flat, of whole strips: K0; strips: T; tiles: G; see the module."""

    linear: Array
    strips: Array
    tiles: Array


@compiled(inline=True)
def strip_count(r):
    """Strips of LANES pairs."""
    return (r * (r + 1) // 2 + LANES - 1) // LANES


def lone_arrays(linear: Array, T: Array, G: Array) -> LoneArrays:
    """From K0 (pairs,), T (pairs, r) and the symmetric G (pairs, pairs), see `CubicForce.by_pairs`."""
    pairs, r = T.shape
    count = (pairs + LANES - 1) // LANES
    rest, wide_T, wide_G = np.zeros(LANES * count), np.zeros((LANES * count, r)), np.zeros((LANES * count,) * 2)
    rest[:pairs], wide_T[:pairs], wide_G[:pairs, :pairs] = linear, T, G
    strips = wide_T.reshape(count, LANES, r).transpose(0, 2, 1)
    tiles = wide_G.reshape(count, LANES, count, LANES).transpose(0, 2, 1, 3)
    return LoneArrays(rest, np.ravel(strips), np.ravel(tiles[np.triu_indices(count)]))


@compiled(borrows=True)
def multiply_tiles(tiles, at, count, scratch, p, out):
    """Numbers `out` of scratch = G p; LANES strips each, tiles from `at`. LANES is 8 or 4."""
    none = load(scratch, p) * 0.0
    for n in range(count):
        store(scratch, out + LANES * n, none)
    for n in range(count):
        first, here = p + LANES * n, out + LANES * n
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
        if LANES == 8:
            store(scratch, here, load(scratch, here) + lane_sums((a0, a1, a2, a3, a4, a5, a6, a7)))
        else:
            store(scratch, here, load(scratch, here) + lane_sums((a0, a1, a2, a3)))


@compiled(borrows=True)
def compute_lone_tangent(r, arrays, kind, starts, values, q, scratch, p, K, part):
    """K and K0 + K1 / 2 + K2 / 3 of one instance, beside each other in `scratch` from K and from `part` on.

    values: q, a number every LANES places from `q` on; p: the products, in whole strips. starts (kinds, 3): where each
    class begins in the arrays.
    """
    count, rest, there = strip_count(r), starts[kind, 0], starts[kind, 1]
    multiply_tiles(arrays.tiles, starts[kind, 2], count, scratch, p, K)
    for _ in range(count):
        one, two, zero = load(scratch, K) * 0.0, load(scratch, K), load(arrays.linear, rest)
        for l in range(r):
            one += values[q + LANES * l] * load(arrays.strips, there)
            there += LANES
        store(scratch, K, zero + one + two)  # (13.1)
        store(scratch, part, zero + 0.5 * one + (1.0 / 3.0) * two)  # (13.1)
        K, part, rest = K + LANES, part + LANES, rest + LANES
