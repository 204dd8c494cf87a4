"""Steps whose matrix friction makes unsymmetric, by stabilised biconjugate gradients [Vor92] of scipy.

The residual that is reported is the true one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, bicgstab

from supple.algebra.block_sparse import BlockSparse
from supple.algebra.outer_kernels import OuterTerm, add_outer
from supple.algebra.preconditioners import BlockJacobi, Preconditioner

Array = np.ndarray
MOST = 400
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
    n, done = b.size, [0]
    if M is None:
        M = BlockJacobi()
        M.update(A)
    size = float(np.linalg.norm(b))
    if size == 0.0:
        return Unsymmetric(np.zeros(n), 0, 0.0)

    def product(x: Array) -> Array:
        y = np.empty(n)
        A.product(np.ascontiguousarray(x).ravel(), y)
        if outer is not None:
            add_outer(outer, np.ascontiguousarray(x).ravel(), 1.0, y)
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
        x0=start,
        rtol=0.9 * tolerance,
        maxiter=MOST,
        M=LinearOperator((n, n), matvec=precondition, dtype=float),
        callback=count,
    )
    residual = float(np.linalg.norm(b - product(x))) / size
    return Unsymmetric(x, done[0], residual) if residual <= tolerance else None
