"""The numeric phase of small factors as one compiled call: fronts [DR83, Liu92] of all supernodes, one by one.

A front has k own columns G (k + b, k) and what it leaves, (b, b), of which the lower triangles count. Its columns are
eliminated in panels: L11 L11^T = G11, W = L11^-1, L21 = G21 W^T. Products of matrices are those of BLAS.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled

STRIP = 96
"""Columns of what a front leaves that are updated at once: the upper triangle is not needed."""


class Fronts(NamedTuple):
    """What the pattern decides. Supernode s: columns first[s] to first[s + 1], below them rows[row_start[s] :
    row_start[s + 1]], children children[child_start[s] : child_start[s + 1]], panels panel_of[s] to panel_of[s + 1];
    panel p: columns panel_first[p] to panel_first[p + 1], values from value_start[p]. order, rank: of the unknowns."""

    order: np.ndarray
    rank: np.ndarray
    first: np.ndarray
    row_start: np.ndarray
    rows: np.ndarray
    child_start: np.ndarray
    children: np.ndarray
    panel_of: np.ndarray
    panel_first: np.ndarray
    value_start: np.ndarray


@compiled
def add_rows(starts, columns, values, fronts, s, place, G_out):
    """Add the own columns of a symmetric matrix, from the diagonal down, taken from its rows."""
    first, last = fronts.first[s], fronts.first[s + 1]
    for i in range(first, last):
        row = fronts.order[i]
        for e in range(starts[row], starts[row + 1]):
            j = fronts.rank[columns[e]]
            if j >= i:
                G_out[place[j], i - first] += values[e]


@compiled
def add_child(rows, part, place, G_out, left_out):
    """Add what a child leaves of these rows, the lower triangle of part. Places of its rows ascend."""
    k, numbers = G_out.shape[1], place[rows]
    split = np.searchsorted(numbers, k)
    for i in range(rows.size):
        row, new = G_out[numbers[i]], part[i]
        for j in range(min(i + 1, split)):
            row[numbers[j]] += new[j]  # [Liu92]
        if i >= split:
            row = left_out[numbers[i] - k]
            for j in range(split, i + 1):
                row[numbers[j] - k] += new[j]  # [Liu92]


@compiled
def factor_triangle(G, a, n, column, W_out):
    """W_out = L^-1 of L L^T = G[a : a + n, a : a + n], whose lower triangle becomes L; False where that is not positive
    definite. column (n,): scratch."""
    for j in range(n):
        pivot = G[a + j, a + j]
        if not pivot > 0.0:
            return False
        root = np.sqrt(pivot)
        G[a + j, a + j] = root
        for i in range(j + 1, n):
            column[i] = G[a + i, a + j] / root
            G[a + i, a + j] = column[i]
        for i in range(j + 1, n):
            factor, row = column[i], G[a + i, a : a + n]
            for l in range(j + 1, i + 1):
                row[l] -= factor * column[l]
    for i in range(n):
        for l in range(n):
            W_out[i, l] = 0.0
        W_out[i, i] = 1.0
        row = W_out[i]
        for j in range(i):
            factor, other = G[a + i, a + j], W_out[j]
            for l in range(j + 1):
                row[l] -= factor * other[l]
        scale = 1.0 / G[a + i, a + i]
        for l in range(i + 1):
            W_out[i, l] *= scale
    return True


@compiled
def subtract_square(B, columns, left_out):
    """left_out -= B B^T in so many first columns, in strips of them down from the diagonal."""
    b = B.shape[0]
    for begin in range(0, columns, STRIP):
        end = min(begin + STRIP, columns)
        change = np.dot(B[begin:], np.ascontiguousarray(B[begin:end].T))
        for i in range(b - begin):
            row, new = left_out[begin + i], change[i]
            for j in range(min(i + 1, end - begin)):
                row[begin + j] -= new[j]


@compiled
def eliminate_panel(G, a, n, values_out):
    """Columns a to a + n of a front, and what they change in its later columns; W and L21 to the values of the panel.
    False where it is not positive definite."""
    size, k = G.shape
    W, m = np.empty((n, n)), size - a - n
    if not factor_triangle(G, a, n, np.empty(n), W):
        return False
    for i in range(n):
        for j in range(n):
            values_out[i * n + j] = W[i, j]
    if m == 0:
        return True
    below = np.dot(np.ascontiguousarray(G[a + n :, a : a + n]), np.ascontiguousarray(W.T))
    for i in range(m):
        for j in range(n):
            values_out[(n + i) * n + j] = below[i, j]
            G[a + n + i, a + j] = below[i, j]
    subtract_square(below, k - a - n, G[a + n :, a + n :])
    return True


@compiled
def factor_fronts(starts, columns, values, fronts, values_out):
    """The values of all panels of L; False where the matrix, symmetric and given by rows, is not positive definite."""
    count = fronts.first.size - 1
    place, lefts = np.empty(fronts.order.size, dtype=np.int64), [np.empty((0, 0)) for _ in range(count)]
    for s in range(count):
        first, last = fronts.first[s], fronts.first[s + 1]
        rest = fronts.rows[fronts.row_start[s] : fronts.row_start[s + 1]]
        k, b = last - first, rest.size
        for i in range(k):
            place[first + i] = i
        for i in range(b):
            place[rest[i]] = k + i
        G, left = np.zeros((k + b, k)), np.zeros((b, b))
        add_rows(starts, columns, values, fronts, s, place, G)
        for e in range(fronts.child_start[s], fronts.child_start[s + 1]):
            child = fronts.children[e]
            rows = fronts.rows[fronts.row_start[child] : fronts.row_start[child + 1]]
            add_child(rows, lefts[child], place, G, left)
            lefts[child] = np.empty((0, 0))
        for p in range(fronts.panel_of[s], fronts.panel_of[s + 1]):
            a, n = fronts.panel_first[p] - first, fronts.panel_first[p + 1] - fronts.panel_first[p]
            if not eliminate_panel(G, a, n, values_out[fronts.value_start[p] : fronts.value_start[p + 1]]):
                return False
        if b:
            subtract_square(G[k:], b, left)
            lefts[s] = left
    return True
