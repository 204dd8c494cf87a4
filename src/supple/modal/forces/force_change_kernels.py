"""What a reduced elastic force has beyond its linearisation, of one instance or of LANES instances of one class.

    c(q, d) = f(q + d) - f(q) - K(q) d = K1(d) d / 2 + K2(d, d) (q + d / 3),     f = K0 q + K1(q) q / 2 + K2(q, q) q / 3

since K1(q) d = K1(d) q and K2(q, d) d = K2(d, d) q. c is small where d is, so K2 = G p, with p of all products d_i d_j,
is taken from the few squares that make up most of the quartic energy, as eigenpairs of G have them:

    G ~ sum sign v v^T,     K2(d, d) ~ sum sign v (v . p)

which for 20 coordinates costs a third of f and K. The squares are sought in coordinates in which equal amplitudes
have equal linear energies; those below `LEAST` of the largest are left out.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, lane_sum, load, store, value_at
from supple.modal.forces.lane_force_kernels import STRIP, add_strip, tangent_rows
from supple.modal.forces.lone_force_kernels import strip_count

Array = np.ndarray
LEAST = 1e-2
"""Squares kept, of the largest one."""
ROWS = 4
"""Squares that are summed at a time."""


class Squares(NamedTuple):
    """v of the positive squares (n, width), and of the negative ones; width = LANES `strip_count`, n: times ROWS."""

    positive: Array
    negative: Array


def quartic_squares(linear: Array, G: Array, least: float = LEAST) -> Squares:
    """Of K0 (r, r) and the symmetric G (pairs, pairs) of K2, see the module."""
    r = len(linear)
    i, j = np.triu_indices(r)
    stiffness = np.maximum(np.diag(linear), 1e-9 * np.diag(linear).max())
    scale = np.sqrt(np.where(i == j, 1.0, 2.0) / (stiffness[i] * stiffness[j]))
    values, vectors = np.linalg.eigh(scale[:, None] * G * scale)
    largest = np.abs(values).max()
    return Squares(
        _rows(values, vectors, values > least * largest, scale, r),
        _rows(values, vectors, -values > least * largest, scale, r),
    )


def _rows(values: Array, vectors: Array, chosen: Array, scale: Array, r: int) -> Array:
    count = int(chosen.sum())
    out = np.zeros((ROWS * -(-count // ROWS), LANES * strip_count.py_func(r)))
    out[:count, : len(scale)] = (vectors[:, chosen] * np.sqrt(np.abs(values[chosen]))).T / scale
    return out


@compiled(borrows=True)
def multiply_squares(squares, start, middle, end, width, scratch, p, out):
    """`width` numbers of scratch from `out` on = G p, of one instance; squares from `start`, negative from `middle`."""
    none = load(scratch, p) * 0.0
    for n in range(0, width, LANES):
        store(scratch, out + n, none)
    for at in range(start, end, ROWS * width):
        a, b, c, d = none, none, none, none
        one, two, three = at + width, at + 2 * width, at + 3 * width
        for n in range(0, width, LANES):
            x = load(scratch, p + n)
            a += load(squares, at + n) * x
            b += load(squares, one + n) * x
            c += load(squares, two + n) * x
            d += load(squares, three + n) * x
        sign = 1.0 if at < middle else -1.0
        s, t, u, v = sign * lane_sum(a), sign * lane_sum(b), sign * lane_sum(c), sign * lane_sum(d)
        for n in range(0, width, LANES):
            y = load(scratch, out + n) + s * load(squares, at + n)
            z = t * load(squares, one + n) + u * load(squares, two + n)
            store(scratch, out + n, y + (z + v * load(squares, three + n)))


@compiled(inline=True)
def add_bent(strips, at, count, scratch, p, r, out):
    """Numbers of scratch from `out` on += K1(d) d / 2 = T^T p / 2 of one instance, T in strips from `at` on."""
    none, step = load(scratch, p) * 0.0, LANES * r
    for l in range(0, r, ROWS):
        last = r - 1 - l  # columns beyond the last one are read as that one, and not stored
        here = at + LANES * l
        one, two, three = LANES * min(1, last), LANES * min(2, last), LANES * min(3, last)
        a, b, c, d = none, none, none, none
        for n in range(count):
            x = load(scratch, p + LANES * n)
            a += load(strips, here) * x
            b += load(strips, here + one) * x
            c += load(strips, here + two) * x
            d += load(strips, here + three) * x
            here += step
        scratch[out + l] += 0.5 * lane_sum(a)  # (13.2)
        if last >= 1:
            scratch[out + l + 1] += 0.5 * lane_sum(b)
        if last >= 2:
            scratch[out + l + 2] += 0.5 * lane_sum(c)
        if last >= 3:
            scratch[out + l + 3] += 0.5 * lane_sum(d)


@compiled(borrows=True)
def compute_lone_change(r, strips, at_strips, squares, start, middle, end, scratch, at, q, moved, here, c_out):
    """c (r) of one instance, a number every LANES places of scratch from c_out on; q and q + d = moved from `here` on.

    strips from `at_strips` on: of `lone_arrays`. scratch from `at`: `change_scratch` numbers. Rows of the triangles
    are taken in whole lanes: what the last one has more is multiplied by zeros, or written over by the next row.
    """
    count = strip_count(r)
    p, second = at, at + LANES * (count + 1)
    d = second + LANES * (count + 1)
    e, c, none = d + r + LANES, d + 2 * (r + LANES), load(squares, start) * 0.0
    store(scratch, d + r, none)
    store(scratch, e + r, none)
    for i in range(0, r, LANES):
        store(scratch, c + i, none)
    store(scratch, c + r, none)
    for i in range(r):
        change = moved[here + LANES * i] - q[here + LANES * i]
        scratch[d + i] = change
        scratch[e + i] = q[here + LANES * i] + (1.0 / 3.0) * change  # (13.2)
    row = p
    for i in range(r):
        d_i = scratch[d + i]
        for n in range(0, r - i, LANES):
            store(scratch, row + n, 2.0 * d_i * load(scratch, d + i + n))
        scratch[row] = d_i * d_i
        row += r - i
    store(scratch, row, none)
    multiply_squares(squares, start, middle, end, LANES * count, scratch, p, second)
    store(scratch, second + LANES * count, none)
    row = second
    for i in range(r):
        e_i, total = scratch[e + i], none
        for n in range(0, r - i, LANES):
            y = load(scratch, row + n)
            total += y * load(scratch, e + i + n)  # (13.2)
            store(scratch, c + i + n, load(scratch, c + i + n) + e_i * y)
        scratch[c + i] += lane_sum(total) - e_i * scratch[row]  # the diagonal was added twice
        row += r - i
    add_bent(strips, at_strips, count, scratch, p, r, c)
    for i in range(r):
        scratch[c_out + LANES * i] = scratch[c + i]


@compiled(borrows=True)
def compute_lane_change(r, strips, at, squares, start, middle, end, scratch, free, q, moved, here, c_out):
    """Rows c (r) of scratch from c_out on of LANES instances; rows q and q + d = moved from `here` on.

    strips from `at` on: of `lane_strips`; squares: as for one. scratch from `free` on: `change_scratch` numbers.
    """
    rows, pairs, width = tangent_rows(r), r * (r + 1) // 2, LANES * strip_count(r)
    products, second = free, free + LANES * rows
    d, row = second + LANES * rows, products
    none = load(q, here) * 0.0
    for i in range(r):
        store(scratch, d + LANES * i, load(moved, here + LANES * i) - load(q, here + LANES * i))
        store(scratch, c_out + LANES * i, none)
    for i in range(r):
        d_i = load(scratch, d + LANES * i)
        for j in range(i, r):
            store(scratch, row, (1.0 if i == j else 2.0) * d_i * load(scratch, d + LANES * j))
            row += LANES
    for m in range(pairs):
        store(scratch, second + LANES * m, none)
    for v in range(start, end, ROWS * width):
        s0, s1, s2, s3 = none, none, none, none
        for m in range(pairs):
            x = load(scratch, products + LANES * m)
            s0 += value_at(squares, v + m) * x
            s1 += value_at(squares, v + width + m) * x
            s2 += value_at(squares, v + 2 * width + m) * x
            s3 += value_at(squares, v + 3 * width + m) * x
        sign = 1.0 if v < middle else -1.0
        s0, s1, s2, s3 = sign * s0, sign * s1, sign * s2, sign * s3
        for m in range(pairs):
            y = load(scratch, second + LANES * m) + value_at(squares, v + m) * s0
            z = value_at(squares, v + width + m) * s1 + value_at(squares, v + 2 * width + m) * s2
            store(scratch, second + LANES * m, y + (z + value_at(squares, v + 3 * width + m) * s3))
    for strip in range(0, rows, STRIP):  # K1 takes the place of the products
        at += STRIP
        one = (none, none, none, none, none, none, none, none)
        for l in range(r):
            one = add_strip(one, strips, at, load(scratch, d + LANES * l))
            at += STRIP
        at += STRIP * pairs
        for k in range(STRIP):
            store(scratch, products + LANES * (strip + k), one[k])
    row = 0
    for i in range(r):
        d_i = load(scratch, d + LANES * i)
        e_i, half_i, sum_i = load(q, here + LANES * i) + (1.0 / 3.0) * d_i, 0.5 * d_i, load(scratch, c_out + LANES * i)
        sum_i += load(scratch, products + row) * half_i + load(scratch, second + row) * e_i
        row += LANES
        for j in range(i + 1, r):
            d_j, one, two = load(scratch, d + LANES * j), load(scratch, products + row), load(scratch, second + row)
            there = c_out + LANES * j
            sum_i += 0.5 * one * d_j + two * (load(q, here + LANES * j) + (1.0 / 3.0) * d_j)  # (13.2)
            store(scratch, there, load(scratch, there) + (one * half_i + two * e_i))
            row += LANES
        store(scratch, c_out + LANES * i, sum_i)


@compiled(inline=True)
def change_scratch(r):
    """Numbers of scratch of either way: K1 or products, K2, d; products, K2, d, q + d / 3, c."""
    return max(LANES * (2 * tangent_rows(r) + r), 2 * LANES * (strip_count(r) + 1) + 3 * (r + LANES))
