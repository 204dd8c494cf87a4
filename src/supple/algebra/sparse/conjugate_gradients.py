"""`solve_cg`: preconditioned conjugate gradients with an honest stop.

    solve C A C x = C b     A symmetric positive definite on range(C), C an orthogonal projector

| symbol | code | meaning |
|---|---|---|
| A, b, x | `A`, `b`, `x_out` | matrix, right side, solution |
| C | `fixed` | the filter: zero where an unknown is fixed; x stays in its range, starting from C x0 |
| M | `preconditioner` | approximation of A that is easy to invert |

The method is that of [HS52] with the filter of [BW98]. We depart in the stop: the residual of the recurrence
drifts from the true one, so when it says done, C (b - A x) is computed anew; if that is above the tolerance,
the iteration restarts from it, and if restarting no longer helps, the solve says so. The reported residual is
always the true one. A matrix that is a `BlockSparse` runs as one compiled call; any other operator runs the
same algorithm in `conjugate_gradients_general`. Results are the same bits for any number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.algebra.dense.outer_kernels import OuterTerm, add_outer
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.block_sparse_kernels import CHUNK
from supple.algebra.sparse.cg_report import CgOutcome, CgReport, CgRequest
from supple.algebra.sparse.conjugate_gradients_general import Product, as_product, solve_general
from supple.algebra.sparse.conjugate_gradients_kernels import CgVectors, run_conjugate_gradients
from supple.algebra.sparse.preconditioners import (
    BlockDiagonal,
    BlockJacobi,
    Identity,
    IncompleteCholesky,
    Jacobi,
    Preconditioner,
    compute_free,
)
from supple.errors import ConvergenceError, InputError

PreconditionerName = Literal["block_jacobi", "jacobi", "none", "incomplete_cholesky"]
Projector = Callable[[NDArray[np.float64]], None]

PRECONDITIONERS: dict[str, type] = {
    "block_jacobi": BlockJacobi,
    "jacobi": Jacobi,
    "none": Identity,
    "incomplete_cholesky": IncompleteCholesky,
}


class CgWorkspace:
    """Memory of the solves of one size: vectors and the preconditioners asked for by name."""

    def __init__(self, block_row_count: int) -> None:
        n, chunk_count = 3 * block_row_count, -(-block_row_count // CHUNK)
        self.vectors = CgVectors(
            free=np.ones(n),
            r=np.zeros(n),
            z=np.zeros(n),
            p=np.zeros(n),
            q=np.zeros(n),
            sums=np.zeros((chunk_count, 2)),
        )
        self._preconditioners: dict[str, Any] = {}

    def preconditioner(self, name: str) -> Any:
        """The preconditioner of this name, made at its first use."""
        if name not in PRECONDITIONERS:
            raise InputError("there is no such preconditioner", value=name, allowed=", ".join(PRECONDITIONERS))
        if name not in self._preconditioners:
            self._preconditioners[name] = PRECONDITIONERS[name]()
        return self._preconditioners[name]


def solve_cg(
    A: Any,
    b: NDArray[np.float64],
    x_out: NDArray[np.float64] | None = None,
    *,
    x0: NDArray[np.float64] | None = None,
    preconditioner: PreconditionerName | Preconditioner | None = None,
    tolerance: float = 1e-6,
    max_iterations: int | None = None,
    fixed: ArrayLike | Projector | None = None,
    workspace: CgWorkspace | None = None,
    outer: OuterTerm | None = None,
    keep_history: bool = False,
) -> CgReport:
    """Solve C A C x = C b; the solution is written to `x_out` (made when not given) and is `report.x`.

    A: `BlockSparse`; or a function x -> A x, or anything with `product(x, y_out)` or `@`.
    b, x_out, x0: (n) or (n / 3, 3). x0: start, zero when not given; may be `x_out` itself.
    preconditioner: a name (made from A at every call), or an object with `apply(r, z_out)`, used as it is.
        When not given, "block_jacobi" for a `BlockSparse` and "none" for other operators. Where no
        incomplete Cholesky factor exists, "incomplete_cholesky" falls back to "block_jacobi".
    tolerance: on |C(b - A x)| / |C b|. Zero: do exactly `max_iterations` iterations, fewer only when
        nothing is left to solve.
    max_iterations: ten times n when not given.
    fixed: (n) booleans, true where x stays zero; or a function that applies an orthogonal projector in place.
    workspace: memory kept between calls on a `BlockSparse`.
    outer: J^T F J, added to a `BlockSparse` A as an operator; not in the named preconditioners.
    keep_history: fill `report.residual_history`.
    """
    # A writable copy: compiled code would be specialised anew for a read-only array.
    b = np.require(b, np.float64, ["C", "W"])
    x = np.empty_like(b) if x_out is None else x_out
    limit = _checked_limit(b.size, tolerance, max_iterations)
    _check_vectors(b, x, x0)
    if x0 is not None and x0 is not x:
        x[...] = x0
    request = CgRequest(b.reshape(-1), x.reshape(-1), float(tolerance), limit, x0 is not None, keep_history)
    if isinstance(A, BlockSparse):
        A.flat(b)
        workspace = workspace or CgWorkspace(A.block_row_count)
        mask = None if callable(fixed) else fixed
        M = matrix_preconditioner(A, preconditioner, mask, workspace)
        if not callable(fixed) and isinstance(M, BlockDiagonal | IncompleteCholesky):
            return _solve_compiled(A, outer, request, M, mask, workspace)
    else:
        M = _operator_preconditioner(preconditioner)
    product = as_product(A)
    return solve_general(
        product if outer is None else _with_outer(product, outer), request, M, _as_projector(fixed, b.size)
    )


def _with_outer(product: Product, outer: OuterTerm) -> Product:
    def sum_of_both(x: NDArray[np.float64], y_out: NDArray[np.float64]) -> None:
        product(x, y_out)
        add_outer(outer, x, 1.0, y_out)

    return sum_of_both


def _solve_compiled(
    A: BlockSparse,
    outer: OuterTerm | None,
    request: CgRequest,
    M: BlockDiagonal | IncompleteCholesky,
    mask: ArrayLike | None,
    workspace: CgWorkspace,
) -> CgReport:
    if workspace.vectors.r.size != request.b.size:
        raise InputError(
            "the workspace does not fit the matrix",
            value=workspace.vectors.r.size,
            allowed=str(request.b.size),
        )
    compute_free(mask, workspace.vectors.free)
    factor = None if isinstance(M, BlockDiagonal) else M.factor
    inverse_blocks = M.inverse_blocks if isinstance(M, BlockDiagonal) else M.factor.D_inverse
    if inverse_blocks.shape[0] != A.block_row_count:
        raise InputError(
            "the preconditioner does not fit the matrix",
            value=f"{inverse_blocks.shape[0]} block rows",
            allowed=f"{A.block_row_count} block rows",
            fix="Call its update(A) before the solve.",
        )
    history = request.make_history()
    code, iterations, residual = run_conjugate_gradients(
        A.kernel_arrays,
        outer,
        request.b,
        inverse_blocks,
        factor,
        request.tolerance,
        request.limit,
        request.is_warm,
        A.is_parallel,
        history,
        request.x,
        workspace.vectors,
    )
    return request.make_report(CgOutcome.from_code(code), iterations, residual, history)


def matrix_preconditioner(A: BlockSparse, preconditioner: Any, mask: ArrayLike | None, workspace: CgWorkspace) -> Any:
    """The object given, or the named one made from A; diagonal blocks where there is no incomplete factor."""
    if preconditioner is not None and not isinstance(preconditioner, str):
        return preconditioner
    M = workspace.preconditioner(preconditioner or "block_jacobi")
    try:
        M.update(A, mask)
    except ConvergenceError:
        M = workspace.preconditioner("block_jacobi")
        M.update(A, mask)
    return M


def _operator_preconditioner(preconditioner: Any) -> Any:
    if preconditioner is None or preconditioner == "none":
        return None
    if isinstance(preconditioner, str):
        raise InputError(
            "this preconditioner needs a matrix, and an operator was given",
            where="solve_cg",
            value=preconditioner,
            allowed="'none', or an object with apply(r, z_out)",
            fix="Assemble a BlockSparse, or give a preconditioner object.",
        )
    return preconditioner


def _as_projector(fixed: ArrayLike | Projector | None, size: int) -> Projector | None:
    if fixed is None or callable(fixed):
        return fixed
    free = np.empty(size)
    compute_free(fixed, free)

    def project(vector: NDArray[np.float64]) -> None:
        vector *= free

    return project


def _checked_limit(size: int, tolerance: float, max_iterations: int | None) -> int:
    if not 0.0 <= tolerance < 1.0:
        raise InputError("the tolerance is not usable", value=tolerance, allowed="0 <= tolerance < 1")
    if max_iterations is None:
        if tolerance == 0.0:
            raise InputError(
                "a tolerance of zero asks for an exact number of iterations, and none was given",
                where="solve_cg",
                fix="Give max_iterations.",
            )
        return 10 * size
    if max_iterations < 0:
        raise InputError("max_iterations is negative", value=max_iterations, allowed="0 or more")
    return int(max_iterations)


def _check_vectors(b: NDArray[np.float64], x: NDArray[np.float64], x0: NDArray[np.float64] | None) -> None:
    if x.shape != b.shape or x.dtype != np.float64 or not x.flags.c_contiguous:
        raise InputError(
            "x_out does not fit the right side",
            value=f"{x.dtype} {x.shape}",
            allowed=f"contiguous float64 {b.shape}",
        )
    if np.may_share_memory(x, b):
        raise InputError("x_out and b are the same memory", fix="Give x_out memory of its own.")
    if x0 is not None and np.shape(x0) != b.shape:
        raise InputError("x0 does not fit the right side", value=np.shape(x0), allowed=str(b.shape))
