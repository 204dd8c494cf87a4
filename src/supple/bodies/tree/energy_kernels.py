"""Elastic energy of domains, lanes of one class at once.

    E = sum over a <= b <= c <= d of c2 q_a q_b + c3 q_a q_b q_c + c4 q_a q_b q_c q_d

Coefficients lie in rows over products of two coordinates, c <= d, in this order: with b in c4 or a in c3 they are the
last of all such.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, store


@compiled(inline=True)
def lanes_row(c, at, m, first, last):
    """A row of coefficients, from c[at] on, times the products first to last - 1; in four sums, none of which waits."""
    s0 = 0.0 * load(m, 0)
    s1, s2, s3 = s0, s0, s0
    k, place = first, LANES * first
    while k + 4 <= last:
        s0 += c[at] * load(m, place)
        s1 += c[at + 1] * load(m, place + LANES)
        s2 += c[at + 2] * load(m, place + 2 * LANES)
        s3 += c[at + 3] * load(m, place + 3 * LANES)
        k, at, place = k + 4, at + 4, place + 4 * LANES
    while k < last:
        s0 += c[at] * load(m, place)
        k, at, place = k + 1, at + 1, place + LANES
    return (s0 + s1) + (s2 + s3)


@compiled(borrows=True)
def lanes_energy(arrays, c, r, q, m):
    """E of lanes of domains of class c, at size and tuning 1: lanes of their coordinates q (r rows). m: scratch."""
    none = 0.0 * load(m, 0)
    two, three, four = arrays.first[c, 0], arrays.first[c, 1], arrays.first[c, 2]
    if two < 0 or r == 0:
        return none
    count, pair = r * (r + 1) // 2, 0
    for i in range(r):
        for j in range(i, r):
            store(m, pair * LANES, load(q, i * LANES) * load(q, j * LANES))
            pair += 1
    total, pair, diagonal = lanes_row(arrays.c2, two, m, 0, count), 0, 0
    for i in range(r):
        total += load(q, i * LANES) * lanes_row(arrays.c3, three, m, diagonal, count)
        three += count - diagonal
        second = diagonal  # where products that begin with j do
        for j in range(i, r):
            total += load(m, pair * LANES) * lanes_row(arrays.c4, four, m, second, count)
            four += count - second
            second, pair = second + r - j, pair + 1
        diagonal += r - i
    return total
