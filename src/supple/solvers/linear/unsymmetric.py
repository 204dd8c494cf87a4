"""Steps whose matrix friction makes unsymmetric, by stabilised biconjugate gradients [Vor92].

In one compiled call with the 3x3 diagonal blocks as preconditioner, by scipy with any other.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, bicgstab

from supple.algebra.dense.outer_kernels import OuterTerm
from supple.algebra.sparse.bicgstab_kernels import multiply, run_bicgstab
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.preconditioners import BlockJacobi, Preconditioner

Array = np.ndarray
MAX_ITERATIONS = 400
"""Iterations, of two products each, after which a direct solution is cheaper."""


class Unsymmetric(NamedTuple):
    """x (n,), iterations, true relative residual."""

    x: Array
    iterations: int
    residual: float


def solve_unsymmetric(
    A: BlockSparse,
    b: Array,
    outer: OuterTerm | None,
    M: Preconditioner | None = None,
    *,
    start: Array | None,
    tolerance: float,
) -> Unsymmetric | None:
    """(A + outer)^-1 b to a relative residual; None where the iterations fail. A and b are filtered.

    M: preconditioner, the diagonal blocks where it is not given.
    """
    x = np.zeros(b.size) if start is None else start.copy()
    if M is None:
        blocks = BlockJacobi()
        blocks.update(A)
        iterations, residual = run_bicgstab(
            A.kernel_arrays, outer, b, blocks.inverse_blocks, tolerance, MAX_ITERATIONS, A.is_parallel, x
        )
    else:
        x, iterations, residual = _by_scipy(A, b, outer, M, x, tolerance)
    return Unsymmetric(x, iterations, residual) if residual <= tolerance else None


def _by_scipy(
    A: BlockSparse, b: Array, outer: OuterTerm | None, M: Preconditioner, x: Array, tolerance: float
) -> tuple[Array, int, float]:
    n, done = b.size, [0]

    def product(x: Array) -> Array:
        y = np.empty(n)
        multiply(A.kernel_arrays, outer, A.is_parallel, np.ascontiguousarray(x).ravel(), y)
        return y

    def precondition(r: Array) -> Array:
        z = np.empty(n)
        M.apply(np.ascontiguousarray(r).ravel(), z)
        return z

    def count(_: Array) -> None:
        done[0] += 1

    x, _ = bicgstab(
        LinearOperator((n, n), matvec=product, dtype=float),
        b,
        x0=x,
        rtol=0.9 * tolerance,
        maxiter=MAX_ITERATIONS,
        M=LinearOperator((n, n), matvec=precondition, dtype=float),
        callback=count,
    )
    size = float(np.linalg.norm(b)) or 1.0
    return x, done[0], float(np.linalg.norm(b - product(x))) / size
