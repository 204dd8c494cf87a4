"""Kernels of the zero-fill incomplete Cholesky factorisation in 3x3 blocks.

    A ~ W D W^T      W unit lower triangular on the pattern of A, D block diagonal
    L_ij = A_ij - sum_{k<j} L_ik W_jk^T,   W_ij = L_ij D_j^-1,   D_i = A_ii - sum_{k<i} L_ik W_ik^T

with all sums restricted to blocks of the pattern [Saa03, sec. 10.3].
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.sparse.block_diagonal_kernels import apply_blocks, compute_filtered_block, invert_block
from supple.algebra.sparse.block_row_product import block_row_product


class IncompleteFactor(NamedTuple):
    """W strictly below the diagonal in block rows, its transpose in block rows, and D^-1.

    indptr: (block_row_count + 1) int32. indices: (lower_count) int32, sorted in each row. source:
    (lower_count) int32, places in the data of A. W: (lower_count, 3, 3). D_inverse: (block_row_count, 3, 3).
    upper_indptr, upper_indices, upper: the blocks W_ij^T in rows j; upper_place: (lower_count) int32, where
    each block of W stands there.
    """

    indptr: np.ndarray
    indices: np.ndarray
    source: np.ndarray
    W: np.ndarray
    D_inverse: np.ndarray
    upper_indptr: np.ndarray
    upper_indices: np.ndarray
    upper_place: np.ndarray
    upper: np.ndarray


@compiled
def compute_factor(data, diagonal, free, shift, row_place, row_blocks, factor):
    """Factor A (its diagonal scaled by 1 + shift); returns the first block row whose pivot fails, or -1.

    data: (block_count, 3, 3). diagonal: (block_row_count) int32. free: (block_row_count, 3), 1 or 0.
    row_place: (block_row_count) int32 scratch. row_blocks: (longest row + 1, 3, 3) scratch,
    the L_ij of one row and its pivot.
    """
    indptr, indices, source, W = factor.indptr, factor.indices, factor.source, factor.W
    D_inverse, upper, upper_place = factor.D_inverse, factor.upper, factor.upper_place
    pivot = row_blocks[row_blocks.shape[0] - 1]
    row_place[:] = -1
    for row in range(indptr.size - 1):
        begin, end = indptr[row], indptr[row + 1]
        compute_filtered_block(data[diagonal[row]], free[row], shift, pivot)  # [Man80]
        for entry in range(begin, end):
            row_place[indices[entry]] = entry - begin
        for entry in range(begin, end):
            column, L = indices[entry], row_blocks[entry - begin]
            for i in range(3):
                for j in range(3):
                    L[i, j] = free[row, i] * free[column, j] * data[source[entry], i, j]
            for other in range(indptr[column], indptr[column + 1]):
                place = row_place[indices[other]]
                if place >= 0:
                    subtract_product(row_blocks[place], W[other], L)  # [Saa03, sec. 10.3]
            for i in range(3):
                for j in range(3):
                    total = L[i, 0] * D_inverse[column, 0, j]
                    total += L[i, 1] * D_inverse[column, 1, j]
                    total += L[i, 2] * D_inverse[column, 2, j]
                    W[entry, i, j] = total  # [Saa03, sec. 10.3]
                    upper[upper_place[entry], j, i] = total
            subtract_product(L, W[entry], pivot)  # [Saa03, sec. 10.3]
        for entry in range(begin, end):
            row_place[indices[entry]] = -1
        if not invert_block(pivot, D_inverse[row]):
            return row
    return -1


@compiled
def subtract_product(a, b, c_out):
    """c_out -= a b^T for 3x3 blocks."""
    for i in range(3):
        for j in range(3):
            total = a[i, 0] * b[j, 0]
            total += a[i, 1] * b[j, 1]
            total += a[i, 2] * b[j, 2]
            c_out[i, j] -= total


@compiled
def apply_factor(factor, r, z_out):
    """z_out = (W D W^T)^-1 r. r, z_out: (3 block_row_count), not the same array."""
    indptr, indices, W = factor.indptr, factor.indices, factor.W.reshape(-1)
    upper_indptr, upper_indices, upper = factor.upper_indptr, factor.upper_indices, factor.upper.reshape(-1)
    row_count = indptr.size - 1
    for row in range(row_count):
        begin, end = np.int64(indptr[row]), np.int64(indptr[row + 1])
        s0, s1, s2 = block_row_product(W, indices, z_out, begin, end)
        z_out[3 * row] = r[3 * row] - s0
        z_out[3 * row + 1] = r[3 * row + 1] - s1
        z_out[3 * row + 2] = r[3 * row + 2] - s2
    apply_blocks(factor.D_inverse, z_out, z_out)
    for k in range(row_count):
        row = row_count - 1 - k
        begin, end = np.int64(upper_indptr[row]), np.int64(upper_indptr[row + 1])
        s0, s1, s2 = block_row_product(upper, upper_indices, z_out, begin, end)
        z_out[3 * row] -= s0
        z_out[3 * row + 1] -= s1
        z_out[3 * row + 2] -= s2
