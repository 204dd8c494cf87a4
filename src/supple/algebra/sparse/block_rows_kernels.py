"""Kernels of matrices that have few rows of 3x3 blocks."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled


@compiled(inline=True)
def copy_block(blocks, e, blocks_out, at):
    """blocks_out[at] = blocks[e]. Numba's own assignment of arrays takes two seconds to compile."""
    for i in range(3):
        for j in range(3):
            blocks_out[at, i, j] = blocks[e, i, j]


@compiled
def merge_blocks(ptr, cols, blocks, ptr_out):
    """Sort the blocks of every row by columns and sum those of one column, in place; returns how many are left."""
    filled = 0
    for row in range(ptr.size - 1):
        first = filled
        for e in range(ptr[row], ptr[row + 1]):
            col, at = cols[e], filled
            while at > first and cols[at - 1] > col:
                at -= 1
            if at > first and cols[at - 1] == col:
                for i in range(3):
                    for j in range(3):
                        blocks[at - 1, i, j] += blocks[e, i, j]
                continue
            block = blocks[e].copy()
            for k in range(filled, at, -1):
                cols[k] = cols[k - 1]
                copy_block(blocks, k - 1, blocks, k)
            cols[at] = col
            for i in range(3):
                for j in range(3):
                    blocks[at, i, j] = block[i, j]
            filled += 1
        ptr_out[row + 1] = filled
    return filled


@compiled
def compute_rows(ptr, cols, blocks, x, y_out):
    """y = J x."""
    for k in range(ptr.size - 1):
        a, b, c = 0.0, 0.0, 0.0
        for e in range(ptr[k], ptr[k + 1]):
            at = 3 * cols[e]
            u, v, w = x[at], x[at + 1], x[at + 2]
            a += blocks[e, 0, 0] * u + blocks[e, 0, 1] * v + blocks[e, 0, 2] * w
            b += blocks[e, 1, 0] * u + blocks[e, 1, 1] * v + blocks[e, 1, 2] * w
            c += blocks[e, 2, 0] * u + blocks[e, 2, 1] * v + blocks[e, 2, 2] * w
        y_out[3 * k], y_out[3 * k + 1], y_out[3 * k + 2] = a, b, c


@compiled
def add_transposed(ptr, cols, blocks, f, y_out):
    """y += J^T f."""
    for k in range(ptr.size - 1):
        a, b, c = f[3 * k], f[3 * k + 1], f[3 * k + 2]
        for e in range(ptr[k], ptr[k + 1]):
            at = 3 * cols[e]
            y_out[at] += blocks[e, 0, 0] * a + blocks[e, 1, 0] * b + blocks[e, 2, 0] * c
            y_out[at + 1] += blocks[e, 0, 1] * a + blocks[e, 1, 1] * b + blocks[e, 2, 1] * c
            y_out[at + 2] += blocks[e, 0, 2] * a + blocks[e, 1, 2] * b + blocks[e, 2, 2] * c


@compiled
def choose_rows(ptr, cols, blocks, rows, ptr_out, cols_out, blocks_out):
    """The rows of these numbers; ptr_out is known."""
    for k in range(rows.size):
        first = ptr[rows[k]]
        for e in range(ptr_out[k], ptr_out[k + 1]):
            cols_out[e] = cols[first + e - ptr_out[k]]
            copy_block(blocks, first + e - ptr_out[k], blocks_out, e)


@compiled
def fill_dense(ptr, cols, blocks, place, out):
    """J (3 k, 3 m) as a dense matrix, of the block columns that have a place >= 0 among m."""
    for k in range(ptr.size - 1):
        for e in range(ptr[k], ptr[k + 1]):
            at = place[cols[e]]
            if at >= 0:
                for i in range(3):
                    for j in range(3):
                        out[3 * k + i, 3 * at + j] += blocks[e, i, j]


