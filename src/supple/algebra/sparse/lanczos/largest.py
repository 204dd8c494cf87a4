"""The largest eigenvalue of symmetric matrices, by Lanczos iteration from one vector.

The largest eigenvalue of the tridiagonal matrix T of k steps is that of the matrix where e_k |s_k| is small beside it,
s_k being the last number of its eigenvector; the steps are in `lanczos_kernels`. Vectors are orthogonal to the last
two alone: copies of an eigenvalue that come back do no harm to the largest.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dstebz, dstein

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.lanczos.lanczos_kernels import extend_lanczos
from supple.errors import ConvergenceError

Array = NDArray[np.float64]
LANCZOS = 300  # steps of one search
NOTHING = 1e-12  # of the diagonal of T: nothing is left of a vector


def largest_eigenvalue(B: BlockSparse, C: BlockSparse, shares: Array, start: Array, tolerance: float) -> float:
    """That of B + 2 (I - prod (I - p C)) over the shares p, or of B where there are none, to a residual of so much of
    it, from a vector (n,) to start with."""
    most = min(LANCZOS, len(start))
    vectors, left, moved = np.empty((most + 1, len(start))), np.empty_like(start), np.empty_like(start)
    diagonal, beside, done = np.empty(most), np.empty(most), 0
    vectors[0] = start / np.linalg.norm(start)
    matrices = B.kernel_arrays, C.kernel_arrays
    while done < most:
        asked = min(done + 4, most)
        done = extend_lanczos(*matrices, shares, done, asked, NOTHING, left, moved, vectors, diagonal, beside)
        value, parts = largest_pair(diagonal[:done], beside[: done - 1])
        if done < asked or beside[done - 1] * abs(parts[-1]) <= tolerance * abs(value):
            return value
    raise ConvergenceError("the largest eigenvalue was not found", where="Lanczos iteration", value=LANCZOS)


def largest_pair(diagonal: Sequence[float] | Array, beside: Sequence[float] | Array) -> tuple[float, Array]:
    """The largest eigenvalue of a symmetric tridiagonal matrix of n rows, and its eigenvector (n,), by bisection and
    inverse iteration: LAPACK alone, since what `scipy.linalg` does around it takes longer for such short ones."""
    n = len(diagonal)
    if n == 1:
        return float(diagonal[0]), np.ones(1)
    d, e, by_number = np.array(diagonal), np.array(beside), 2
    _, values, block, split, failed = dstebz(d, e, by_number, 0.0, 1.0, n, n, 0.0, "B")
    vectors, lost = dstein(d, e, values[:1], block, split)
    if failed or lost:
        raise ConvergenceError("the largest eigenvalue was not found", where="Lanczos iteration", value=n)
    return float(values[0]), np.ascontiguousarray(vectors[:, 0])
