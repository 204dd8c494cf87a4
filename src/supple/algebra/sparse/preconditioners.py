"""Preconditioners of the conjugate gradients on a `BlockSparse` matrix: z = M^-1 r.

`Jacobi`: M = diag(A). `BlockJacobi`: M = the 3x3 diagonal blocks. `IncompleteCholesky`: M = W D W^T on the
pattern of A; about a third of the iterations, each two to three times the work, on one thread.
`Identity`: M = I. Each is made once, `update`d when values change (memory is reused) and applied any number
of times. Unknowns marked `fixed` are left out: M^-1 acts within the free ones.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.algebra.sparse import block_diagonal_kernels, incomplete_cholesky_kernels
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.errors import ConvergenceError, InputError


class Preconditioner(Protocol):
    """What `solve_cg` needs: a symmetric positive definite M^-1."""

    def apply(self, r: NDArray[np.float64], z_out: NDArray[np.float64]) -> None:
        """z_out = M^-1 r. r, z_out: (n)."""


def compute_free(fixed: ArrayLike | None, free_out: NDArray[np.float64]) -> None:
    """free_out = 0 where an unknown is fixed, 1 elsewhere. fixed: booleans or integers, one an unknown."""
    if fixed is None:
        free_out.fill(1.0)
        return
    fixed = np.asarray(fixed)
    if fixed.size != free_out.size or fixed.dtype.kind not in "bui":
        raise InputError(
            "the mask of fixed unknowns does not fit the matrix",
            where="fixed",
            value=f"{fixed.dtype} {fixed.shape}",
            allowed=f"{free_out.size} booleans, one an unknown",
        )
    free_out.reshape(-1)[:] = fixed.reshape(-1) == 0


class BlockDiagonal:
    """A preconditioner that is one 3x3 block a block row. inverse_blocks: (block_row_count, 3, 3)."""

    def __init__(self) -> None:
        self.inverse_blocks = np.empty((0, 3, 3))
        self._free = np.empty((0, 3))

    def apply(self, r: NDArray[np.float64], z_out: NDArray[np.float64]) -> None:
        """z_out = M^-1 r. r, z_out: (3 block_row_count)."""
        block_diagonal_kernels.apply_blocks(self.inverse_blocks, r.reshape(-1), z_out.reshape(-1))

    def _prepare(self, A: BlockSparse, fixed: ArrayLike | None) -> None:
        if self.inverse_blocks.shape[0] != A.block_row_count:
            self.inverse_blocks = np.empty((A.block_row_count, 3, 3))
            self._free = np.empty((A.block_row_count, 3))
        compute_free(fixed, self._free)


class Identity(BlockDiagonal):
    """M = I: no preconditioning."""

    def update(self, A: BlockSparse, fixed: ArrayLike | None = None) -> None:
        """Fit the size and the fixed unknowns."""
        self._prepare(A, fixed)
        self.inverse_blocks.fill(0.0)
        self.inverse_blocks[:, range(3), range(3)] = self._free


class Jacobi(BlockDiagonal):
    """M = diag(A)."""

    def update(self, A: BlockSparse, fixed: ArrayLike | None = None) -> None:
        """Invert the diagonal of A. fixed: (3 block_row_count) booleans."""
        self._prepare(A, fixed)
        block_diagonal_kernels.compute_inverse_diagonal(A.data, A.diagonal, self._free, self.inverse_blocks)


class BlockJacobi(BlockDiagonal):
    """M = the 3x3 diagonal blocks of A."""

    def update(self, A: BlockSparse, fixed: ArrayLike | None = None) -> None:
        """Invert the diagonal blocks of A. fixed: (3 block_row_count) booleans."""
        self._prepare(A, fixed)
        block_diagonal_kernels.compute_inverse_blocks(A.data, A.diagonal, self._free, self.inverse_blocks)


class IncompleteCholesky:
    """M = W D W^T on the pattern of A, block by block.

    Where a pivot is not positive, the diagonal of A is scaled by 1 + shift and the factorisation repeated
    [Man80]; `shift` is the last one used.
    """

    SHIFTS = (0.0, 1e-3, 1e-2, 1e-1, 1.0, 10.0)

    def __init__(self) -> None:
        self.shift = 0.0
        self._pattern: tuple[NDArray[np.int32], NDArray[np.int32]] | None = None
        self._free = np.empty((0, 3))
        self._row_place = np.empty(0, dtype=np.int32)
        self._row_blocks = np.empty((1, 3, 3))
        empty, no_blocks = np.empty(0, dtype=np.int32), np.empty((0, 3, 3))
        self.factor = incomplete_cholesky_kernels.IncompleteFactor(
            empty, empty, empty, no_blocks, no_blocks, empty, empty, empty, no_blocks
        )

    def update(self, A: BlockSparse, fixed: ArrayLike | None = None) -> None:
        """Factor A. fixed: (3 block_row_count) booleans."""
        if self._pattern is None or self._pattern[0] is not A.indptr or self._pattern[1] is not A.indices:
            self._take_pattern(A)
        compute_free(fixed, self._free)
        failed_row = -1
        for shift in self.SHIFTS:
            self.shift = shift
            failed_row = incomplete_cholesky_kernels.compute_factor(
                A.data, A.diagonal, self._free, self.shift, self._row_place, self._row_blocks, self.factor
            )
            if failed_row < 0:
                return
        raise ConvergenceError(
            "the matrix has no incomplete Cholesky factorisation: a pivot block stays not positive definite",
            where=f"block row {failed_row}",
            value=f"diagonal scaled by {1.0 + self.shift:g}",
            fix="Make the matrix positive definite, or use the preconditioner 'block_jacobi'.",
        )

    def apply(self, r: NDArray[np.float64], z_out: NDArray[np.float64]) -> None:
        """z_out = M^-1 r. r, z_out: (3 block_row_count), not the same array."""
        incomplete_cholesky_kernels.apply_factor(self.factor, r.reshape(-1), z_out.reshape(-1))

    def _take_pattern(self, A: BlockSparse) -> None:
        n = A.block_row_count
        all_rows = np.repeat(np.arange(n, dtype=np.int32), np.diff(A.indptr))
        source = np.flatnonzero(A.indices < all_rows).astype(np.int32)
        rows, columns = all_rows[source], A.indices[source]
        row_counts = np.bincount(rows, minlength=n)
        upper_order = np.argsort(columns, kind="stable")
        upper_place = np.empty(source.size, dtype=np.int32)
        upper_place[upper_order] = np.arange(source.size)
        self._pattern = (A.indptr, A.indices)
        self._free = np.empty((n, 3))
        self._row_place = np.empty(n, dtype=np.int32)
        self._row_blocks = np.empty((int(row_counts.max(initial=0)) + 1, 3, 3))
        self.factor = incomplete_cholesky_kernels.IncompleteFactor(
            indptr=_starts(row_counts),
            indices=columns,
            source=source,
            W=np.empty((source.size, 3, 3)),
            D_inverse=np.empty((n, 3, 3)),
            upper_indptr=_starts(np.bincount(columns, minlength=n)),
            upper_indices=rows[upper_order],
            upper_place=upper_place,
            upper=np.empty((source.size, 3, 3)),
        )


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int32]:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
