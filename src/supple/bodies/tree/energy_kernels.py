"""Elastic energy of domains, one by one or lanes of one class at once.

    E = sum over a <= b <= c <= d of c2 q_a q_b + c3 q_a q_b q_c + c4 q_a q_b q_c q_d

Coefficients lie in rows over products of two coordinates, c <= d, in this order: with b in c4 or a in c3 they are the
last of all such. Rows are filled up to whole lanes by zeros.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, lane_sum, load, store


@compiled(inline=True)
def add_row(c, at, m, first, last, total):
    """Total plus a row of coefficients, from c[at] on, times m[first:last], lane by lane."""
    for k in range(first, last, LANES):
        total += load(c, at + k - first) * load(m, k)
    return total


@compiled(inline=True)
def add_lanes_row(c, at, m, first, last, total):
    """The same for lanes of domains: rows first to last - 1 of m."""
    for k in range(first, last):
        total += c[at + k - first] * load(m, k * LANES)
    return total


@compiled(inline=True)
def row_length(first, last):
    """Of the products first to last - 1, filled up."""
    return (last - first + LANES - 1) // LANES * LANES


@compiled(borrows=True)
def elastic_energy(arrays, c, r, q, at, m):
    """E of the coordinates q[at : at + r] of a domain of class c, at scale and tuning 1. m: scratch."""
    two, three, four = arrays.first[c, 0], arrays.first[c, 1], arrays.first[c, 2]
    if two < 0 or r == 0:
        return 0.0
    count = 0
    for i in range(r):
        for j in range(i, r):
            m[count] = q[at + i] * q[at + j]
            count += 1
    for k in range(count, count + LANES):
        m[k] = 0.0
    none = 0.0 * load(m, count)
    total, pair, diagonal = add_row(arrays.c2, two, m, 0, count, none), 0, 0
    for i in range(r):
        total += q[at + i] * add_row(arrays.c3, three, m, diagonal, count, none)
        three += row_length(diagonal, count)
        second = diagonal  # where products that begin with j do
        for j in range(i, r):
            total += m[pair] * add_row(arrays.c4, four, m, second, count, none)
            four += row_length(second, count)
            second, pair = second + r - j, pair + 1
        diagonal += r - i
    return lane_sum(total)


@compiled(borrows=True)
def lanes_energy(arrays, chain, group, q, m):
    """E of a group of domains of one class, with their sizes and tunings. m: scratch, of LANES times as many."""
    first = arrays.groups[group, 0]
    c, r = arrays.kind[first], chain.start[first + 1] - chain.start[first]
    two, three, four = arrays.first[c, 0], arrays.first[c, 1], arrays.first[c, 2]
    if two < 0 or r == 0:
        return 0.0
    count = r * (r + 1) // 2
    own = LANES * (count + 1)  # where the coordinates lie, and the factors before them
    for b in range(LANES):
        d = arrays.groups[group, b]
        m[LANES * count + b] = arrays.tuning[d] ** 2 * arrays.scale[d] ** 3 if d >= 0 else 0.0
        for l in range(r):
            m[own + l * LANES + b] = q[chain.start[d] + l] if d >= 0 else 0.0
    pair = 0
    for i in range(r):
        for j in range(i, r):
            store(m, pair * LANES, load(m, own + i * LANES) * load(m, own + j * LANES))
            pair += 1
    none = 0.0 * load(m, 0)
    total, pair, diagonal = add_lanes_row(arrays.c2, two, m, 0, count, none), 0, 0
    for i in range(r):
        total += load(m, own + i * LANES) * add_lanes_row(arrays.c3, three, m, diagonal, count, none)
        three += row_length(diagonal, count)
        second = diagonal
        for j in range(i, r):
            total += load(m, pair * LANES) * add_lanes_row(arrays.c4, four, m, second, count, none)
            four += row_length(second, count)
            second, pair = second + r - j, pair + 1
        diagonal += r - i
    return lane_sum(total * load(m, LANES * count))
