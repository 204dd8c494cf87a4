"""Kernels of `SparseCholesky`: fronts put together, panels stored, and the sweeps forward and backward."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled


@compiled
def compute_means(values, one, other, means_out):
    """means_out[k] = (values[one[k]] + values[other[k]]) / 2."""
    for k in range(len(one)):
        means_out[k] = 0.5 * (values[one[k]] + values[other[k]])


@compiled
def add_rows(starts, columns, values, order, rank, first, last, place, own_out, below_out):
    """Add rows first to last of a symmetric matrix, from the diagonal on, to the front with these unknowns."""
    k = last - first
    for i in range(first, last):
        for e in range(starts[order[i]], starts[order[i] + 1]):
            j = rank[columns[e]]
            if j >= last:
                below_out[i - first, place[j] - k] += values[e]
            elif j >= i:
                own_out[i - first, j - first] += values[e]


@compiled
def add_front(numbers, part, own_out, below_out, left_out):
    """Add what a child leaves, the upper triangle of part, at places `numbers` of the front, which ascend."""
    k, n = own_out.shape[0], numbers.size
    split = np.searchsorted(numbers, k)
    for i in range(split):
        row = numbers[i]
        for j in range(i, split):
            own_out[row, numbers[j]] += part[i, j]  # [Liu92]
        for j in range(split, n):
            below_out[row, numbers[j] - k] += part[i, j]  # [Liu92]
    for i in range(split, n):
        row = numbers[i] - k
        for j in range(i, n):
            left_out[row, numbers[j] - k] += part[i, j]  # [Liu92]


@compiled
def store_panel(W, own, below, values_out):
    """W (n, n) upper, own (n, m1) and below (n, m2) of one panel, all transposed, to its values by rows of L."""
    n, m = W.shape[0], own.shape[1]
    for i in range(n):
        for j in range(n):
            values_out[i * n + j] = W[j, i] if j <= i else 0.0
    for i in range(m):
        for j in range(n):
            values_out[(n + i) * n + j] = own[j, i]
    for i in range(below.shape[1]):
        for j in range(n):
            values_out[(n + m + i) * n + j] = below[j, i]


@compiled
def subtract_rows(part, rows, x_out):
    """x_out[rows] -= part; both (n,), or both (n, k)."""
    for i in range(rows.size):
        if x_out.ndim == 1:
            x_out[rows[i]] -= part[i]
        else:
            for j in range(x_out.shape[1]):
                x_out[rows[i], j] -= part[i, j]


@compiled
def gather_rows(x, rows, part_out):
    """part_out = x[rows]; both (n,), or both (n, k)."""
    for i in range(rows.size):
        if x.ndim == 1:
            part_out[i] = x[rows[i]]
        else:
            for j in range(x.shape[1]):
                part_out[i, j] = x[rows[i], j]


@compiled
def copy_rows(part, part_out):
    """part_out = part; both (n,), or both (n, k). Numba's own assignment of arrays takes two seconds to compile."""
    for i in range(len(part)):
        if part.ndim == 1:
            part_out[i] = part[i]
        else:
            for j in range(part.shape[1]):
                part_out[i, j] = part[i, j]


@compiled
def sweep(first, row_start, rows, value_start, values, work, x):
    """x <- L^-T L^-1 x in place, x (n,) or (n, k). work: workspace for the longest piece of a panel, three times."""
    count, longest = first.size - 1, work.shape[0] // 3
    a, b, c = work[:longest], work[longest : 2 * longest], work[2 * longest :]
    for p in range(count):
        f, n, r, m, v = first[p], first[p + 1] - first[p], row_start[p], row_start[p + 1] - row_start[p], value_start[p]
        own = a[:n]
        np.dot(values[v : v + n * n].reshape(n, n), x[f : f + n], own)
        copy_rows(own, x[f : f + n])
        if m:
            np.dot(values[v + n * n : v + n * n + m * n].reshape(m, n), own, b[:m])
            subtract_rows(b[:m], rows[r : r + m], x)
    for p in range(count - 1, -1, -1):
        f, n, r, m, v = first[p], first[p + 1] - first[p], row_start[p], row_start[p + 1] - row_start[p], value_start[p]
        own = a[:n]
        copy_rows(x[f : f + n], own)
        if m:
            gather_rows(x, rows[r : r + m], b[:m])
            np.dot(values[v + n * n : v + n * n + m * n].reshape(m, n).T, b[:m], c[:n])
            own -= c[:n]
        np.dot(values[v : v + n * n].reshape(n, n).T, own, c[:n])
        copy_rows(c[:n], x[f : f + n])
