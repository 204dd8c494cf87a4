"""How a reduced elastic force and its tangent change over a short way d, in single precision.

    f(q + d) = f(q) + K(q) d + E d / 2,     K(q + d) = K(q) + E + O(d²),     E = K1(d) + K2(2 q + 2/3 d, d)

is exact for f, since K1(q) d = K1(d) q and K2(q, d) d = K2(d, d) q. E is small where d is, so its rounding does not
matter, and numbers of half the length are read and multiplied in half the time. E = T d + G p, where p holds
d_i u_j + d_j u_i of all pairs i < j and d_i u_i, u = 2 q + 2/3 d; pairs and strips as in `lane_force_kernels`.

Coordinates are multiplied by a number of their class, `gauge`, and the coefficients divided by it, so that those of T
and G are about as large as those of K0, and none leaves the range of single precision.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_sums import lane_sums, narrowed, widened
from supple.algebra.lanes.lane_type import LANES, load, store
from supple.modal.forces.lane_force_kernels import STRIP, add_strip, tangent_rows

Array = np.ndarray
FEW = 9
"""Coordinates below which to change forces costs more than to take them anew: there is more to keep than to read."""
ROWS, WIDE = 8, 2 * LANES
"""Of a tile of one instance; WIDE: lanes of float32."""


class ChangeArrays(NamedTuple):
    """Flat, float32, of one instance: strips of WIDE pairs of T, the pair last; tiles of G, see `change_arrays`."""

    strips: Array
    tiles: Array


def gauge(linear: Array, T: Array, G: Array) -> float:
    """What coordinates are multiplied by: about 1 where the nonlinear force is as large as the linear one."""
    rest, one, two = (float(np.abs(a).max()) for a in (linear, T, G))
    if rest == 0.0:
        return 1.0
    return max(one / rest, np.sqrt(two / rest)) or 1.0


def change_strips(T: Array, G: Array, by: float) -> Array:
    """Coefficients for lanes of instances, flat, of each strip: those of d (r, STRIP), of p (pairs, STRIP)."""
    pairs, r = T.shape
    count = (pairs + STRIP - 1) // STRIP
    wide = np.zeros((count * STRIP, r + pairs), dtype=np.float32)
    wide[:pairs] = np.column_stack([T / by, G / by**2])
    return np.ravel(wide.reshape(count, STRIP, -1).transpose(0, 2, 1))


def change_arrays(T: Array, G: Array, by: float) -> ChangeArrays:
    """Coefficients for one instance. Tiles have ROWS rows and WIDE columns; those left of the diagonal are left out.

    Tiles that reach the diagonal are used as they are, the others also transposed.
    """
    pairs, r = T.shape
    count, wide = -(-pairs // ROWS), -(-pairs // WIDE)
    all_T = np.zeros((WIDE * wide, r), dtype=np.float32)
    all_G = np.zeros((ROWS * count, WIDE * wide), dtype=np.float32)
    all_T[:pairs], all_G[:pairs, :pairs] = T / by, G / by**2
    strips = all_T.reshape(wide, WIDE, r).transpose(0, 2, 1)
    tiles = all_G.reshape(count, ROWS, wide, WIDE).transpose(0, 2, 1, 3)
    kept = np.arange(wide) >= ROWS * np.arange(count)[:, None] // WIDE
    return ChangeArrays(np.ravel(strips), np.ravel(tiles[kept]))


@compiled(inline=True)
def change_rows(r):
    """Numbers that E of one instance takes: whole strips of WIDE pairs."""
    return WIDE * ((r * (r + 1) // 2 + WIDE - 1) // WIDE)


@compiled(borrows=True)
def compute_mixed_products(r, work, d, u, p):
    """Rows p (pairs) of work, from its rows d and u."""
    for j in range(r):
        d_j, u_j = load(work, d + LANES * j), load(work, u + LANES * j)
        for i in range(j):
            store(work, p, d_j * load(work, u + LANES * i) + u_j * load(work, d + LANES * i))
            p += LANES
        store(work, p, d_j * u_j)
        p += LANES


@compiled(borrows=True)
def compute_lane_change(r, strips, at, work, d, p, single, E):
    """Rows E (pairs, then some more: `tangent_rows`) of work, of LANES instances, from its rows d and p.

    strips from `at` on: of `change_strips`. single: work as float32; the rows d and p are spoilt.
    """
    pairs = r * (r + 1) // 2
    short_d, short_p = 2 * d, 2 * p  # where they are narrowed to, in their own place
    for l in range(r):
        store(single, short_d + LANES * l, narrowed(load(work, d + LANES * l)))
    for m in range(pairs):
        store(single, short_p + LANES * m, narrowed(load(work, p + LANES * m)))
    none = load(single, short_d, LANES) * 0.0
    for strip in range(0, tangent_rows(r), STRIP):
        sums = (none, none, none, none, none, none, none, none)
        for l in range(r):
            sums = add_strip(sums, strips, at, load(single, short_d + LANES * l, LANES))
            at += STRIP
        for m in range(pairs):
            sums = add_strip(sums, strips, at, load(single, short_p + LANES * m, LANES))
            at += STRIP
        for k in range(STRIP):
            store(work, E + LANES * (strip + k), widened(sums[k]))  # (13.2)


@compiled(borrows=True)
def multiply_wide_tiles(tiles, at, pairs, single, p, out):
    """Numbers `out` of single = G p, whole strips of WIDE each; tiles from `at`."""
    count, wide = (pairs + ROWS - 1) // ROWS, (pairs + WIDE - 1) // WIDE
    none = load(single, p) * 0.0
    for m in range(wide):
        store(single, out + WIDE * m, none)
    for n in range(count):
        first, here, m = p + ROWS * n, out + ROWS * n, ROWS * n // WIDE
        x0, x1, x2, x3 = single[first], single[first + 1], single[first + 2], single[first + 3]
        x4, x5, x6, x7 = single[first + 4], single[first + 5], single[first + 6], single[first + 7]
        v = load(single, p + WIDE * m)
        a0, a1, a2, a3 = (
            v * load(tiles, at), v * load(tiles, at + WIDE),
            v * load(tiles, at + 2 * WIDE), v * load(tiles, at + 3 * WIDE),
        )  # fmt: skip
        a4, a5, a6, a7 = (
            v * load(tiles, at + 4 * WIDE), v * load(tiles, at + 5 * WIDE),
            v * load(tiles, at + 6 * WIDE), v * load(tiles, at + 7 * WIDE),
        )  # fmt: skip
        at += ROWS * WIDE
        for k in range(m + 1, wide):
            v, y, z = load(single, p + WIDE * k), load(single, out + WIDE * k), none
            g = load(tiles, at)
            a0 += g * v
            y += g * x0
            g = load(tiles, at + WIDE)
            a1 += g * v
            z += g * x1
            g = load(tiles, at + 2 * WIDE)
            a2 += g * v
            y += g * x2
            g = load(tiles, at + 3 * WIDE)
            a3 += g * v
            z += g * x3
            g = load(tiles, at + 4 * WIDE)
            a4 += g * v
            y += g * x4
            g = load(tiles, at + 5 * WIDE)
            a5 += g * v
            z += g * x5
            g = load(tiles, at + 6 * WIDE)
            a6 += g * v
            y += g * x6
            g = load(tiles, at + 7 * WIDE)
            a7 += g * v
            z += g * x7
            store(single, out + WIDE * k, y + z)
            at += ROWS * WIDE
        store(single, here, load(single, here, ROWS) + lane_sums((a0, a1, a2, a3, a4, a5, a6, a7)))


@compiled(borrows=True)
def compute_lone_change(r, arrays, kind, starts, work, d, p, single, E):
    """E of one instance, beside each other in work from `E` on (`change_rows`), from numbers d and p of work.

    d: a number every LANES places; p: beside each other, whole strips. single: work as float32; p is spoilt. starts
    (kinds, 2): where each class begins in the arrays.
    """
    pairs, rows, there = r * (r + 1) // 2, change_rows(r), starts[kind, 0]
    short, out = 2 * p, 2 * p + rows
    for m in range(0, rows, LANES):
        store(single, short + m, narrowed(load(work, p + m)))
    multiply_wide_tiles(arrays.tiles, starts[kind, 1], pairs, single, short, out)
    for m in range(0, rows, WIDE):
        sums = load(single, out + m)
        for l in range(r):
            sums += np.float32(work[d + LANES * l]) * load(arrays.strips, there)
            there += WIDE
        store(single, out + m, sums)
    for m in range(0, rows, LANES):
        store(work, E + m, widened(load(single, out + m, LANES)))  # (13.2)
