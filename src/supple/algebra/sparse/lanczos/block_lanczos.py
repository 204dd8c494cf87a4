"""`largest_eigenpairs`: the pairs of A M v = theta v with the largest theta, by block Lanczos with restarts.

    W = A M Q_j,   T_ij = Q_i^T M W,   Q_j+1 B = W - sum_i Q_i T_ij,   Q^T M Q = I      A symmetric, M, A not negative
    T s = theta s,   v = Q s,   |A M v - theta v|_M = |B s_j|                             s_j: the part of s in block j

| symbol | code | meaning |
|---|---|---|
| A, M | `apply`, `mass` | functions of blocks (n, k) |
| Q, M Q | `Q`, `MQ` (n, workspace) | orthonormal in M; a new block is cleared of all of Q twice |
| T | `T` (workspace, workspace) | A M in that basis |

Where A is the inverse of a sparse matrix, its factor is read once for all columns of a block, which also find values
that are multiple [GLS94]. When Q is full, its leading Ritz vectors and the block after it are kept [ZS08].
The start is a fixed block and BLAS runs on one thread: the same input gives the same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.errors import ConvergenceError

Array = NDArray[np.float64]
Product = Callable[[Array], Array]
BLOCK = 8
"""Columns of a block, unless there are fewer unknowns."""
TOLERANCE = 1e-9
"""Residual of a pair, as a part of its theta; the error of theta is about the square of it."""
ROUNDING = 1e-15
"""The same, as a part of the largest theta: less is not seen."""
SMALLEST_SHARE = 1e-7
"""Of the largest: directions of a block that hold less that is new are left out."""
SMALLEST_NEW = 1e-13
"""The same, of the longest column before the vectors known were taken out."""
MAX_RESTARTS = 30


class LargestPairs(NamedTuple):
    """values: theta (count,), descending. vectors: (n, count), orthonormal in M. solves: columns A was applied to."""

    values: Array
    vectors: Array
    solves: int


def largest_eigenpairs(apply: Product, mass: Product, n: int, count: int) -> LargestPairs:
    """The `count` pairs with the largest theta, of vectors (n,) in the range of A. apply: A; mass: M.

    >>> A = np.diag(1.0 / np.arange(1.0, 301.0))
    >>> pairs = largest_eigenpairs(lambda b: A @ b, lambda b: b, 300, 4)
    >>> np.round(1 / pairs.values, 9).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    width = max(1, min(BLOCK, n // 4))
    workspace = min(n, 3 * count + 6 * width)
    Q, MQ, T = (
        np.empty((n, workspace), order="F"),
        np.empty((n, workspace), order="F"),
        np.zeros((workspace, workspace)),
    )
    start = np.random.default_rng(0).standard_normal((n, width))
    with one_blas_thread():
        _, block, heavy, _ = split(apply(mass(start)), Q[:, :0], MQ[:, :0], mass)
        size, solves, restarts = 0, width, 0
        while True:
            new = slice(size, size + block.shape[1])
            Q[:, new], MQ[:, new] = block, heavy
            size = new.stop
            solves += block.shape[1]
            T[:size, new], block, heavy, B = split(apply(heavy), Q[:, :size], MQ[:, :size], mass)
            T[new, :size] = T[:size, new].T
            theta, s = scipy.linalg.eigh(T[:size, :size])
            theta, s = theta[::-1], s[:, ::-1]
            miss = np.linalg.norm(B @ s[new], axis=0)[:count]
            found = int(np.count_nonzero(miss <= TOLERANCE * theta[:count] + ROUNDING * theta[0]))
            if found == count:
                return LargestPairs(theta[:count], Q[:, :size] @ s[:, :count], solves)
            if restarts == MAX_RESTARTS or not block.shape[1]:
                break
            if size + block.shape[1] > workspace:
                restarts += 1
                kept = min(count + width, workspace - width)
                Q[:, :kept], MQ[:, :kept] = Q[:, :size] @ s[:, :kept], MQ[:, :size] @ s[:, :kept]
                T[:] = 0.0
                T[range(kept), range(kept)] = theta[:kept]
                size = kept
    raise ConvergenceError(
        "the Lanczos iteration did not find all eigenpairs",
        where="largest_eigenpairs",
        value=f"{found} found",
        allowed=f"{count}",
        fix="Ask for fewer pairs.",
    )


def split(W: Array, Q: Array, MQ: Array, mass: Product) -> tuple[Array, Array, Array, Array]:
    """C (size, k), P (n, rank), M P and B (rank, k) with W = Q C + P B, P orthonormal in M and to Q."""
    C, B, MW = np.zeros((Q.shape[1], W.shape[1])), np.eye(W.shape[1]), mass(W)
    least = max(SMALLEST_NEW * np.sqrt(np.einsum("ij,ij->j", W, MW).max()), np.finfo(float).tiny)
    for _ in range(2):  # the second pass takes out the rounding of the first
        part = Q.T @ MW
        W, MW = W - Q @ part, MW - MQ @ part
        C += part @ B
        squares, turn = np.linalg.eigh(W.T @ MW)
        sizes = np.sqrt(np.maximum(squares, 0.0))
        kept = sizes > max(SMALLEST_SHARE * sizes.max(initial=0.0), least)
        scaled = turn[:, kept] / sizes[kept]
        W, MW = W @ scaled, MW @ scaled
        B, least = (sizes[kept, None] * turn[:, kept].T) @ B, 0.5  # what rounding left of nothing is not of length one
    return C, W, MW, B
