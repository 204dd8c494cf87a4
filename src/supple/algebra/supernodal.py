"""`SupernodalCholesky`: L L^T of a symmetric positive definite block matrix, for many solutions with one matrix.

The block rows are ordered by minimum degree (SuperLU's, on the pattern of blocks) and by the postorder of their
elimination tree. Columns with the same rows below them form a supernode, a dense piece of L; small ones join their
parents where that adds few zeros. Fronts are factored from the leaves up and pass what is left to their parents
[Liu92]. Dense pieces make a solution as fast as memory is read. In single precision L is half as long; the solution has
seven digits less those of the condition number, and serves as a preconditioner.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import DTypeLike, NDArray

from supple.algebra.blas_threads import one_blas_thread
from supple.algebra.block_sparse import BlockSparse
from supple.algebra.supernodal_kernels import elimination_tree, postorder, sweep
from supple.errors import ConvergenceError, InputError

Array = np.ndarray
SMALL = 6
"""Supernodes up to this many block columns join their parent where the zeros stay below MANY_ZEROS."""
MANY_ZEROS, FEW_ZEROS = 0.5, 0.1
"""Part of zeros that a joined supernode may hold: a small one, a large one."""

WIDE = 32
"""Most block columns of a supernode."""


def minimum_degree(indptr: Array, indices: Array) -> NDArray[np.int64]:
    """Order of elimination of a symmetric pattern (n block rows), by minimum degree."""
    n = len(indptr) - 1
    pattern = scipy.sparse.csc_array((np.full(len(indices), -1.0, dtype=np.float32), indices, indptr), shape=(n, n))
    pattern.setdiag(1.0 + np.diff(indptr))
    factor = scipy.sparse.linalg.splu(
        pattern, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    return np.argsort(factor.perm_c)


class SupernodalCholesky:
    """The factor of one matrix. dtype: of the stored factor, float64, or float32 for half the time of a solution.

    >>> A = BlockSparse.from_pairs(2, [0, 0, 1, 1], [0, 1, 0, 1])
    >>> A.data[:] = [4 * np.eye(3), -np.eye(3), -np.eye(3), 4 * np.eye(3)]
    >>> np.round(SupernodalCholesky(A).solve(np.array([3.0] * 6)), 12).tolist()
    [1.0, 1.0, 1.0, 1.0, 1.0, 1.0]
    """

    def __init__(self, A: BlockSparse, *, dtype: DTypeLike = np.float64) -> None:
        """Find the order and the pattern of L, and factor."""
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float64, np.float32):
            raise InputError("a factor is stored in float64 or float32", value=str(self.dtype))
        self._find_pattern(A)
        self.update(A)

    @property
    def entry_count(self) -> int:
        """Numbers stored."""
        return int(self._value_start[-1])

    def _find_pattern(self, A: BlockSparse) -> None:
        n = A.block_row_count
        order = minimum_degree(A.indptr, A.indices)
        order = order[_tree(A, order)[1]]
        parent, _ = _tree(A, order)
        rank = np.empty(n, dtype=np.int64)
        rank[order] = np.arange(n)
        below: list[Array] = []
        children: list[list[int]] = [[] for _ in range(n)]
        for j in range(n):
            own = rank[A.indices[A.indptr[order[j]] : A.indptr[order[j] + 1]]]
            found = np.unique(np.concatenate([own[own > j], *(below[c][1:] for c in children[j])]))
            below.append(found)
            if parent[j] >= 0:
                children[parent[j]].append(j)
        self._order, self._rank = order, rank
        self._first, self._rows = _supernodes(parent, below)
        self._arrange(n)

    def _arrange(self, n: int) -> None:
        """Scalar places of everything, for the sweeps."""
        first, rows = self._first, self._rows
        width = 3 * np.diff(first)
        height = np.array([3 * len(r) for r in rows])
        self._scalar_first = 3 * first.astype(np.int64)
        self._row_start = np.concatenate([[0], np.cumsum(height)])
        joined = np.concatenate(list(rows)) if rows else np.zeros(0, dtype=np.int64)
        self._scalar_rows = (3 * joined[:, None] + np.arange(3)).ravel()
        self._value_start = np.concatenate([[0], np.cumsum(width * (width + height))])
        self._values = np.empty(self._value_start[-1], dtype=self.dtype)
        self._work = np.empty(3 * int(max(width.max(), height.max(initial=0))), dtype=self.dtype)
        self._scalar_order = (3 * self._order[:, None] + np.arange(3)).ravel()
        owner = np.repeat(np.arange(len(rows)), np.diff(first))
        self._parent = np.array([owner[r[0]] if len(r) else -1 for r in rows])
        self._room = np.empty(3 * n, dtype=self.dtype)

    def update(self, A: BlockSparse) -> None:
        """Factor another matrix of the same pattern."""
        if 3 * A.block_row_count != len(self._room):
            raise InputError("the matrix does not fit the factor", value=A.shape, allowed=f"{len(self._room)} rows")
        kept: list[list[tuple[Array, Array]]] = [[] for _ in self._rows]
        local = np.empty(A.block_row_count, dtype=np.int64)
        with one_blas_thread():
            for s, rows in enumerate(self._rows):
                start, stop = self._first[s], self._first[s + 1]
                n, nodes = stop - start, np.concatenate([np.arange(start, stop), rows])
                local[nodes] = np.arange(len(nodes))
                front = np.zeros((len(nodes), 3, len(nodes), 3))
                self._add_columns(A, start, stop, local, front)
                F = front.reshape(3 * len(nodes), -1)
                for numbers, rest in kept[s]:
                    at = (3 * local[numbers][:, None] + np.arange(3)).ravel()
                    F[np.ix_(at, at)] += rest
                kept[s] = []
                left = self._eliminate(F, 3 * n, s)
                if len(rows):
                    kept[self._parent[s]].append((rows, left))

    def _add_columns(self, A: BlockSparse, start: int, stop: int, local: Array, front_out: Array) -> None:
        """The blocks of A from row start on in columns start to stop; A is symmetric, so rows serve as columns."""
        own = self._order[start:stop]
        counts = A.indptr[own + 1] - A.indptr[own]
        entries = np.repeat(A.indptr[own] - np.concatenate([[0], np.cumsum(counts)[:-1]]), counts) + np.arange(
            counts.sum()
        )
        rows, cols = self._rank[A.indices[entries]], np.repeat(np.arange(start, stop), counts)
        lower = rows >= start
        blocks = np.swapaxes(A.data[entries[lower]], 1, 2)
        front_out[local[rows[lower]], :, local[cols[lower]], :] = blocks

    def _eliminate(self, F: Array, n: int, s: int) -> Array:
        """Store W = L11^-1 and L21 of supernode s, and return what its parent gets."""
        L, bad = scipy.linalg.lapack.dpotrf(F[:n, :n], lower=1)
        if bad:
            raise ConvergenceError(
                "the matrix is not positive definite", where="SupernodalCholesky", fix="Hold the body, or add its mass."
            )
        W = np.tril(scipy.linalg.lapack.dtrtri(L, lower=1)[0])
        L21 = F[n:, :n] @ W.T
        p = self._value_start[s]
        self._values[p : p + n * n] = W.ravel()
        self._values[p + n * n : self._value_start[s + 1]] = L21.ravel()
        return np.asarray(F[n:, n:] - L21 @ L21.T)

    def solve(self, b: NDArray[np.float64]) -> NDArray[np.float64]:
        """A^-1 b for b (n) or (n, k), to the accuracy of the stored factor."""
        if b.shape[0] != len(self._room) or b.ndim not in (1, 2):
            raise InputError("the right side does not fit the factor", value=b.shape, allowed=f"({len(self._room)},)")
        out = np.empty(b.shape)
        with one_blas_thread():
            for k in range(1 if b.ndim == 1 else b.shape[1]):
                column: Any = slice(None) if b.ndim == 1 else (slice(None), k)
                self.apply(b[column], out[column])
        return out

    def apply(self, r: NDArray[np.float64], z_out: NDArray[np.float64]) -> None:
        """z_out = A^-1 r, (n); the caller limits BLAS to one thread where bits matter."""
        self._room[:] = r[self._scalar_order]
        places = (self._scalar_first, self._row_start, self._scalar_rows)
        sweep(*places, self._value_start, self._values, self._work, self._room)
        z_out[self._scalar_order] = self._room


def _tree(A: BlockSparse, order: Array) -> tuple[Array, Array]:
    """Elimination tree of A in an order, and its postorder."""
    n = A.block_row_count
    pattern = scipy.sparse.csr_array((np.ones(A.block_count, dtype=np.int8), A.indices, A.indptr), shape=(n, n))
    turned = pattern[order][:, order].tocsr()
    parent, after = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    elimination_tree(turned.indptr, turned.indices, parent)
    postorder(parent, after)
    return parent, after


def _supernodes(parent: Array, below: list[Array]) -> tuple[Array, list[Array]]:
    """First block column of each supernode (count + 1), and the block rows below each."""
    first, rows, zeros = [0], [below[0]], [0]
    for j in range(1, len(parent)):  # columns that continue the one before
        if parent[j - 1] == j and len(below[j - 1]) == len(below[j]) + 1:
            rows[-1] = below[j]
        else:
            first.append(j)
            rows.append(below[j])
            zeros.append(0)
    starts, kept, lost = [first[0]], [rows[0]], [0]
    ends = [*first[1:], len(parent)]
    for s in range(1, len(first)):
        start, end, own, empty = first[s], ends[s], rows[s], 0
        while starts and len(kept[-1]) and start <= kept[-1][0] < end:  # the last one before is a child
            child, width = kept[-1], start - starts[-1]
            more = (end - start) + len(own) - len(child)  # rows that the child's columns have not
            total = (end - starts[-1]) * (end - starts[-1] + len(own))
            added = lost[-1] + empty + width * more
            if added > (MANY_ZEROS if width <= SMALL else FEW_ZEROS) * total:
                break
            start, empty = starts.pop(), added
            kept.pop()
            lost.pop()
        starts.append(start)
        kept.append(own)
        lost.append(empty)
    return _panels(starts, [*starts[1:], len(parent)], kept)


def _panels(starts: list[int], ends: list[int], rows: list[Array]) -> tuple[Array, list[Array]]:
    """Supernodes cut where they are wide: the inverse of a triangle is stored as a square, half of it zero."""
    first, below = [], []
    for start, end, own in zip(starts, ends, rows):
        for a in range(start, end, WIDE):
            b = min(a + WIDE, end)
            first.append(a)
            below.append(np.concatenate([np.arange(b, end), own]))
    return np.array([*first, ends[-1]], dtype=np.int64), below
