"""Small dense matrices in rows of LANES numbers: factors and solutions of many groups' matrices at once."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling import compiled
from supple.algebra.lanes import LANES, load, store
from supple.algebra.ldlt import is_bad_pivot


@compiled(borrows=True)
def factor_lanes(a, base, r):
    """L D L^T of (r, r) lower triangles in rows from base, in place, as `algebra.ldlt`. Returns -1 or a bad row."""
    row = r * LANES
    for i in range(r):
        at_i = base + i * row
        for j in range(i):
            at_j = base + j * row
            w = load(a, at_i + j * LANES)
            w1, w2, w3, even = w * 0.0, w * 0.0, w * 0.0, j - j % 4
            for k in range(0, even, 4):  # four sums, so that none waits for another
                w -= load(a, at_i + k * LANES) * load(a, at_j + k * LANES)
                w1 -= load(a, at_i + (k + 1) * LANES) * load(a, at_j + (k + 1) * LANES)
                w2 -= load(a, at_i + (k + 2) * LANES) * load(a, at_j + (k + 2) * LANES)
                w3 -= load(a, at_i + (k + 3) * LANES) * load(a, at_j + (k + 3) * LANES)
            for k in range(even, j):
                w -= load(a, at_i + k * LANES) * load(a, at_j + k * LANES)
            store(a, at_i + j * LANES, (w + w1) + (w2 + w3))
        d = load(a, at_i + i * LANES)
        for j in range(i):
            w = load(a, at_i + j * LANES)
            l = w * load(a, base + j * row + j * LANES)
            d -= w * l
            store(a, at_i + j * LANES, l)
        if is_bad_pivot(d):
            return i
        store(a, at_i + i * LANES, 1.0 / d)
    return -1


@compiled(borrows=True)
def solve_seven(a, base, b, at, r):
    """Rows b (r, 7) from `at` <- A^-1 b, with the factors of `factor_lanes`."""
    row = r * LANES
    for i in range(r):
        here = at + 7 * LANES * i
        x0, x1, x2, x3 = load(b, here), load(b, here + LANES), load(b, here + 2 * LANES), load(b, here + 3 * LANES)
        x4, x5, x6 = load(b, here + 4 * LANES), load(b, here + 5 * LANES), load(b, here + 6 * LANES)
        for k in range(i):
            l, there = load(a, base + i * row + k * LANES), at + 7 * LANES * k
            x0 -= l * load(b, there)
            x1 -= l * load(b, there + LANES)
            x2 -= l * load(b, there + 2 * LANES)
            x3 -= l * load(b, there + 3 * LANES)
            x4 -= l * load(b, there + 4 * LANES)
            x5 -= l * load(b, there + 5 * LANES)
            x6 -= l * load(b, there + 6 * LANES)
        store_seven(b, here, (x0, x1, x2, x3, x4, x5, x6))
    for i in range(r - 1, -1, -1):
        here, d = at + 7 * LANES * i, load(a, base + i * row + i * LANES)
        x0, x1, x2 = d * load(b, here), d * load(b, here + LANES), d * load(b, here + 2 * LANES)
        x3, x4 = d * load(b, here + 3 * LANES), d * load(b, here + 4 * LANES)
        x5, x6 = d * load(b, here + 5 * LANES), d * load(b, here + 6 * LANES)
        for k in range(i + 1, r):
            l, there = load(a, base + k * row + i * LANES), at + 7 * LANES * k
            x0 -= l * load(b, there)
            x1 -= l * load(b, there + LANES)
            x2 -= l * load(b, there + 2 * LANES)
            x3 -= l * load(b, there + 3 * LANES)
            x4 -= l * load(b, there + 4 * LANES)
            x5 -= l * load(b, there + 5 * LANES)
            x6 -= l * load(b, there + 6 * LANES)
        store_seven(b, here, (x0, x1, x2, x3, x4, x5, x6))


@compiled(inline=True)
def store_seven(b, at, x):
    """Seven rows."""
    for c in range(7):
        store(b, at + c * LANES, x[c])


@compiled(borrows=True)
def eliminate_general(a, base, b, at, r):
    """Rows b (r, 7) <- A^-1 b for full matrices (r, r) that need not be symmetric; A is spoilt. -1 or a bad row."""
    row = r * LANES
    for k in range(r):
        pivot = load(a, base + k * row + k * LANES)
        if is_bad_pivot(pivot):
            return k
        inverse = 1.0 / pivot
        for i in range(r):
            if i == k:
                continue
            l = inverse * load(a, base + i * row + k * LANES)
            for j in range(k + 1, r):
                here = base + i * row + j * LANES
                store(a, here, load(a, here) - l * load(a, base + k * row + j * LANES))
            for c in range(7):
                here = at + LANES * (7 * i + c)
                store(b, here, load(b, here) - l * load(b, at + LANES * (7 * k + c)))
    for k in range(r):
        inverse = 1.0 / load(a, base + k * row + k * LANES)
        for c in range(7):
            here = at + LANES * (7 * k + c)
            store(b, here, inverse * load(b, here))
    return -1


@compiled(inline=True)
def add_tile(work, a, b, c):
    """c (16 values) + a b^T of four rows each from `a` and `b`."""
    a0, a1, a2, a3 = load(work, a), load(work, a + LANES), load(work, a + 2 * LANES), load(work, a + 3 * LANES)
    b0, b1, b2, b3 = load(work, b), load(work, b + LANES), load(work, b + 2 * LANES), load(work, b + 3 * LANES)
    return (
        c[0] + a0 * b0, c[1] + a0 * b1, c[2] + a0 * b2, c[3] + a0 * b3,
        c[4] + a1 * b0, c[5] + a1 * b1, c[6] + a1 * b2, c[7] + a1 * b3,
        c[8] + a2 * b0, c[9] + a2 * b1, c[10] + a2 * b2, c[11] + a2 * b3,
        c[12] + a3 * b0, c[13] + a3 * b1, c[14] + a3 * b2, c[15] + a3 * b3,
    )  # fmt: skip


@compiled(inline=True)
def load_four(work, at):
    """Four rows."""
    return load(work, at), load(work, at + LANES), load(work, at + 2 * LANES), load(work, at + 3 * LANES)


@compiled(inline=True)
def store_four(work, at, x0, x1, x2, x3):
    """Four rows."""
    store(work, at, x0)
    store(work, at + LANES, x1)
    store(work, at + 2 * LANES, x2)
    store(work, at + 3 * LANES, x3)


@compiled(borrows=True)
def add_products(work, a, a_low, b, b_low, r, width, out):
    """Rows out (r, r) += A^T B of matrices (6, r), three rows of each from a and b, three from a_low and b_low.

    In tiles of 4 x 4, so that a value loaded serves four products. width: r, or 0 for the lower triangle alone.
    """
    step, whole = r * LANES, r - r % 4
    for i in range(0, whole, 4):
        for j in range(0, max(i + 4, width - width % 4), 4):
            here = out + LANES * (i * r + j)
            top, low = here, here + 2 * step
            c = load_four(work, top) + load_four(work, top + step) + load_four(work, low) + load_four(work, low + step)
            for k in range(3):
                c = add_tile(work, a + k * step + i * LANES, b + k * step + j * LANES, c)
                c = add_tile(work, a_low + k * step + i * LANES, b_low + k * step + j * LANES, c)
            store_four(work, here, c[0], c[1], c[2], c[3])
            store_four(work, here + step, c[4], c[5], c[6], c[7])
            store_four(work, here + 2 * step, c[8], c[9], c[10], c[11])
            store_four(work, here + 3 * step, c[12], c[13], c[14], c[15])
    for i in range(r):  # what the tiles leave out
        first = whole if i < whole else 0
        for j in range(first, max(i + 1, width)):
            here = out + LANES * (i * r + j)
            value = load(work, here)
            for k in range(3):
                value += load(work, a + k * step + i * LANES) * load(work, b + k * step + j * LANES)
                value += load(work, a_low + k * step + i * LANES) * load(work, b_low + k * step + j * LANES)
            store(work, here, value)
