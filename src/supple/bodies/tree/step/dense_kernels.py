"""Small dense matrices in rows of LANES numbers: factors and solutions of many groups' matrices at once."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.ldlt import is_bad_pivot
from supple.algebra.lanes.lane_type import LANES, load, store, value_at


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


@compiled(inline=True)
def subtract_row(w, a, at, there, count):
    """w - sum of a[at + k] a[there + k], `count` rows of both."""
    for k in range(count):
        w -= load(a, at + k * LANES) * load(a, there + k * LANES)
    return w


@compiled(borrows=True)
def factor_row(a, base, r, i):
    """Row i of the factors, those above being there. Whether its pivot is bad."""
    row = r * LANES
    at_i = base + i * row
    for j in range(i):
        store(a, at_i + j * LANES, subtract_row(load(a, at_i + j * LANES), a, at_i, base + j * row, j))
    d = load(a, at_i + i * LANES)
    for j in range(i):
        w = load(a, at_i + j * LANES)
        l = w * load(a, base + j * row + j * LANES)
        d -= w * l
        store(a, at_i + j * LANES, l)
    if is_bad_pivot(d):
        return True
    store(a, at_i + i * LANES, 1.0 / d)
    return False


@compiled(borrows=True)
def reduce_square(a, at, above, j):
    """The square of four rows from `at` and columns from j on: W = L D of these, from the factors of rows `above`.

    at, above: (start, distance) of the first of four rows.
    """
    start, row = at
    top, _ = above
    here = start + j * LANES
    c0, c1, c2, c3 = load_four(a, here)
    c4, c5, c6, c7 = load_four(a, here + row)
    c8, c9, c10, c11 = load_four(a, here + 2 * row)
    c12, c13, c14, c15 = load_four(a, here + 3 * row)
    for k in range(j):
        at_w, at_l = start + k * LANES, top + k * LANES
        w0, w1, w2, w3 = load(a, at_w), load(a, at_w + row), load(a, at_w + 2 * row), load(a, at_w + 3 * row)
        l0, l1, l2, l3 = load(a, at_l), load(a, at_l + row), load(a, at_l + 2 * row), load(a, at_l + 3 * row)
        c0, c1, c2, c3 = c0 - w0 * l0, c1 - w0 * l1, c2 - w0 * l2, c3 - w0 * l3
        c4, c5, c6, c7 = c4 - w1 * l0, c5 - w1 * l1, c6 - w1 * l2, c7 - w1 * l3
        c8, c9, c10, c11 = c8 - w2 * l0, c9 - w2 * l1, c10 - w2 * l2, c11 - w2 * l3
        c12, c13, c14, c15 = c12 - w3 * l0, c13 - w3 * l1, c14 - w3 * l2, c15 - w3 * l3
    corner = top + j * LANES
    l10, l20, l21 = load(a, corner + row), load(a, corner + 2 * row), load(a, corner + 2 * row + LANES)
    l30, l31, l32 = load_four(a, corner + 3 * row)[:3]
    c1, c5, c9, c13 = c1 - c0 * l10, c5 - c4 * l10, c9 - c8 * l10, c13 - c12 * l10
    c2, c6 = c2 - c0 * l20 - c1 * l21, c6 - c4 * l20 - c5 * l21
    c10, c14 = c10 - c8 * l20 - c9 * l21, c14 - c12 * l20 - c13 * l21
    c3, c7 = c3 - c0 * l30 - c1 * l31 - c2 * l32, c7 - c4 * l30 - c5 * l31 - c6 * l32
    c11, c15 = c11 - c8 * l30 - c9 * l31 - c10 * l32, c15 - c12 * l30 - c13 * l31 - c14 * l32
    store_four(a, here, c0, c1, c2, c3)
    store_four(a, here + row, c4, c5, c6, c7)
    store_four(a, here + 2 * row, c8, c9, c10, c11)
    store_four(a, here + 3 * row, c12, c13, c14, c15)


@compiled(borrows=True)
def factor_corner(a, base, row, i):
    """Rows i ... i + 3 of the factors, from W = L D left of their square. 4, or 0 ... 3: a bad pivot."""
    at = base + i * row
    here = at + i * LANES
    c00, c10, c11 = load(a, here), load(a, here + row), load(a, here + row + LANES)
    c20, c21, c22 = load_four(a, here + 2 * row)[:3]
    c30, c31, c32, c33 = load_four(a, here + 3 * row)
    for k in range(i):
        d, there = load(a, base + k * row + k * LANES), at + k * LANES
        w0, w1, w2, w3 = load(a, there), load(a, there + row), load(a, there + 2 * row), load(a, there + 3 * row)
        l0, l1, l2, l3 = d * w0, d * w1, d * w2, d * w3
        c00, c10, c20, c30 = c00 - w0 * l0, c10 - w1 * l0, c20 - w2 * l0, c30 - w3 * l0
        c11, c21, c31 = c11 - w1 * l1, c21 - w2 * l1, c31 - w3 * l1
        c22, c32, c33 = c22 - w2 * l2, c32 - w3 * l2, c33 - w3 * l3
        store(a, there, l0)
        store(a, there + row, l1)
        store(a, there + 2 * row, l2)
        store(a, there + 3 * row, l3)
    if is_bad_pivot(c00):
        return 0
    d0 = 1.0 / c00
    l10, l20, l30 = d0 * c10, d0 * c20, d0 * c30
    c11, c21, c31 = c11 - c10 * l10, c21 - c20 * l10, c31 - c30 * l10
    if is_bad_pivot(c11):
        return 1
    d1 = 1.0 / c11
    l21, l31 = d1 * c21, d1 * c31
    c22, c32 = c22 - c20 * l20 - c21 * l21, c32 - c30 * l20 - c31 * l21
    if is_bad_pivot(c22):
        return 2
    d2 = 1.0 / c22
    l32 = d2 * c32
    c33 = c33 - c30 * l30 - c31 * l31 - c32 * l32
    if is_bad_pivot(c33):
        return 3
    store(a, here, d0)
    store(a, here + row, l10)
    store(a, here + row + LANES, d1)
    store(a, here + 2 * row, l20)
    store(a, here + 2 * row + LANES, l21)
    store(a, here + 2 * row + 2 * LANES, d2)
    store_four(a, here + 3 * row, l30, l31, l32, 1.0 / c33)
    return 4


@compiled(borrows=True)
def factor_lanes(a, base, r):
    """L D L^T of (r, r) lower triangles in rows from base, in place, as `algebra.ldlt`. Returns -1 or a bad row.

    Four rows at a time, in squares of four by four, so that a value loaded serves four products.
    """
    row, whole = r * LANES, r - r % 4
    for i in range(0, whole, 4):
        for j in range(0, i, 4):
            reduce_square(a, (base + i * row, row), (base + j * row, row), j)
        good = factor_corner(a, base, row, i)
        if good < 4:
            return i + good
    for i in range(whole, r):
        if factor_row(a, base, r, i):
            return i
    return -1


@compiled(inline=True)
def load_seven(b, at):
    """Seven rows."""
    return (*load_four(b, at), load(b, at + 4 * LANES), load(b, at + 5 * LANES), load(b, at + 6 * LANES))


@compiled(inline=True)
def less_seven(x, l, y):
    """x - l y of seven values."""
    return (
        x[0] - l * y[0], x[1] - l * y[1], x[2] - l * y[2], x[3] - l * y[3],
        x[4] - l * y[4], x[5] - l * y[5], x[6] - l * y[6],
    )  # fmt: skip


@compiled(inline=True)
def times_seven(d, x):
    """d x of seven values."""
    return d * x[0], d * x[1], d * x[2], d * x[3], d * x[4], d * x[5], d * x[6]


@compiled(borrows=True)
def solve_seven(a, base, b, at, r):
    """Rows b (r, 7) from `at` <- A^-1 b, with the factors of `factor_lanes`; two at a time."""
    row, step, even = r * LANES, 7 * LANES, r - r % 2
    for i in range(0, even, 2):
        here, left = at + step * i, base + i * row
        x, y = load_seven(b, here), load_seven(b, here + step)
        for k in range(i):
            z = load_seven(b, at + step * k)
            x = less_seven(x, load(a, left + k * LANES), z)
            y = less_seven(y, load(a, left + row + k * LANES), z)
        y = less_seven(y, load(a, left + row + i * LANES), x)
        store_seven(b, here, x)
        store_seven(b, here + step, y)
    if even < r:
        here = at + step * even
        x = load_seven(b, here)
        for k in range(even):
            x = less_seven(x, load(a, base + even * row + k * LANES), load_seven(b, at + step * k))
        store_seven(b, here, times_seven(load(a, base + even * row + even * LANES), x))
    for i in range(even - 2, -1, -2):
        here, corner = at + step * i, base + i * row + i * LANES
        x = times_seven(load(a, corner), load_seven(b, here))
        y = times_seven(load(a, corner + row + LANES), load_seven(b, here + step))
        for k in range(i + 2, r):
            z, there = load_seven(b, at + step * k), base + k * row + i * LANES
            x = less_seven(x, load(a, there), z)
            y = less_seven(y, load(a, there + LANES), z)
        store_seven(b, here, less_seven(x, load(a, corner + row), y))
        store_seven(b, here + step, y)


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
def add_outer(c, a, b):
    """c (16 values) + a b^T of four values each."""
    return (
        c[0] + a[0] * b[0], c[1] + a[0] * b[1], c[2] + a[0] * b[2], c[3] + a[0] * b[3],
        c[4] + a[1] * b[0], c[5] + a[1] * b[1], c[6] + a[1] * b[2], c[7] + a[1] * b[3],
        c[8] + a[2] * b[0], c[9] + a[2] * b[1], c[10] + a[2] * b[2], c[11] + a[2] * b[3],
        c[12] + a[3] * b[0], c[13] + a[3] * b[1], c[14] + a[3] * b[2], c[15] + a[3] * b[3],
    )  # fmt: skip


@compiled(inline=True)
def add_tile(work, a, b, c):
    """c (16 values) + a b^T of four rows each from `a` and `b`."""
    return add_outer(c, load_four(work, a), load_four(work, b))


@compiled(inline=True)
def add_tile_by(a, first, work, b, c):
    """The same with four values of `a` from `first` on, numbers of all lanes or lanes of their own."""
    four = value_at(a, first), value_at(a, first + 1), value_at(a, first + 2), value_at(a, first + 3)
    return add_outer(c, four, load_four(work, b))


@compiled(borrows=True)
def add_products(work, a, low, first, b, r, width, out):
    """Rows out (r, r) += A^T B of matrices (6, r): B in rows from b, of A three rows from a and three of `low`.

    low from `first` on: (3, r) constants, numbers of all lanes or lanes of their own. In tiles of 4 x 4, so that a
    value loaded serves four products. width: r, or 0 for the lower triangle alone.
    """
    step, whole, b_low = r * LANES, r - r % 4, b + 3 * r * LANES
    for i in range(0, whole, 4):
        for j in range(0, max(i + 4, width - width % 4), 4):
            here = out + LANES * (i * r + j)
            top, under = here, here + 2 * step
            c = load_four(work, top) + load_four(work, top + step)
            c = c + load_four(work, under) + load_four(work, under + step)
            for k in range(3):
                c = add_tile(work, a + k * step + i * LANES, b + k * step + j * LANES, c)
                c = add_tile_by(low, first + k * r + i, work, b_low + k * step + j * LANES, c)
            store_four(work, here, c[0], c[1], c[2], c[3])
            store_four(work, here + step, c[4], c[5], c[6], c[7])
            store_four(work, here + 2 * step, c[8], c[9], c[10], c[11])
            store_four(work, here + 3 * step, c[12], c[13], c[14], c[15])
    for i in range(r):  # what the tiles leave out
        for j in range(whole if i < whole else 0, max(i + 1, width)):
            here = out + LANES * (i * r + j)
            value = load(work, here)
            for k in range(3):
                value += load(work, a + k * step + i * LANES) * load(work, b + k * step + j * LANES)
                value += value_at(low, first + k * r + i) * load(work, b_low + k * step + j * LANES)
            store(work, here, value)
