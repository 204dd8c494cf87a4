"""Kernels of the supernodal Cholesky factor: the elimination tree, and the sweeps forward and backward."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling import compiled


@compiled
def elimination_tree(indptr, indices, parent_out):
    """Parent of each column of a symmetric pattern, -1 for a root; path compression [Liu90]."""
    n = indptr.size - 1
    ancestor = np.full(n, -1, dtype=np.int64)
    for j in range(n):
        parent_out[j] = -1
        for e in range(indptr[j], indptr[j + 1]):
            i = indices[e]
            while i != -1 and i < j:
                following = ancestor[i]
                ancestor[i] = j
                if following == -1:
                    parent_out[i] = j
                i = following


@compiled
def postorder(parent, order_out):
    """order_out[k]: the column that comes k-th when each follows its children."""
    n = parent.size
    head, after, stack = np.full(n, -1, np.int64), np.full(n, -1, np.int64), np.empty(n, np.int64)
    for j in range(n - 1, -1, -1):
        if parent[j] >= 0:
            after[j] = head[parent[j]]
            head[parent[j]] = j
    k = 0
    for root in range(n):
        if parent[root] >= 0:
            continue
        top = 0
        stack[0] = root
        while top >= 0:
            j = stack[top]
            child = head[j]
            if child == -1:
                order_out[k] = j
                k += 1
                top -= 1
            else:
                head[j] = after[child]
                top += 1
                stack[top] = child


@compiled
def sweep(first, row_start, rows, value_start, values, work, x):
    """x <- L^-T L^-1 x in place.

    Supernode s: unknowns first[s] to first[s+1], rows below them, values (W; L21) by rows, with W = L11^-1. work: room
    for the longest supernode, three times.
    """
    count = first.size - 1
    longest = work.size // 3
    a, b, c = work[:longest], work[longest : 2 * longest], work[2 * longest :]
    for s in range(count):
        f, n, r0, r1 = first[s], first[s + 1] - first[s], row_start[s], row_start[s + 1]
        p = value_start[s]
        W = values[p : p + n * n].reshape(n, n)
        own = a[:n]
        np.dot(W, x[f : f + n], own)
        x[f : f + n] = own
        m = r1 - r0
        if m:
            L = values[p + n * n : p + n * n + m * n].reshape(m, n)
            below = b[:m]
            np.dot(L, own, below)
            for k in range(m):
                x[rows[r0 + k]] -= below[k]
    for s in range(count - 1, -1, -1):
        f, n, r0, r1 = first[s], first[s + 1] - first[s], row_start[s], row_start[s + 1]
        p, m = value_start[s], r1 - r0
        own = a[:n]
        if m:
            L = values[p + n * n : p + n * n + m * n].reshape(m, n)
            below = b[:m]
            for k in range(m):
                below[k] = x[rows[r0 + k]]
            np.dot(below, L, c[:n])
            for k in range(n):
                own[k] = x[f + k] - c[k]
        else:
            for k in range(n):
                own[k] = x[f + k]
        W = values[p : p + n * n].reshape(n, n)
        np.dot(own, W, c[:n])
        x[f : f + n] = c[:n]
