"""`MultifrontalCholesky`: A = L L^T of a large sparse matrix, symmetric and positive definite, by dense fronts [DR83].

The unknowns are dissected (`nested_dissection`). Each part is eliminated in a dense matrix of its own unknowns and of
the later ones it touches; what it leaves there is added to the front of its separator. All arithmetic is that of dense
blocks, so that many right sides cost little more than one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from supple.algebra.compiling import compiled
from supple.algebra.nested_dissection import nested_dissection

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Front:
    """Unknowns first ... last - 1 of the order, and those later ones they touch, rest (b,).

    L (k, k), lower, and B (b, k): their columns of the factor.
    """

    first: int
    last: int
    rest: NDArray[np.int64]
    L: Array
    B: Array


class MultifrontalCholesky:
    """The factor of one matrix.

    >>> n = 900
    >>> A = sparse.diags_array([2.5, -1.0, -1.0], offsets=[0, 1, -1], shape=(n, n)).tocsc()
    >>> x = MultifrontalCholesky(A).solve(A @ np.ones(n))
    >>> bool(np.abs(x - 1).max() < 1e-12)
    True
    """

    def __init__(self, A: Any) -> None:
        """Factor A, scipy sparse (n, n). Raises numpy.linalg.LinAlgError where it is not positive definite."""
        A = sparse.csr_array(A)
        found = nested_dissection(A.indptr, A.indices)
        self.order = found.order
        moved = sparse.csr_array(A[self.order][:, self.order])
        moved.sort_indices()
        rows, columns, values = moved.indptr.astype(np.int64), moved.indices.astype(np.int64), moved.data
        self.fronts: list[Front] = []
        waiting: dict[int, list[tuple[NDArray[np.int64], Array]]] = {}
        place = np.zeros(A.shape[0], dtype=np.int64)
        for part, parent in enumerate(found.parent.tolist()):
            first, last = int(found.start[part]), int(found.start[part + 1])
            children = waiting.pop(part, [])
            touched = columns[rows[first] : rows[last]]
            later = np.unique(np.concatenate([touched, *(rest for rest, _ in children)]))
            rest = later[later >= last]
            k, b = last - first, len(rest)
            place[first:last], place[rest] = np.arange(k), k + np.arange(b)
            F = np.zeros((k + b, k + b), order="F")
            add_rows(rows, columns, values, first, last, place, F.T)
            for numbers, part_left in children:
                add_front(place[numbers], part_left.T, F.T)
            L, info = lapack.dpotrf(np.asfortranarray(F[:k, :k]), lower=1, overwrite_a=1)
            if info:
                raise np.linalg.LinAlgError("the matrix is not positive definite")
            B = np.asfortranarray(F[k:, :k])
            if b:
                B = blas.dtrsm(1.0, L, B, side=1, lower=1, trans_a=1, overwrite_b=1)
                left = blas.dsyrk(-1.0, B, beta=1.0, c=np.asfortranarray(F[k:, k:]), lower=1, overwrite_c=1)
                waiting.setdefault(parent, []).append((rest, left))
            self.fronts.append(Front(first, last, rest, L, B))

    @property
    def size(self) -> int:
        """Numbers of the factor."""
        return sum(front.L.size + front.B.size for front in self.fronts)

    def solve(self, b: Array) -> Array:
        """A^-1 b of b (n,) or (n, k)."""
        x = np.ascontiguousarray(b[self.order], dtype=np.float64)
        if x.ndim == 1:
            self._solve_one(x)
        else:
            self._solve_many(x)
        out = np.empty_like(x)
        out[self.order] = x
        return out

    def _solve_one(self, x: Array) -> None:
        for f in self.fronts:
            own = x[f.first : f.last] = blas.dtrsv(f.L, x[f.first : f.last], lower=1)
            if len(f.rest):
                x[f.rest] -= f.B @ own
        for f in reversed(self.fronts):
            own = x[f.first : f.last]
            if len(f.rest):
                own = own - x[f.rest] @ f.B
            x[f.first : f.last] = blas.dtrsv(f.L, own, lower=1, trans=1)

    def _solve_many(self, x: Array) -> None:
        for f in self.fronts:
            own = x[f.first : f.last]
            own[:] = blas.dtrsm(1.0, f.L, own.T, side=1, lower=1, trans_a=1).T
            if len(f.rest):
                x[f.rest] -= f.B @ own
        for f in reversed(self.fronts):
            own = x[f.first : f.last]
            if len(f.rest):
                own -= f.B.T @ x[f.rest]
            own[:] = blas.dtrsm(1.0, f.L, own.T, side=1, lower=1, trans_a=0).T


@compiled
def add_rows(rows, columns, values, first, last, place, F_out):  # type: ignore[no-untyped-def]
    """Rows first ... last - 1 of a symmetric matrix, from the diagonal on, into F_out: lower columns, transposed."""
    for i in range(first, last):
        for e in range(rows[i], rows[i + 1]):
            if columns[e] >= i:
                F_out[i - first, place[columns[e]]] += values[e]


@compiled
def add_front(numbers, left, F_out):  # type: ignore[no-untyped-def]
    """Add the lower triangle of what a child leaves, given transposed, at places `numbers`, which ascend."""
    for i in range(len(numbers)):
        for j in range(i, len(numbers)):
            F_out[numbers[i], numbers[j]] += left[i, j]
