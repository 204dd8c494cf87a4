"""`SparseCholesky`: A = L L^T of a large sparse matrix, symmetric and positive definite, by dense fronts [DR83, Liu92].

`find_supernodes` names the dense pieces of L. Each is eliminated in a front, the dense matrix of its own unknowns and
of the later ones it touches; what is left there is added to the front of its parent. L is stored in panels of at most
WIDE columns with W = L11^-1 in place of the triangle L11, so that a solution is products with dense matrices, as fast
as memory is read. Many right sides cost little more than one. In single precision L is half as long; the solution has
seven digits less those of the condition number, and serves as a preconditioner.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import DTypeLike, NDArray
from scipy.linalg import blas, lapack

from supple.algebra.sparse.cholesky.front_kernels import Fronts, factor_fronts
from supple.algebra.sparse.cholesky.sparse_cholesky_kernels import add_front, add_rows, store_panel, sweep
from supple.algebra.sparse.cholesky.supernodes import Supernodes, find_supernodes

Array = NDArray[np.float64]
WIDE = 96
"""Most columns of a panel: the inverse of its triangle is stored as a square, half of it zero."""
LARGE = 1e8
"""Multiplications up to which all fronts are eliminated in one compiled call: the Python between 270 small ones takes a
third of 11 ms. In larger ones LAPACK's symmetric products save a quarter of the time."""
NODE_FILL = 1.5
"""Triples of unknowns are taken as nodes where blocks of 3x3 would be at most so many times the entries."""


class Panels(NamedTuple):
    """Panel p: columns first[p] to first[p + 1] of L, below them rows[row_start[p] : row_start[p + 1]].

    Its values begin at value_start[p]: W (n, n), then the rows below (m, n).
    """

    first: NDArray[np.int64]
    row_start: NDArray[np.int64]
    rows: NDArray[np.int64]
    value_start: NDArray[np.int64]


class CholeskyPattern(NamedTuple):
    """What the pattern of a matrix alone decides: supernodes, panels, and both for the kernel that factors."""

    found: Supernodes
    panels: Panels
    fronts: Fronts

    @classmethod
    def of(cls, found: Supernodes) -> CholeskyPattern:
        """With the panels of these supernodes."""
        panels, panel_of = make_panels(found)
        rank = np.empty(len(found.order), dtype=np.int64)
        rank[found.order] = np.arange(len(rank))
        children = np.argsort(found.parent, kind="stable")
        child_start = np.searchsorted(found.parent[children], np.arange(len(children) + 1))
        of = found.order, rank, found.first, found.row_start, found.rows, child_start, children, panel_of
        return cls(
            found, panels, Fronts(*(np.asarray(a, dtype=np.int64) for a in (*of, panels.first, panels.value_start)))
        )

    @property
    def flops(self) -> float:
        """Multiplications of a factorisation."""
        k, b = np.diff(self.found.first).astype(float), np.diff(self.found.row_start).astype(float)
        return float(np.sum(k**3 / 6 + k * k * b / 2 + k * b * b / 2))


