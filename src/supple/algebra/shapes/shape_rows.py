"""`ShapeRows`: rows W (3 k, R) of points over few shapes, most of them over those of one body or domain alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from supple.algebra.shapes import shape_kernels as kernels

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ShapeRows:
    """W, three rows a point, in dense pieces; size: R.

    >>> W = ShapeRows.of(sparse.csr_array(np.ones((3, 4))), np.array([0, 2, 4]))
    >>> W.times(np.arange(4.0))
    array([6., 6., 6.])
    """

    pieces: kernels.Pieces
    size: int

    @classmethod
    def of(cls, W: sparse.csr_array, starts: Array) -> ShapeRows:
        """Of a scipy matrix (3 k, R); starts (segments + 1,): first columns of shapes that belong together."""
        starts, count = np.asarray(starts, dtype=np.int64), W.shape[0] // 3
        segment = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        ptr, none = np.zeros(count + 1, dtype=np.int64), np.full(len(starts) - 1, -1)
        indptr, indices = W.indptr.astype(np.int64), W.indices.astype(np.int64)
        kernels.count_pieces(indptr, indices, segment, ptr, none.copy())
        first, width, start = np.zeros((3, ptr[-1]), dtype=np.int64)
        most = int(ptr[-1]) * int(np.diff(starts).max(initial=0))
        pieces = kernels.Pieces(ptr, first, width, start, np.zeros(3 * most))
        kernels.fill_pieces(indptr, indices, W.data, segment, starts, pieces, none)
        return cls(pieces, int(starts[-1]))

    @property
    def count(self) -> int:
        """k."""
        return len(self.pieces.ptr) - 1

    def times(self, y: Array) -> Array:
        """W y, (3 k,) or (3 k, m)."""
        if y.ndim == 2:
            return np.asarray(self.dense() @ y)
        u = np.empty(3 * self.count)
        kernels.multiply_pieces(self.pieces, np.ascontiguousarray(y), u)
        return u

    def pulled(self, f: Array) -> Array:
        """W^T f, (R,) or (R, m)."""
        if f.ndim == 2:
            return np.asarray(self.dense().T @ f)
        g = np.zeros(self.size)
        kernels.add_pulled(self.pieces, np.ascontiguousarray(f), 1.0, g)
        return g

    def gram(self, T: Array) -> Array:
        """W^T T W, (R, R), of blocks T (k, 3, 3)."""
        N = np.zeros((self.size, self.size))
        kernels.add_gram(self.pieces, np.ascontiguousarray(T), N)
        return N

    def chosen(self, mask: Array) -> ShapeRows:
        """Some of the points, by a mask (k,)."""
        p, rows = self.pieces, np.flatnonzero(mask)
        length = np.diff(p.ptr)[rows]
        ptr = np.concatenate([[0], np.cumsum(length)]).astype(np.int64)
        at = np.repeat(p.ptr[rows] - ptr[:-1], length) + np.arange(ptr[-1])
        return ShapeRows(kernels.Pieces(ptr, p.first[at], p.width[at], p.start[at], p.values), self.size)

    def dense(self) -> Array:
        """As a dense matrix (3 k, R)."""
        out = np.zeros((3 * self.count, self.size))
        kernels.fill_dense_rows(self.pieces, out)
        return out
