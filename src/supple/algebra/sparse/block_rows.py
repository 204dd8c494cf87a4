"""`BlockRows`: a matrix J of few rows over many columns, in 3x3 blocks, such as that of contacts."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse import block_rows_kernels as kernels

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class BlockRows:
    """J (3 k, 3 n). ptr (k + 1,), cols (e,): block columns, sorted in each row; blocks (e, 3, 3); width: n.

    >>> J = BlockRows.of([0, 2], [1, 1], np.ones((2, 3, 3)), 2)
    >>> J.times(np.arange(6.0))
    array([24., 24., 24.])
    """

    ptr: Array
    cols: Array
    blocks: Array
    width: int

    @classmethod
    def of(cls, ptr: Array, cols: Array, blocks: Array, width: int) -> BlockRows:
        """Blocks of one row and column are summed."""
        begins = np.asarray(ptr, dtype=np.int64)
        columns, values = np.array(cols, dtype=np.int64), np.array(blocks, dtype=float).reshape(-1, 3, 3)
        merged = np.zeros_like(begins)
        left = kernels.merge_blocks(begins, columns, values, merged)
        return cls(merged, columns[:left], values[:left], width)

    @classmethod
    def empty(cls, count: int, width: int) -> BlockRows:
        """Rows without blocks."""
        return cls(np.zeros(count + 1, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 3, 3)), width)

    @classmethod
    def stacked(cls, parts: list[BlockRows], width: int) -> BlockRows:
        """The rows of several, one after another."""
        if len(parts) == 1:
            return parts[0]
        counts = [np.zeros(1, dtype=np.int64), *(np.diff(part.ptr) for part in parts)]
        cols = [np.zeros(0, dtype=np.int64), *(part.cols for part in parts)]
        blocks = [np.zeros((0, 3, 3)), *(part.blocks for part in parts)]
        return cls(np.cumsum(np.concatenate(counts)), np.concatenate(cols), np.concatenate(blocks), width)

    @classmethod
    def from_scipy(cls, J: sparse.csr_array) -> BlockRows:
        """Of a scipy matrix (3 k, 3 n)."""
        blocks = sparse.bsr_array(J, blocksize=(3, 3))
        return cls.of(blocks.indptr, blocks.indices, blocks.data, J.shape[1] // 3)

    @property
    def count(self) -> int:
        """k."""
        return len(self.ptr) - 1

    @property
    def shape(self) -> tuple[int, int]:
        """(3 k, 3 n)."""
        return 3 * self.count, 3 * self.width

    @property
    def touched(self) -> Array:
        """Which block columns have blocks, (n,) booleans."""
        out = np.zeros(self.width, dtype=bool)
        out[self.cols] = True
        return out

    def times(self, x: Array) -> Array:
        """J x, (3 k,)."""
        y = np.empty(3 * self.count)
        kernels.compute_rows(self.ptr, self.cols, self.blocks, x, y)
        return y

    def transposed(self, f: Array) -> Array:
        """J^T f, (3 n,)."""
        y = np.zeros(3 * self.width)
        kernels.add_transposed(self.ptr, self.cols, self.blocks, f, y)
        return y

    def chosen(self, mask: Array) -> BlockRows:
        """Some of the rows, by a mask (k,)."""
        rows = np.flatnonzero(mask)
        ptr = np.concatenate([[0], np.cumsum(np.diff(self.ptr)[rows])])
        cols, blocks = np.empty(ptr[-1], dtype=np.int64), np.empty((ptr[-1], 3, 3))
        kernels.choose_rows(self.ptr, self.cols, self.blocks, rows, ptr, cols, blocks)
        return BlockRows(ptr, cols, blocks, self.width)

    def with_blocks(self, blocks: Array) -> BlockRows:
        """Other values (e, 3, 3) in the same places."""
        return replace(self, blocks=blocks)

    def moved(self, place: Array, width: int) -> BlockRows:
        """With other numbers (n,) of the block columns, in the same order."""
        return BlockRows(self.ptr, place[self.cols], self.blocks, width)

    def within(self, keep: Array) -> BlockRows:
        """The block columns of a mask (n,) alone, in a numbering of their own."""
        on, place = keep[self.cols], np.cumsum(keep) - 1
        ptr = np.concatenate([[0], np.cumsum(on)])[self.ptr]
        return BlockRows(ptr, place[self.cols[on]], self.blocks[on], int(place[-1]) + 1 if len(place) else 0)

    def dense(self, keep: Array) -> Array:
        """J as a dense matrix (3 k, 3 m), of the block columns in a mask (n,)."""
        out = np.zeros((3 * self.count, 3 * int(keep.sum())))
        kernels.fill_dense(self.ptr, self.cols, self.blocks, np.where(keep, np.cumsum(keep) - 1, -1), out)
        return out

    def to_scipy(self) -> sparse.csr_array:
        """As a scipy matrix."""
        return sparse.csr_array(sparse.bsr_array((self.blocks, self.cols, self.ptr), shape=self.shape))