@compiled
def widen_pattern(indptr, indices, ptr, cols):
    """The pattern of A + J^T K J, K with a block for each row of J: rows sorted.

    A by (indptr, indices), J by (ptr, cols). Returns indptr, indices, the block of A that each is, -1: none, where the
    blocks of each row of J are, in the order of `add_congruence`, and these once each, ascending.
    """
    n, pairs = indptr.size - 1, 0
    for k in range(ptr.size - 1):
        pairs += (ptr[k + 1] - ptr[k]) ** 2
    head, after, column = np.full(n, -1), np.empty(pairs, np.int64), np.empty(pairs, np.int32)
    more, extra = np.zeros(n, np.int64), 0
    for k in range(ptr.size - 1):
        for a in range(ptr[k], ptr[k + 1]):
            row = cols[a]
            for b in range(ptr[k], ptr[k + 1]):
                col = cols[b]
                if _place(indices, indptr[row], indptr[row + 1], col) >= 0:
                    continue
                before, at = -1, head[row]  # a sorted list for each row
                while at >= 0 and column[at] < col:
                    before, at = at, after[at]
                if at >= 0 and column[at] == col:
                    continue
                column[extra], after[extra] = col, at
                if before < 0:
                    head[row] = extra
                else:
                    after[before] = extra
                extra += 1
                more[row] += 1
    wide, source = np.zeros(n + 1, np.int32), np.full(indices.size + extra, -1)
    columns = np.empty(indices.size + extra, np.int32)
    filled = 0
    for row in range(n):
        at = head[row]
        for e in range(indptr[row], indptr[row + 1]):
            while at >= 0 and column[at] < indices[e]:
                columns[filled] = column[at]
                filled, at = filled + 1, after[at]
            columns[filled], source[filled] = indices[e], e
            filled += 1
        while at >= 0:
            columns[filled] = column[at]
            filled, at = filled + 1, after[at]
        wide[row + 1] = filled
    touched, p, is_touched = np.empty(pairs, np.int32), 0, np.zeros(filled, np.bool_)
    for k in range(ptr.size - 1):
        for a in range(ptr[k], ptr[k + 1]):
            row = cols[a]
            for b in range(ptr[k], ptr[k + 1]):
                touched[p] = _place(columns, wide[row], wide[row + 1], cols[b])
                is_touched[touched[p]] = True
                p += 1
    return wide, columns, source, touched, np.flatnonzero(is_touched)


@compiled(inline=True)
def _place(indices, first, end, col):
    """Where a column is in a sorted row, -1: nowhere."""
    last = end
    while first < last:
        middle = (first + last) // 2
        if indices[middle] < col:
            first = middle + 1
        else:
            last = middle
    return first if first < end and indices[first] == col else -1


@compiled
def find_connected(label, ptr, cols, coupled, touched, keep_out):
    """What hangs together with block rows that are touched (n,).

    label (n,): the component of each block row. Rows of J connect the components of their columns, and all rows that
    are coupled (k,) connect theirs.
    """
    count = 0
    for r in range(label.size):
        count = max(count, label[r] + 1)
    parent = np.arange(count + 1)  # the last: of coupled rows
    for k in range(ptr.size - 1):
        first = count if coupled[k] else (label[cols[ptr[k]]] if ptr[k + 1] > ptr[k] else count)
        for e in range(ptr[k], ptr[k + 1]):
            one, other = _root(parent, first), _root(parent, label[cols[e]])
            parent[max(one, other)] = min(one, other)
    reached = np.zeros(count + 1, np.bool_)
    for r in range(label.size):
        if touched[r]:
            reached[_root(parent, label[r])] = True
    for r in range(label.size):
        keep_out[r] = reached[_root(parent, label[r])]


@compiled
def find_hanging(label, ptr, cols, used, linked, touched, keep_out, rows_out):
    """The block columns (n,) and the rows of J (k,) that hang together with the rows that are touched (k,).

    label (n,): the component of each block column. Rows that are used (k,) connect the components of their columns;
    those that are linked (k,) are connected with each other, too.
    """
    count = 0
    for r in range(label.size):
        count = max(count, label[r] + 1)
    parent, reached = np.arange(count + 1), np.zeros(count + 1, np.bool_)  # the last: of linked rows
    for k in range(ptr.size - 1):
        if used[k] and (linked[k] or ptr[k + 1] > ptr[k]):
            first = count if linked[k] else label[cols[ptr[k]]]
            for e in range(ptr[k], ptr[k + 1]):
                one, other = _root(parent, first), _root(parent, label[cols[e]])
                parent[max(one, other)] = min(one, other)
    for k in range(ptr.size - 1):
        if touched[k] and (linked[k] or ptr[k + 1] > ptr[k]):
            reached[_root(parent, count if linked[k] else label[cols[ptr[k]]])] = True
    for r in range(label.size):
        keep_out[r] = reached[_root(parent, label[r])]
    for k in range(ptr.size - 1):
        is_on = used[k] and (linked[k] or ptr[k + 1] > ptr[k])
        rows_out[k] = is_on and reached[_root(parent, count if linked[k] else label[cols[ptr[k]]])]


@compiled(inline=True)
def _root(parent, k):
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k
