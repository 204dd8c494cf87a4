"""Steps beside which shapes of other bodies yield: the unknowns d of the step and g, the forces on the shapes.

    (A + h J^T T J) d + h J^T T W Y g = b,    W^T T J d + (I + N Y) g = w         see `coupling/shapes`

Small ones are solved dense, g eliminated. Larger ones by stabilised biconjugate gradients, preconditioned by the 3x3
blocks of the first matrix with g eliminated exactly: particles, whose matrix is such blocks, take no iteration. The
matrix is unsymmetric where contacts slide, never Y.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.shapes.shape_kernels import invert_blocks, subtract_blocks
from supple.algebra.shapes.yielding_kernels import YieldingStep, run_yielding
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.scene.linearization import dense_blocks
from supple.solvers.coupling.contact_blocks import ContactBlocks

Array = np.ndarray
DENSE = 300
"""Unknowns up to which a dense matrix is faster."""
MAX_ITERATIONS = 400
EXACT = 1e-12
"""Relative residual that stands for a direct solution."""


class YieldingSolution(NamedTuple):
    """d (n,), g (R,), iterations, true relative residual; lost (n,): the residual of d's rows, None where dense."""

    d: Array
    g: Array
    iterations: int
    residual: float
    lost: Array | None = None


def solve_yielding(
    A: BlockSparse, extra: ContactBlocks, b: Array, w: Array, start: Array | None, tolerance: float
) -> YieldingSolution | None:
    """Solve for d and g; None where the iterations fail. A: filtered, with J^T K J added; extra: filtered as well."""
    with one_blas_thread():
        if b.size <= DENSE:
            return _dense(A, extra, b, w)
        return _iterated(A, extra, b, w, start, tolerance)


def _dense(A: BlockSparse, extra: ContactBlocks, b: Array, w: Array) -> YieldingSolution:
    y = extra.yielding
    assert y is not None
    matrix, J = dense_blocks(A), extra.J.dense(np.ones(extra.J.width, dtype=bool))
    V = y.shapes.W.pulled(extra.stiff(J)) / y.h
    X = y.eliminated(np.column_stack([V, w]))
    U = J.T @ extra.stiff(y.shapes.W.times(y.shapes.Y @ X))
    d = np.linalg.solve(matrix - U[:, :-1], b - U[:, -1])
    return YieldingSolution(d, X[:, -1] - X[:, :-1] @ d, 0, 0.0)


def _iterated(
    A: BlockSparse, extra: ContactBlocks, b: Array, w: Array, start: Array | None, tolerance: float
) -> YieldingSolution | None:
    y, J = extra.yielding, extra.J
    assert y is not None
    T, W, inverse = extra.K / y.h, y.shapes.W, np.empty((A.block_row_count, 3, 3))
    if not invert_blocks(A.data[A.diagonal], inverse):
        return None
    N = y.N.copy()
    subtract_blocks(J.ptr, J.cols, J.blocks, W.pieces, T, y.h, inverse, N)
    factors, pivots = scipy.linalg.lu_factor(np.eye(len(N)) + N @ y.shapes.Y, check_finite=False)
    step = YieldingStep(
        J.ptr, J.cols, J.blocks, T, W.pieces, y.shapes.Y, y.N, inverse, np.ascontiguousarray(factors.T), pivots, y.h
    )
    d, g, lost = np.zeros(b.size) if start is None else start.copy(), np.zeros(len(w)), np.empty(b.size)
    iterations, residual = run_yielding(
        A.kernel_arrays, step, b, w, tolerance, MAX_ITERATIONS, A.is_parallel, d, g, lost
    )
    return YieldingSolution(d, g, iterations, residual, lost) if residual <= tolerance else None
