"""`BlockSparse`: a square sparse matrix of 3x3 blocks with a fixed pattern, the tangent of a body or part.

Block-compressed rows: block row r owns the blocks indptr[r] ... indptr[r + 1] - 1, their columns sorted in
`indices`, their values in `data`, (block_count, 3, 3), row-major. The diagonal block of every row is present.
The pattern is made once from pairs of block indices; assembly looks up the places of its pairs once
(`locate`) and then adds 3x3 blocks at these places of `data`. Symmetry is the caller's: give both (i, j) and
(j, i).
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numba
import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray

from supple.algebra.sparse import block_sparse_kernels as kernels
from supple.errors import InputError

# Below this many blocks starting the threads costs more than they save.
PARALLEL_BLOCK_COUNT = 20_000


class BlockSparse:
    """Square matrix of 3x3 blocks, block-compressed rows, fixed pattern.

    indptr: (block_row_count + 1) int32. indices: (block_count) int32, sorted in each row.
    data: (block_count, 3, 3) float64. diagonal: (block_row_count) int32, places of the diagonal blocks.
    """

    def __init__(self, indptr: NDArray[np.int32], indices: NDArray[np.int32], data: NDArray[np.float64]) -> None:
        """Take sorted rows with their diagonal blocks; `from_pairs` makes them from anything."""
        self.indptr = np.ascontiguousarray(indptr, dtype=np.int32)
        self.indices = np.ascontiguousarray(indices, dtype=np.int32)
        self.data = np.ascontiguousarray(data, dtype=np.float64)
        self.block_row_count = self.indptr.size - 1
        self.block_count = self.indices.size
        if self.data.shape != (self.block_count, 3, 3):
            raise InputError(
                "the blocks do not fit the pattern",
                where="BlockSparse.data",
                value=self.data.shape,
                allowed=f"({self.block_count}, 3, 3)",
            )
        self.kernel_arrays = kernels.Blocks(self.indptr, self.indices, self.data.reshape(-1))
        every_row = np.arange(self.block_row_count, dtype=np.int32)
        self.diagonal = self._located(every_row, every_row)

    @classmethod
    def from_pairs(cls, block_row_count: int, rows: ArrayLike, cols: ArrayLike) -> BlockSparse:
        """Zero matrix whose pattern is the union of the pairs (rows[k], cols[k]) and the diagonal.

        rows, cols: (pair_count) integers in [0, block_row_count), doubles welcome.
        """
        rows, cols = _checked_pairs(block_row_count, rows, cols)
        counts = np.empty(block_row_count, dtype=np.int64)
        kernels.count_pairs(rows, counts)
        starts = np.concatenate([[0], np.cumsum(counts)])
        columns = np.empty(starts[-1], dtype=np.int32)
        last_row = np.empty(block_row_count, dtype=np.int32)
        kernels.gather_unique(rows, cols, starts, last_row, columns, counts)
        block_count = int(counts.sum())
        if block_count > np.iinfo(np.int32).max:
            raise InputError("the matrix has too many blocks", value=block_count, allowed="at most 2147483647")
        # Twice transposed, each row is sorted, in linear time.
        for _ in range(2):
            indptr = np.empty(block_row_count + 1, dtype=np.int32)
            indices = np.empty(block_count, dtype=np.int32)
            kernels.transpose_pattern(starts, counts, columns, indptr, indices)
            starts, counts, columns = indptr.astype(np.int64), np.diff(indptr).astype(np.int64), indices
        return cls(indptr, indices, np.zeros((block_count, 3, 3)))

    @property
    def shape(self) -> tuple[int, int]:
        """(3 block_row_count, 3 block_row_count)."""
        return 3 * self.block_row_count, 3 * self.block_row_count

    @property
    def is_parallel(self) -> bool:
        """Whether products start threads: more than one allowed, and blocks enough to be worth it."""
        return self.block_count >= PARALLEL_BLOCK_COUNT and numba.get_num_threads() > 1

    def locate(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.int32]:
        """Places in `data` of the pairs (rows[k], cols[k]), int32; all must be in the pattern."""
        return self._located(*_checked_pairs(self.block_row_count, rows, cols))

    def _located(self, rows: NDArray[np.int32], cols: NDArray[np.int32]) -> NDArray[np.int32]:
        positions = np.empty(rows.size, dtype=np.int32)
        kernels.locate_pairs(self.indptr, self.indices, rows, cols, positions)
        missing = np.flatnonzero(positions < 0)
        if missing.size:
            first = missing[0]
            raise InputError(
                "a block is not in the pattern",
                where="BlockSparse.locate",
                value=(int(rows[first]), int(cols[first])),
                fix="Give this pair to BlockSparse.from_pairs.",
            )
        return positions

    def product(self, x: NDArray[np.float64], y_out: NDArray[np.float64]) -> None:
        """y_out = A x. x, y_out: (3 block_row_count) or (block_row_count, 3), contiguous."""
        kernels.compute_product(self.kernel_arrays, self.flat(x), self.is_parallel, self.flat(y_out))

    def add_product(self, x: NDArray[np.float64], y_out: NDArray[np.float64], factor: float = 1.0) -> None:
        """y_out += factor A x. x, y_out as in `product`."""
        kernels.add_product(self.kernel_arrays, self.flat(x), float(factor), self.is_parallel, self.flat(y_out))

    def flat(self, vector: NDArray[np.float64]) -> NDArray[np.float64]:
        """The (3 block_row_count) view of a vector that fits this matrix."""
        if (
            not isinstance(vector, np.ndarray)
            or vector.size != 3 * self.block_row_count
            or vector.dtype != np.float64
            or not vector.flags.c_contiguous
            or not vector.flags.writeable
        ):
            raise InputError(
                "the vector does not fit the matrix",
                value=f"{getattr(vector, 'dtype', type(vector).__name__)} {np.shape(vector)}",
                allowed=f"contiguous, writable float64 of {3 * self.block_row_count} numbers",
            )
        return vector.reshape(-1)

    def clear(self) -> None:
        """Set all values to zero; the pattern stays."""
        self.data.fill(0.0)

    def add_diagonal(self, values: ArrayLike) -> None:
        """Add a number, one a block row (n), one an unknown (n, 3) or (3 n), or blocks (n, 3, 3)."""
        values = np.asarray(values, dtype=np.float64)
        n = self.block_row_count
        if values.shape == (n, 3, 3):
            self.data[self.diagonal] += values
            return
        if values.shape == (3 * n,):
            values = values.reshape(n, 3)
        elif values.shape == (n,):
            values = values[:, None]
        elif values.shape not in ((), (n, 3)):
            raise InputError(
                "the values do not fit the diagonal",
                where="BlockSparse.add_diagonal",
                value=values.shape,
                allowed=f"a number, ({n},), ({n}, 3), ({3 * n},) or ({n}, 3, 3)",
            )
        self.data[self.diagonal[:, None], np.arange(3), np.arange(3)] += values

    def copy(self) -> BlockSparse:
        """A matrix with values of its own on the same pattern."""
        return self.with_data(self.data.copy())

    def with_data(self, data: NDArray[np.float64]) -> BlockSparse:
        """A matrix with these values (block_count, 3, 3), contiguous, on the same pattern."""
        out = copy(self)
        out.data, out.kernel_arrays = data, kernels.Blocks(self.indptr, self.indices, data.reshape(-1))
        return out

    def copy_values_from(self, other: BlockSparse) -> None:
        """Overwrite the values with those of a matrix of the same pattern."""
        if other is not self and not self.has_pattern_of(other):
            raise InputError(
                "the patterns differ",
                where="BlockSparse.copy_values_from",
                value=f"{other.block_row_count} rows, {other.block_count} blocks",
                allowed=f"the pattern of {self.block_row_count} rows, {self.block_count} blocks",
            )
        self.data[:] = other.data

    def has_pattern_of(self, other: BlockSparse) -> bool:
        """Whether both have the same blocks; immediate for copies of each other."""
        if self.indptr is other.indptr and self.indices is other.indices:
            return True
        return np.array_equal(self.indptr, other.indptr) and np.array_equal(self.indices, other.indices)

    def to_scipy(self) -> Any:
        """A `scipy.sparse.bsr_array` with a copy of the values."""
        return scipy.sparse.bsr_array((self.data.copy(), self.indices.copy(), self.indptr.copy()), shape=self.shape)


def _checked_pairs(
    block_row_count: int, rows: ArrayLike, cols: ArrayLike
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    rows, cols = np.ravel(np.asarray(rows)), np.ravel(np.asarray(cols))
    if rows.size != cols.size:
        raise InputError(
            "rows and columns do not pair up", value=(rows.size, cols.size), allowed="equally many of both"
        )
    for name, index in (("rows", rows), ("cols", cols)):
        if index.size and not np.issubdtype(index.dtype, np.integer):
            raise InputError("block indices are not integers", where=name, value=str(index.dtype))
        if index.size and (index.min() < 0 or index.max() >= block_row_count):
            raise InputError(
                "a block index is out of range",
                where=name,
                value=int(index.min()) if index.min() < 0 else int(index.max()),
                allowed=f"0 to {block_row_count - 1}",
            )
    return np.ascontiguousarray(rows, dtype=np.int32), np.ascontiguousarray(cols, dtype=np.int32)
