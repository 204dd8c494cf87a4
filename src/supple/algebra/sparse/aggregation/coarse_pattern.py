"""`CoarsePattern`: where the blocks of a matrix add up in the matrix of its aggregates."""

from __future__ import annotations

import numpy as np

from supple.algebra.sparse.aggregation.aggregation_kernels import mirror

Array = np.ndarray


class CoarsePattern:
    """Of aggregates of block rows, from the pattern of the rows. Blocks on and above the diagonal are summed, the rest
    are mirrored: source, rows, cols of the fine blocks and their targets, sorted by rows and targets."""

    def __init__(self, indptr: Array, indices: Array, part: Array) -> None:
        """part (n,): aggregate of each row, -1 for none."""
        every = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))
        self.count = n = int(part.max(initial=-1)) + 1
        I, J = part[every].astype(np.int64), part[indices].astype(np.int64)
        inside = (I >= 0) & (J >= 0)
        keys = np.unique(np.concatenate([I[inside] * n + J[inside], np.arange(n, dtype=np.int64) * (n + 1)]))
        starts = np.searchsorted(keys, np.arange(n + 1, dtype=np.int64) * n)
        self.indptr, self.indices = starts.astype(np.int32), (keys % max(n, 1)).astype(np.int32)
        upper = np.flatnonzero(inside & (I <= J))
        targets = np.searchsorted(keys, I[upper] * n + J[upper]).astype(np.int32)
        order = np.lexsort((targets, every[upper]))
        self.source, self.targets = upper[order].astype(np.int32), targets[order]
        self.rows, self.cols = every[self.source], indices[self.source].astype(np.int32)
        i, j = keys // max(n, 1), keys % max(n, 1)
        self.upper = np.flatnonzero(i <= j).astype(np.int32)
        self.transposed = np.searchsorted(keys, j[self.upper] * n + i[self.upper]).astype(np.int32)
        self.diagonal = np.flatnonzero(i == j)
        self.data = np.empty((len(keys), 6, 6))

    def close(self) -> None:
        """Fill in what was not summed."""
        mirror(self.upper, self.transposed, self.data)

    def dense(self) -> Array:
        """The matrix (6 n, 6 n)."""
        out = np.zeros((self.count, 6, self.count, 6))
        rows = np.repeat(np.arange(self.count), np.diff(self.indptr))
        out[rows, :, self.indices] = self.data
        return out.reshape(6 * self.count, -1)
