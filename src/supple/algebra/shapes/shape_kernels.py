"""Kernels of rows over few shapes, in dense pieces of three rows each, and of a step whose laws yield by shapes.

row k:  pieces ptr[k] .. ptr[k + 1], each of `width` columns from `first`, values (3, width) from `start`
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled


class Pieces(NamedTuple):
    """W (3 k, R): ptr (k + 1,), first, width, start (e,), values (flat,)."""

    ptr: np.ndarray
    first: np.ndarray
    width: np.ndarray
    start: np.ndarray
    values: np.ndarray


@compiled
def count_pieces(indptr, indices, segment, ptr_out, has):
    """ptr_out (k + 1,): pieces of each three rows of a csr matrix. segment (R,): of each column; has: scratch, -1."""
    for k in range(len(ptr_out) - 1):
        count = 0
        for e in range(indptr[3 * k], indptr[3 * k + 3]):
            s = segment[indices[e]]
            if has[s] != k:
                has[s] = k
                count += 1
        ptr_out[k + 1] = ptr_out[k] + count


@compiled
def fill_pieces(indptr, indices, data, segment, starts, pieces, place):
    """Write the pieces of a csr matrix; starts (segments + 1,): columns of each; place (segments,): scratch, -1."""
    filled = 0
    for k in range(len(pieces.ptr) - 1):
        e = pieces.ptr[k]
        for i in range(3):
            for c in range(indptr[3 * k + i], indptr[3 * k + i + 1]):
                s = segment[indices[c]]
                if place[s] < pieces.ptr[k]:
                    place[s] = e
                    pieces.first[e], pieces.width[e] = starts[s], starts[s + 1] - starts[s]
                    pieces.start[e] = filled
                    filled += 3 * pieces.width[e]
                    e += 1
                at = place[s]
                pieces.values[pieces.start[at] + i * pieces.width[at] + indices[c] - starts[s]] += data[c]


@compiled
def multiply_pieces(pieces, y, u_out):
    """u_out (3 k,) = W y."""
    for k in range(len(pieces.ptr) - 1):
        for i in range(3):
            total = 0.0
            for e in range(pieces.ptr[k], pieces.ptr[k + 1]):
                w, at = pieces.width[e], pieces.first[e]
                here = pieces.start[e] + i * w
                for a in range(w):
                    total += pieces.values[here + a] * y[at + a]
            u_out[3 * k + i] = total


@compiled
def add_pulled(pieces, f, factor, g_out):
    """g_out (R,) += factor W^T f."""
    for k in range(len(pieces.ptr) - 1):
        for i in range(3):
            value = factor * f[3 * k + i]
            if value == 0.0:
                continue
            for e in range(pieces.ptr[k], pieces.ptr[k + 1]):
                w, at = pieces.width[e], pieces.first[e]
                here = pieces.start[e] + i * w
                for a in range(w):
                    g_out[at + a] += value * pieces.values[here + a]


@compiled
def fill_dense_rows(pieces, out):
    """out (3 k, R) = W."""
    for k in range(len(pieces.ptr) - 1):
        for e in range(pieces.ptr[k], pieces.ptr[k + 1]):
            w = pieces.width[e]
            for i in range(3):
                for a in range(w):
                    out[3 * k + i, pieces.first[e] + a] += pieces.values[pieces.start[e] + i * w + a]


@compiled
def add_gram(pieces, T, N_out):
    """N_out (R, R) += W^T T W of blocks T (k, 3, 3)."""
    TW = np.empty((3, len(N_out)))
    for k in range(len(pieces.ptr) - 1):
        t = T[k]
        if not t.any():
            continue
        for f in range(pieces.ptr[k], pieces.ptr[k + 1]):
            w, at, start, values = pieces.width[f], pieces.first[f], pieces.start[f], pieces.values
            for i in range(3):
                for b in range(w):
                    x, y, z = values[start + b], values[start + w + b], values[start + 2 * w + b]
                    TW[i, at + b] = t[i, 0] * x + t[i, 1] * y + t[i, 2] * z
            for e in range(pieces.ptr[k], pieces.ptr[k + 1]):
                here, wide = pieces.start[e], pieces.width[e]
                for a in range(wide):
                    x, y, z = values[here + a], values[here + wide + a], values[here + 2 * wide + a]
                    row = N_out[pieces.first[e] + a]
                    for b in range(at, at + w):
                        row[b] += x * TW[0, b] + y * TW[1, b] + z * TW[2, b]


@compiled
def invert_blocks(blocks, inverse_out):
    """Inverses of 3x3 blocks; False where one is singular."""
    for k in range(len(blocks)):
        a = blocks[k]
        c0 = a[1, 1] * a[2, 2] - a[1, 2] * a[2, 1]
        c1 = a[1, 2] * a[2, 0] - a[1, 0] * a[2, 2]
        c2 = a[1, 0] * a[2, 1] - a[1, 1] * a[2, 0]
        det = a[0, 0] * c0 + a[0, 1] * c1 + a[0, 2] * c2
        if det == 0.0 or not np.isfinite(det):
            return False
        out = inverse_out[k]
        out[0, 0], out[1, 0], out[2, 0] = c0 / det, c1 / det, c2 / det
        out[0, 1] = (a[0, 2] * a[2, 1] - a[0, 1] * a[2, 2]) / det
        out[1, 1] = (a[0, 0] * a[2, 2] - a[0, 2] * a[2, 0]) / det
        out[2, 1] = (a[0, 1] * a[2, 0] - a[0, 0] * a[2, 1]) / det
        out[0, 2] = (a[0, 1] * a[1, 2] - a[0, 2] * a[1, 1]) / det
        out[1, 2] = (a[0, 2] * a[1, 0] - a[0, 0] * a[1, 2]) / det
        out[2, 2] = (a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]) / det
    return True


@compiled
def subtract_blocks(ptr, cols, blocks, pieces, T, h, inverse, N_out):
    """N_out (R, R) -= V D^-1 U, V = W^T T J, U = h J^T T W, with the inverse blocks of D; J (ptr, cols, blocks)."""
    n, k, R = len(inverse), len(ptr) - 1, len(N_out)
    begin = np.zeros(n + 1, np.int64)
    for e in range(len(cols)):
        begin[cols[e] + 1] += 1
    for b in range(n):
        begin[b + 1] += begin[b]
    entry, contact, filled = np.empty(len(cols), np.int64), np.empty(len(cols), np.int64), begin.copy()
    for c in range(k):
        for e in range(ptr[c], ptr[c + 1]):
            entry[filled[cols[e]]], contact[filled[cols[e]]] = e, c
            filled[cols[e]] += 1
    V, U, DU = np.zeros((3, R)), np.zeros((3, R)), np.zeros((3, R))
    mark, firsts, widths = np.zeros(R, np.bool_), np.empty(R, np.int64), np.empty(R, np.int64)
    for b in range(n):
        count = 0
        for at in range(begin[b], begin[b + 1]):
            c, J = contact[at], blocks[entry[at]]
            TJ, JT = np.zeros((3, 3)), np.zeros((3, 3))
            for i in range(3):
                for j in range(3):
                    for m in range(3):
                        TJ[i, j] += T[c, i, m] * J[m, j]
                        JT[i, j] += h * J[m, i] * T[c, m, j]
            for e in range(pieces.ptr[c], pieces.ptr[c + 1]):
                w, first = pieces.width[e], pieces.first[e]
                if not mark[first]:
                    mark[first] = True
                    firsts[count], widths[count] = first, w
                    count += 1
                for m in range(3):
                    here = pieces.start[e] + m * w
                    for j in range(3):
                        v, u = TJ[m, j], JT[j, m]
                        for a in range(w):
                            V[j, first + a] += v * pieces.values[here + a]
                            U[j, first + a] += u * pieces.values[here + a]
        for s in range(count):
            for i in range(3):
                for r in range(firsts[s], firsts[s] + widths[s]):
                    DU[i, r] = inverse[b, i, 0] * U[0, r] + inverse[b, i, 1] * U[1, r] + inverse[b, i, 2] * U[2, r]
        for s in range(count):
            for r in range(firsts[s], firsts[s] + widths[s]):
                row, v0, v1, v2 = N_out[r], V[0, r], V[1, r], V[2, r]
                for t in range(count):
                    for q in range(firsts[t], firsts[t] + widths[t]):
                        row[q] -= v0 * DU[0, q] + v1 * DU[1, q] + v2 * DU[2, q]
        for s in range(count):
            mark[firsts[s]] = False
            for i in range(3):
                for r in range(firsts[s], firsts[s] + widths[s]):
                    V[i, r], U[i, r] = 0.0, 0.0
