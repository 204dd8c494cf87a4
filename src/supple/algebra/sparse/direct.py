"""`DirectSolver`: A x = b by a sparse factorisation, for matrices that CG cannot take or that are used often.

Symmetric or not, definite or not: saddle points [K G^T; G 0] are welcome. Each solution gets one step of
iterative refinement, x += A^-1 (b - A x), and the true residual is reported. A matrix that is singular to
working precision is refused: two steps of inverse iteration on S A S, with S = diag(max_i |a_ij|)^-1/2,
estimate its condition number from below. Measured: 1e3 to 2e12 for held bodies, beams of a thousand elements
included, 7e16 and more for free ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky.sparse_factor import (
    Backend,
    Precision,
    check_cholmod,
    is_symmetric,
    make_factor,
    singular_error,
)
from supple.errors import ConvergenceError, InputError

SINGULAR_CONDITION = 1e15
# Backward error above which a factorisation with pivots kept on the diagonal is redone with free pivoting.
LARGEST_BACKWARD_ERROR = {"double": 1e-10, "single": 1e-4}


@dataclass(frozen=True)
class DirectReport:
    """x: as b. residual: true |b - A x| / |b| of each right side, a number for one and (k) for many."""

    x: NDArray[np.float64]
    residual: Any


class DirectSolver:
    """The factorisation of one matrix.

    condition: estimate, from below, of the condition number of the scaled matrix.
    """

    def __init__(self, A: Any, *, backend: Backend = "auto", precision: Precision = "double") -> None:
        """Factor A, `BlockSparse` or scipy sparse (n, n). backend: see `sparse_factor`.

        precision: of the stored factor. "single" halves the time of a solution where A is symmetric and positive
        definite; `solve_once` and `apply` then have about seven digits less those of the condition number, and a
        condition number above 1e7 is not seen.
        """
        if backend == "cholmod":
            check_cholmod()
        self.A = as_csc(A)
        column_counts = np.diff(self.A.indptr)
        if np.any(column_counts == 0):
            raise singular_error(f"column {int(np.argmin(column_counts))} is zero")
        symmetric = bool(np.all(self.A.diagonal() > 0.0)) and is_symmetric(self.A)
        with one_blas_thread():
            self._solve = make_factor(self.A, symmetric=symmetric, backend=backend, precision=precision)
            self.condition, backward_error = self._probe()
            if symmetric and not backward_error < LARGEST_BACKWARD_ERROR[precision]:
                self._solve = make_factor(self.A, symmetric=False, backend="superlu")
                self.condition, backward_error = self._probe()
        if not self.condition < SINGULAR_CONDITION:
            raise singular_error(f"condition number at least {self.condition:.1e}")

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.A.shape

    def solve(self, b: NDArray[np.float64]) -> DirectReport:
        """Solve A x = b with one refinement. b: (n), or (n, k) for k right sides."""
        b = np.asarray(b, dtype=np.float64)
        if b.ndim not in (1, 2) or b.shape[0] != self.A.shape[0]:
            n = self.A.shape[0]
            raise InputError("the right side does not fit the matrix", value=b.shape, allowed=f"({n},) or ({n}, k)")
        with one_blas_thread():
            x = self._solve(b)
            x += self._solve(b - self.A @ x)
            residual = np.linalg.norm(b - self.A @ x, axis=0)
            size = np.linalg.norm(b, axis=0)
        if not np.all(np.isfinite(residual)):
            raise ConvergenceError(
                "the solution is not finite",
                where="DirectSolver",
                fix="Look for infinities or NaN in the right side, or for numbers near the largest double.",
            )
        return DirectReport(x, residual / np.where(size > 0.0, size, 1.0))

    def solve_once(self, b: NDArray[np.float64], out: NDArray[np.float64] | None = None) -> NDArray[np.float64]:
        """A^-1 b of b (n) or (n, k), without refinement and unchecked; the caller limits BLAS to one thread.

        out: where to, as b.
        """
        return self._solve(b, out)

    def apply(self, r: NDArray[np.float64], z_out: NDArray[np.float64]) -> None:
        """z_out = A^-1 r without refinement: a preconditioner for nearby matrices. r, z_out: (n)."""
        with one_blas_thread():
            self._solve(r, z_out)

    def _probe(self) -> tuple[float, float]:
        """Estimate of the condition number of S A S, and the backward error of a solution."""
        n = self.A.shape[0]
        largest = abs(self.A).max(axis=0).toarray().ravel()
        scale = 1.0 / np.sqrt(largest)
        S = scipy.sparse.diags_array(scale)
        norm = abs(S @ self.A @ S).sum(axis=0).max()
        # Any vector with a part in every direction will do; this one is the same every time.
        v = 1.0 + 0.3 * np.sin(1.7 * np.arange(n))
        v /= np.linalg.norm(v)
        growth = backward_error = 0.0
        for _ in range(2):
            right_side = v / scale
            x = self._solve(right_side)
            miss = scale * (right_side - self.A @ x)
            v = x / scale
            growth = float(np.linalg.norm(v))
            if not np.isfinite(growth):
                return np.inf, np.inf
            backward_error = max(backward_error, float(np.linalg.norm(miss)) / (norm * growth))
            v /= growth
        return norm * growth, backward_error


def as_csc(A: Any) -> Any:
    """A `BlockSparse` or scipy sparse matrix as a square, finite csc array without stored zeros."""
    if isinstance(A, BlockSparse):
        A = A.to_scipy()
    if not scipy.sparse.issparse(A):
        raise InputError("this is not a sparse matrix", value=type(A).__name__, allowed="BlockSparse or scipy sparse")
    A = scipy.sparse.csc_array(A, dtype=np.float64, copy=True)
    if A.shape[0] != A.shape[1] or A.shape[0] == 0:
        raise InputError("the matrix is not square", value=A.shape, allowed="(n, n) with n > 0")
    if not np.all(np.isfinite(A.data)):
        raise InputError("the matrix holds a number that is not finite", fix="Look for NaN in its sources.")
    A.sum_duplicates()
    A.eliminate_zeros()
    return A
