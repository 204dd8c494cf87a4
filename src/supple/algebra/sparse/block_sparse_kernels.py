"""Kernels of `BlockSparse`: pattern from index pairs, look-up of pairs, products.

Rows are worked through in chunks of `CHUNK` block rows. A chunk's arithmetic does not depend on which thread
runs it, and sums over chunks are added in the order of the chunks, so one thread and many give the same bits.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.sparse.block_row_product import block_row_product

CHUNK = 256


class Blocks(NamedTuple):
    """The arrays of a block-sparse matrix as kernels take them.

    indptr: (block_row_count + 1) int32. indices: (block_count) int32. data: (9 block_count), blocks
    row-major.
    """

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray


@compiled
def count_pairs(rows, counts_out):
    """Number of pairs in each block row, the diagonal pair included. counts_out: (block_row_count) int64."""
    counts_out[:] = 1
    for pair in range(rows.size):
        counts_out[rows[pair]] += 1


@compiled
def gather_unique(rows, cols, starts, last_row_out, columns_out, counts_out):
    """Sort pairs into rows and drop the doubles, the diagonal first; columns of a row stay unsorted.

    starts: (block_row_count + 1) int64, from `count_pairs`. last_row_out: (block_row_count) int32 scratch.
    columns_out: (starts[-1]) int32, row r in [starts[r], starts[r] + counts_out[r]).
    """
    row_count = starts.size - 1
    for row in range(row_count):
        columns_out[starts[row]] = row
        counts_out[row] = 1
    for pair in range(rows.size):
        row = rows[pair]
        columns_out[starts[row] + counts_out[row]] = cols[pair]
        counts_out[row] += 1
    last_row_out[:] = -1
    for row in range(row_count):
        unique_end = starts[row]
        for entry in range(starts[row], starts[row] + counts_out[row]):
            column = columns_out[entry]
            if last_row_out[column] != row:
                last_row_out[column] = row
                columns_out[unique_end] = column
                unique_end += 1
        counts_out[row] = unique_end - starts[row]


@compiled
def transpose_pattern(starts, counts, columns, indptr_out, indices_out):
    """Pattern of the transpose; its rows come out sorted. indptr_out: (block_row_count + 1) int32."""
    row_count = counts.size
    indptr_out[:] = 0
    for row in range(row_count):
        for entry in range(starts[row], starts[row] + counts[row]):
            indptr_out[columns[entry] + 1] += 1
    for row in range(row_count):
        indptr_out[row + 1] += indptr_out[row]
    for row in range(row_count):
        for entry in range(starts[row], starts[row] + counts[row]):
            column = columns[entry]
            indices_out[indptr_out[column]] = row
            indptr_out[column] += 1
    for row in range(row_count, 0, -1):
        indptr_out[row] = indptr_out[row - 1]
    indptr_out[0] = 0


@compiled
def locate_pairs(indptr, indices, rows, cols, positions_out):
    """Place of each pair among the blocks, or -1, by bisection in the sorted row."""
    for pair in range(rows.size):
        low, high, column = indptr[rows[pair]], indptr[rows[pair] + 1], cols[pair]
        end = high
        while low < high:
            middle = (low + high) >> 1
            if indices[middle] < column:
                low = middle + 1
            else:
                high = middle
        positions_out[pair] = low if low < end and indices[low] == column else -1


@compiled
def multiply_rows(A, x, first, last, y_out):
    """y_out = A x in block rows first ... last - 1."""
    indptr, indices, data = A
    y = y_out[3 * first : 3 * last]
    for i in range(last - first):
        begin, end = np.int64(indptr[first + i]), np.int64(indptr[first + i + 1])
        y0, y1, y2 = block_row_product(data, indices, x, begin, end)
        y[3 * i], y[3 * i + 1], y[3 * i + 2] = y0, y1, y2


@compiled
def add_rows(A, x, factor, first, last, y_out):
    """y_out += factor A x in block rows first ... last - 1."""
    indptr, indices, data = A
    y = y_out[3 * first : 3 * last]
    for i in range(last - first):
        begin, end = np.int64(indptr[first + i]), np.int64(indptr[first + i + 1])
        y0, y1, y2 = block_row_product(data, indices, x, begin, end)
        y[3 * i] += factor * y0
        y[3 * i + 1] += factor * y1
        y[3 * i + 2] += factor * y2


@compiled(parallel=True)
def compute_product(A, x, parallel, y_out):
    """y_out = A x. x, y_out: (3 block_row_count)."""
    row_count = A.indptr.size - 1
    if parallel:
        for chunk in numba.prange((row_count + CHUNK - 1) // CHUNK):
            multiply_rows(A, x, chunk * CHUNK, min(chunk * CHUNK + CHUNK, row_count), y_out)
    else:
        multiply_rows(A, x, 0, row_count, y_out)


@compiled(parallel=True)
def add_product(A, x, factor, parallel, y_out):
    """y_out += factor A x. x, y_out: (3 block_row_count)."""
    row_count = A.indptr.size - 1
    if parallel:
        for chunk in numba.prange((row_count + CHUNK - 1) // CHUNK):
            add_rows(A, x, factor, chunk * CHUNK, min(chunk * CHUNK + CHUNK, row_count), y_out)
    else:
        add_rows(A, x, factor, 0, row_count, y_out)
