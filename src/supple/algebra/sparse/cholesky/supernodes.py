"""`find_supernodes`: which dense pieces the Cholesky factor of a sparse symmetric matrix is made of.

Vertices are eliminated in the order of `nested_dissection`, then in the postorder of their elimination tree, which
changes no fill. Columns of L with the same rows below them form a supernode. A small one joins its parent where that
adds few zeros: dense algebra on them costs less than one more piece.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.sparse.cholesky.nested_dissection import nested_dissection

Array = np.ndarray
SMALL = 18
"""Supernodes of so few columns may hold MANY_ZEROS when joined with their parents."""
MANY_ZEROS, FEW_ZEROS = 0.5, 0.1
"""Zeros that a joined supernode may hold on and below the diagonal, as a part of width (width + rows): small, large."""


class Supernodes(NamedTuple):
    """order (n,): vertices, those first that are eliminated first. first (count + 1,): first place of each supernode.

    rows: places below supernode s in its columns of L, ascending, rows[row_start[s] : row_start[s + 1]].
    parent (count,): the supernode that holds the first of them; -1 where there are none.
    """

    order: Array
    first: Array
    row_start: Array
    rows: Array
    parent: Array


def find_supernodes(starts: Array, neighbours: Array, *, width: int = 1) -> Supernodes:
    """Of a symmetric graph, as of a csr matrix: neighbours of v are neighbours[starts[v] : starts[v + 1]].

    width: unknowns of a vertex.

    >>> line = np.clip(np.add.outer(np.arange(1000), [-1, 0, 1]), 0, 999)
    >>> found = find_supernodes(np.arange(0, 3001, 3), line.ravel())
    >>> int(found.first[-1]), bool(np.diff(found.row_start).max() <= 2)
    (1000, True)
    """
    starts, neighbours = starts.astype(np.int64), neighbours.astype(np.int64)
    order = nested_dissection(starts, neighbours)
    n = len(order)
    parent, after, rank, height = (np.empty(n, dtype=np.int64) for _ in range(4))
    compute_tree(starts, neighbours, order, rank_of(order, rank), parent)
    compute_postorder(parent, after)
    order = order[after]
    compute_tree(starts, neighbours, order, rank_of(order, rank), parent)
    compute_heights(starts, neighbours, order, rank, parent, height)
    first, tall = np.empty(n + 1, dtype=np.int64), np.empty(n, dtype=np.int64)
    count = join_columns(parent, height, max(SMALL // width, 1), first, tall)
    first = first[: count + 1].copy()
    row_start = np.concatenate([[0], np.cumsum(tall[:count])])
    rows, above = np.empty(row_start[-1], dtype=np.int64), np.empty(count, dtype=np.int64)
    compute_rows(starts, neighbours, order, rank, first, row_start, rows, above)
    return Supernodes(order, first, row_start, rows, above)


def rank_of(order: Array, rank_out: Array) -> Array:
    """Places of the vertices in an order, also returned."""
    rank_out[order] = np.arange(len(order))
    return rank_out


@compiled
def compute_tree(starts, neighbours, order, rank, parent_out):
    """Parent of each column of L, a later one, -1 for a root; path compression [Liu90]."""
    n = order.size
    ancestor = np.full(n, -1, dtype=np.int64)
    for j in range(n):
        parent_out[j] = -1
        for e in range(starts[order[j]], starts[order[j] + 1]):
            i = rank[neighbours[e]]
            while i != -1 and i < j:
                following = ancestor[i]
                ancestor[i] = j
                if following == -1:
                    parent_out[i] = j
                i = following


@compiled
def compute_postorder(parent, order_out):
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
def compute_heights(starts, neighbours, order, rank, parent, height_out):
    """Entries of each column of L below the diagonal: row i of L is the paths from the entries of A up to i."""
    n = order.size
    seen = np.full(n, -1, dtype=np.int64)
    height_out[:] = 0
    for i in range(n):
        seen[i] = i
        for e in range(starts[order[i]], starts[order[i] + 1]):
            j = rank[neighbours[e]]
            while j < i and seen[j] != i:
                seen[j] = i
                height_out[j] += 1
                j = parent[j]


@compiled
def join_columns(parent, height, small, first_out, height_out):
    """Supernodes of columns in postorder: first_out, their first columns and n; height_out, rows below. Returns count.

    The rows below a supernode are those of its last column.
    """
    n = parent.size
    zeros = np.zeros(n, dtype=np.int64)
    count, start = 0, 0
    for end in range(1, n + 1):
        if end < n and parent[end - 1] == end and height[end - 1] == height[end] + 1:
            continue
        a, tall, empty = start, height[end - 1], 0
        while count and a <= parent[a - 1] < end:  # the supernode before is a child
            width = a - first_out[count - 1]
            whole = end - first_out[count - 1]
            more = zeros[count - 1] + empty + width * (end - a + tall - height_out[count - 1])
            if more > (MANY_ZEROS if width <= small else FEW_ZEROS) * whole * (whole + tall):
                break
            count -= 1
            a, empty = first_out[count], more
        first_out[count], height_out[count], zeros[count] = a, tall, empty
        count += 1
        start = end
    first_out[count] = n
    return count


@compiled
def compute_rows(starts, neighbours, order, rank, first, row_start, rows_out, parent_out):
    """Rows below each supernode, ascending: those of A and those its children leave; and its parent."""
    count, n = first.size - 1, order.size
    owner, seen = np.empty(n, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    sibling, child = np.full(count, -1, dtype=np.int64), np.full(count, -1, dtype=np.int64)
    for s in range(count):
        owner[first[s] : first[s + 1]] = s
    for s in range(count):
        end, k = first[s + 1], row_start[s]
        for i in range(first[s], end):
            for e in range(starts[order[i]], starts[order[i] + 1]):
                j = rank[neighbours[e]]
                if j >= end and seen[j] != s:
                    seen[j] = s
                    rows_out[k] = j
                    k += 1
        c = child[s]
        while c >= 0:
            for e in range(row_start[c], row_start[c + 1]):
                j = rows_out[e]
                if j >= end and seen[j] != s:
                    seen[j] = s
                    rows_out[k] = j
                    k += 1
            c = sibling[c]
        own = rows_out[row_start[s] : row_start[s + 1]]
        own.sort()
        parent_out[s] = -1
        if own.size:
            above = owner[own[0]]
            parent_out[s] = above
            sibling[s] = child[above]
            child[above] = s