class SparseCholesky:
    """The factor of one matrix. dtype: of the stored factor, float64, or float32 for half the memory.

    >>> n = 900
    >>> A = sparse.diags_array([2.5, -1.0, -1.0], offsets=[0, 1, -1], shape=(n, n)).tocsc()
    >>> x = SparseCholesky(A).solve(A @ np.ones(n))
    >>> bool(np.abs(x - 1).max() < 1e-12)
    True
    """

    def __init__(self, A: Any, *, dtype: DTypeLike = np.float64, pattern: CholeskyPattern | None = None) -> None:
        """Factor A, scipy sparse (n, n). Raises numpy.linalg.LinAlgError where it is not positive definite. pattern:
        of a matrix with at least these entries, where one is known."""
        A = sparse.csr_array(A)
        pattern = pattern or CholeskyPattern.of(find_pieces(A))
        self._panels, self._panel_of, self.order = pattern.panels, pattern.fronts.panel_of, pattern.found.order
        self._values = np.empty(self._panels.value_start[-1], dtype=dtype)
        height = np.diff(self._panels.row_start).max(initial=0)
        self._longest = int(max(height, np.diff(self._panels.first).max()))
        if pattern.flops > LARGE:
            self._factor(A, pattern.found)
        elif not factor_fronts(A.indptr, A.indices, A.data, pattern.fronts, self._values):
            raise np.linalg.LinAlgError("the matrix is not positive definite")
        self._workspace = self._make_workspace(())

    @property
    def size(self) -> int:
        """Numbers stored."""
        return self._values.size

    def solve(self, b: Array, out: Array | None = None) -> Array:
        """A^-1 b of b (n,) or (n, k), to the accuracy of the stored factor. out: where to, as b; may be b itself.

        One right side needs no workspace but a copy of it.
        """
        x, work = self._workspace if b.ndim == 1 else self._make_workspace(b.shape[1:])
        x[:] = b[self.order]
        sweep(*self._panels, self._values, work, x)
        out = np.empty(b.shape) if out is None else out
        out[self.order] = x
        return out

    def _make_workspace(self, columns: tuple[int, ...]) -> tuple[Any, Any]:
        shape, dtype = (3 * self._longest, *columns), self._values.dtype
        return np.empty((len(self.order), *columns), dtype=dtype), np.empty(shape, dtype=dtype)

    def _factor(self, A: Any, found: Supernodes) -> None:
        """Front by front, for large ones."""
        n = len(self.order)
        place, rank = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
        rank[self.order] = np.arange(n)
        waiting: list[list[tuple[NDArray[np.int64], Array]]] = [[] for _ in found.parent]
        for s, parent in enumerate(found.parent.tolist()):
            first, last = int(found.first[s]), int(found.first[s + 1])
            rest = found.rows[found.row_start[s] : found.row_start[s + 1]]
            k, b = last - first, len(rest)
            place[first:last], place[rest] = np.arange(k), np.arange(k, k + b)
            own, below, left = np.zeros((k, k)), np.zeros((k, b)), np.zeros((b, b))  # columns of L are rows here
            add_rows(A.indptr, A.indices, A.data, self.order, rank, first, last, place, own, below)
            for numbers, part in waiting[s]:
                add_front(place[numbers], part, own, below, left)
            waiting[s] = []
            L, info = lapack.dpotrf(own.T, lower=1, overwrite_a=1)
            if info:
                raise np.linalg.LinAlgError("the matrix is not positive definite")
            if b:
                B = blas.dtrsm(1.0, L, below.T, side=1, lower=1, trans_a=1, overwrite_b=1)
                blas.dsyrk(-1.0, B, beta=1.0, c=left.T, lower=1, overwrite_c=1)
                waiting[parent].append((rest, left))
            self._store(s, own, below)

    def _store(self, s: int, own: Array, below: Array) -> None:
        """Panels of the columns of supernode s: own (k, k), its triangle, and below (k, b), both transposed."""
        first = (
            self._panels.first[self._panel_of[s] : self._panel_of[s + 1] + 1] - self._panels.first[self._panel_of[s]]
        )
        for p, a, b in zip(range(self._panel_of[s], self._panel_of[s + 1]), first[:-1], first[1:]):
            W, _ = lapack.dtrtri(np.ascontiguousarray(own[a:b, a:b]).T, lower=1, overwrite_c=1)
            values = self._values[self._panels.value_start[p] : self._panels.value_start[p + 1]]
            store_panel(W.T, own[a:b, b:], below[a:b], values)


def find_pieces(A: Any) -> Supernodes:
    """Supernodes of a csr array: of its nodes of three unknowns, where it has such, else of its unknowns.

    Entries that are zero but for rounding may be stored on one side of the diagonal only.
    """
    width, pattern = 1, A
    if A.shape[0] % 3 == 0:
        nodes = sparse.bsr_array(A, blocksize=(3, 3))
        if nodes.data.size <= NODE_FILL * A.nnz:
            width, pattern = 3, nodes
    n, indices = A.shape[0] // width, pattern.indices
    one_side = sparse.csr_array((np.ones(len(indices), dtype=np.int32), indices, pattern.indptr), shape=(n, n))
    both = one_side + one_side.T
    return of_unknowns(find_supernodes(both.indptr, both.indices, width=width), width)


def of_unknowns(found: Supernodes, width: int) -> Supernodes:
    """The same, of the `width` unknowns of each vertex."""
    order, rows = ((width * of[:, None] + np.arange(width)).ravel() for of in (found.order, found.rows))
    return Supernodes(order, width * found.first, width * found.row_start, rows, found.parent)


def make_panels(found: Supernodes) -> tuple[Panels, NDArray[np.int64]]:
    """Panels of all supernodes, alike in width within one; and the first panel of each supernode (count + 1,)."""
    counts = -(-np.diff(found.first) // WIDE)
    first: list[NDArray[np.int64]] = []
    rows: list[NDArray[np.int64]] = []
    for s, count in enumerate(counts.tolist()):
        a, b = found.first[s], found.first[s + 1]
        ends = a + (b - a) * np.arange(count + 1) // count
        first.append(ends[:-1])
        below = found.rows[found.row_start[s] : found.row_start[s + 1]]
        rows.extend(np.concatenate([np.arange(end, b), below]) for end in ends[1:])
    starts = np.concatenate([*first, found.first[-1:]])
    heights, widths = np.array([len(r) for r in rows]), np.diff(starts)
    row_start = np.concatenate([[0], np.cumsum(heights)])
    value_start = np.concatenate([[0], np.cumsum(widths * (widths + heights))])
    return Panels(starts, row_start, np.concatenate(rows), value_start), np.concatenate([[0], np.cumsum(counts)])
