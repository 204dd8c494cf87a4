"""`make_factor`: the factorisation of a sparse matrix as a function b -> A^-1 b.

| matrix | method |
|---|---|
| symmetric, positive diagonal | CHOLMOD's Cholesky where scikit-sparse is installed |
| the same, positive definite, at least MANY_UNKNOWNS unknowns | else `SparseCholesky` |
| symmetric, positive diagonal | else SuperLU, minimum degree of A + A^T, pivots kept on the diagonal |
| any other | SuperLU, COLAMD, partial pivoting |

Of SuperLU's orderings these were the fastest on tetrahedral grid patterns (1.4 to 1.9 times COLAMD) and
on saddle points with constraints (1.5 to 2 times minimum degree). Why there is a Cholesky of its own, and its times
beside those of SuperLU: `docs/decisions/0004-sparse-cholesky.md`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np
import scipy.sparse.linalg
from numpy.typing import NDArray

from supple.algebra.sparse.cholesky.sparse_cholesky import SparseCholesky
from supple.errors import ConvergenceError, MissingExtraError

Backend = Literal["auto", "cholmod", "superlu"]
Precision = Literal["double", "single"]
Array = NDArray[np.float64]

# Unknowns from which the Cholesky factor of dense fronts pays.
MANY_UNKNOWNS = 1000
# A diagonal pivot is kept unless it is below this part of its column.
SYMMETRIC_PIVOT_THRESHOLD = 1e-3


class Solve(Protocol):
    """A^-1 b of b (n,) or (n, k). out: where to, as b; allocated where it is not given."""

    def __call__(self, b: Array, out: Array | None = None) -> Array: ...


def is_symmetric(A: Any, *, tolerance: float = 1e-10) -> bool:
    """Whether |A - A^T| <= tolerance max |A| everywhere."""
    if A.nnz == 0:
        return True
    difference = abs(A - A.T)
    return difference.nnz == 0 or difference.max() <= tolerance * abs(A).max()


def make_factor(A: Any, *, symmetric: bool, backend: Backend = "auto", precision: Precision = "double") -> Solve:
    """Factor A, a square csc array. symmetric: it is, and its diagonal is positive.

    precision: in which `SparseCholesky` stores its factor; "single" prefers it to CHOLMOD.
    """
    if backend == "auto" and symmetric and precision == "single":
        try:
            return SparseCholesky(A, dtype=np.float32).solve
        except np.linalg.LinAlgError:
            pass  # indefinite
    if backend != "superlu" and symmetric:
        solve = _make_cholmod(A)
        if solve is not None:
            return _copied(solve)
    if backend == "cholmod":
        raise ConvergenceError(
            "the matrix is not symmetric positive definite, so it has no Cholesky factorisation",
            where="DirectSolver",
            fix="Use backend='auto' or 'superlu'.",
        )
    if backend == "auto" and symmetric and A.shape[0] >= MANY_UNKNOWNS:
        try:
            return SparseCholesky(A).solve
        except np.linalg.LinAlgError:
            pass  # indefinite
    try:
        if symmetric:
            factor = scipy.sparse.linalg.splu(
                A,
                permc_spec="MMD_AT_PLUS_A",
                diag_pivot_thresh=SYMMETRIC_PIVOT_THRESHOLD,
                options={"SymmetricMode": True},
            )
        else:
            factor = scipy.sparse.linalg.splu(A, permc_spec="COLAMD")
    except RuntimeError as error:
        if "singular" not in str(error):
            raise
        raise singular_error("a pivot is exactly zero") from error
    return _copied(factor.solve)


def _copied(solve: Callable[[Array], Array]) -> Solve:
    """A solve that allocates its result, with the signature of one that need not."""

    def solve_to(b: Array, out: Array | None = None) -> Array:
        if out is None:
            return solve(b)
        out[...] = solve(b)
        return out

    return solve_to


def singular_error(evidence: str) -> ConvergenceError:
    """The error for a singular matrix, with what is likely wrong in a mechanical model."""
    return ConvergenceError(
        "the matrix is singular",
        where="DirectSolver",
        value=evidence,
        fix="Likely a body is not held (fix some of its nodes or add its mass), constraints are redundant "
        "(remove the doubled ones), or a node belongs to no element.",
    )


def check_cholmod() -> None:
    """Raise MissingExtraError unless scikit-sparse can be imported."""
    try:
        import sksparse.cholmod  # noqa: F401
    except ImportError as error:
        raise MissingExtraError("fast", needed_for="the backend 'cholmod'") from error


def _make_cholmod(A: Any) -> Callable[[Array], Array] | None:
    """CHOLMOD's solve, or None where scikit-sparse is missing or A is not positive definite."""
    try:
        from sksparse import cholmod
    except ImportError:
        return None
    try:
        # Versions from 0.5 on have cho_factor, earlier ones a callable factor.
        if hasattr(cholmod, "cho_factor"):
            return cholmod.cho_factor(A, lower=True).solve
        return cholmod.cholesky(A)
    except cholmod.CholmodError:
        return None
