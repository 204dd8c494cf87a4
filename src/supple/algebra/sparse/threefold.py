"""Small sparse matrices in rows, over points and over their coordinates, made and multiplied in every step.

scipy takes some 70 calls of Python to make a matrix and 25 for a product, whatever its size. Functions take matrices of
scipy, in rows, as well as `SparseRows`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse import threefold_kernels as kernels

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class SparseRows:
    """W (k, p): the entries of row k are indptr[k] to indptr[k + 1] - 1. Entries of one place add up.

    >>> W = SparseRows(np.array([0, 2]), np.array([0, 2]), np.array([1.0, 3.0]), (1, 3))
    >>> W @ np.array([1.0, 1.0, 2.0])
    array([7.])
    """

    indptr: Array
    indices: Array
    data: Array
    shape: tuple[int, int]

    @classmethod
    def empty(cls, count: int, width: int) -> SparseRows:
        """Rows without entries."""
        none = np.zeros(0, dtype=np.int64)
        return cls(np.zeros(count + 1, dtype=np.int64), none, np.zeros(0), (count, width))

    @classmethod
    def unit(cls, count: int) -> SparseRows:
        """The unit matrix."""
        return cls(np.arange(count + 1), np.arange(count), np.ones(count), (count, count))

    def __matmul__(self, x: Array) -> Array:
        return times(self, x)

    @property
    def T(self) -> Any:
        """Transposed, of scipy."""
        return self.to_scipy().T

    def toarray(self) -> Array:
        """Dense."""
        return np.asarray(self.to_scipy().toarray()) if len(self.data) else np.zeros(self.shape)

    def to_scipy(self) -> sparse.csr_array:
        """As a scipy matrix."""
        return sparse.csr_array((self.data, self.indices, self.indptr), shape=self.shape)


Rows: TypeAlias = Any
"""`SparseRows`, or a csr matrix of scipy, which has no types."""


def times(W: Rows, x: Array) -> Array:
    """W x of x (p,) or (p, m)."""
    y = np.empty((W.shape[0], *x.shape[1:]))
    wide = (x[:, None], y[:, None]) if x.ndim == 1 else (x, y)
    kernels.multiply(W.indptr, W.indices, W.data, *wide)
    return y


def pulled(W: Rows, f: Array) -> Array:
    """W^T f of f (k,) or (k, m), without the transpose of W (k, p)."""
    g = np.zeros((W.shape[1], *f.shape[1:]))
    wide = (f[:, None], g[:, None]) if f.ndim == 1 else (f, g)
    kernels.add_pulled(W.indptr, W.indices, W.data, *wide)
    return g


def threefold(W: Rows) -> SparseRows:
    """The Kronecker product of W (k, p) and the unit matrix, (3 k, 3 p)."""
    count = 3 * len(W.indices)
    out = SparseRows(
        np.zeros(3 * W.shape[0] + 1, dtype=np.int64),
        np.empty(count, dtype=np.int64),
        np.empty(count),
        (3 * W.shape[0], 3 * W.shape[1]),
    )
    kernels.fill_threefold(W.indptr, W.indices, W.data, out.indptr, out.indices, out.data)
    return out


def composed(A: Rows, B: Rows) -> SparseRows:
    """A B, in which entries of one place follow each other and are not added up."""
    indptr = np.zeros(A.shape[0] + 1, dtype=np.int64)
    kernels.count_composed(A.indptr, A.indices, B.indptr, indptr)
    indices, data = np.empty(indptr[-1], dtype=np.int64), np.empty(indptr[-1])
    kernels.fill_composed(A.indptr, A.indices, A.data, B.indptr, B.indices, B.data, indices, data)
    return SparseRows(indptr, indices, data, (A.shape[0], B.shape[1]))


def chosen_rows(W: Rows, rows: Array) -> SparseRows:
    """Rows of some numbers."""
    indptr = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum((W.indptr[1:] - W.indptr[:-1])[rows], out=indptr[1:])
    indices, data = np.empty(indptr[-1], dtype=np.int64), np.empty(indptr[-1])
    kernels.choose_rows(W.indptr, W.indices, W.data, rows, indptr, indices, data)
    return SparseRows(indptr, indices, data, (len(rows), W.shape[1]))
