"""`BlockFactor`: solutions of a matrix of 3x3 blocks by the Cholesky factor of its symmetric part.

    S = (A + A^T) / 2 = L L^T,     x += S^-1 (b - A x)        until b - A x is at round-off

The tangent of a step is symmetric but for damping, follower loads and turning frames. That part is small beside the
mass and the stiffness, so the iteration converges in a few rounds, far quicker than an unsymmetric factorisation. What
the pattern decides is found once (`BlockPattern`) and serves all steps.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy.sparse as sparse

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky.sparse_cholesky import CholeskyPattern, SparseCholesky, of_unknowns
from supple.algebra.sparse.cholesky.sparse_cholesky_kernels import compute_means
from supple.algebra.sparse.cholesky.supernodes import find_supernodes

Array = np.ndarray
ROUNDS, FINEST, SOLVED = 20, 1e-13, 1e-11
"""Of the refinement: most of them, the relative residual at which it ends, and the one up to which it has succeeded."""


class BlockPattern:
    """Where the blocks of a pattern lie in the rows of single unknowns, and what its Cholesky factor looks like."""

    def __init__(self, A: BlockSparse) -> None:
        """Of a matrix whose pattern is symmetric."""
        self.indptr, self.indices = A.indptr, A.indices
        rows = np.repeat(np.arange(A.block_row_count), np.diff(A.indptr))
        transposed = A.locate(A.indices, rows)
        places = sparse.bsr_array(
            (np.arange(9.0 * A.block_count).reshape(-1, 3, 3), A.indices, A.indptr), shape=A.shape
        ).tocsr()
        self._starts, self._columns, self._places = places.indptr, places.indices, places.data.astype(np.int64)
        block, entry = np.divmod(self._places, 9)
        self._opposite = 9 * transposed[block].astype(np.int64) + 3 * (entry % 3) + entry // 3
        found = find_supernodes(A.indptr, A.indices, width=3)
        self.cholesky = CholeskyPattern.of(of_unknowns(found, 3))

    def fits(self, A: BlockSparse) -> bool:
        """Whether a matrix has this pattern."""
        return self.indptr is A.indptr and self.indices is A.indices

    def symmetric_part(self, A: BlockSparse) -> sparse.csr_array:
        """(A + A^T) / 2."""
        values = np.empty(len(self._places))
        compute_means(A.data.reshape(-1), self._places, self._opposite, values)
        return sparse.csr_array((values, self._columns, self._starts), shape=A.shape)


class BlockFactor:
    """The factor of one matrix. Raises numpy.linalg.LinAlgError where its symmetric part is not positive definite."""

    def __init__(self, A: BlockSparse, pattern: BlockPattern) -> None:
        self.A = A.copy()
        self.once = SparseCholesky(pattern.symmetric_part(A), pattern=pattern.cholesky).solve

    def product(self, x: Array) -> Array:
        """A x."""
        out = np.empty_like(x)
        self.A.product(x, out)
        return out

    def __call__(self, b: Array) -> tuple[Array, float]:
        """A^-1 b and its true relative residual."""
        return refined(self.once, self.product, b)


def refined(once: Callable[[Array], Array], product: Callable[[Array], Array], b: Array) -> tuple[Array, float]:
    """x with product(x) = b, from solutions that are nearly right, and its true relative residual.

    Raises numpy.linalg.LinAlgError where they are not right enough.
    """
    size = float(np.linalg.norm(b))
    if size == 0.0:
        return np.zeros_like(b), 0.0
    x = once(b)
    left, rest = np.inf, b - product(x)
    for _ in range(ROUNDS):
        now = float(np.linalg.norm(rest)) / size
        if not now < 0.5 * left:
            break
        best, left = x, now
        if now <= FINEST:
            break
        x = x + once(rest)
        rest = b - product(x)
    if not left <= SOLVED:
        raise np.linalg.LinAlgError("the refinement does not converge")
    return best, left
