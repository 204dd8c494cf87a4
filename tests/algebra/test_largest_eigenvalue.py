"""The largest eigenvalue of polynomials of block-sparse matrices, against dense ones."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.lanczos.largest import largest_eigenvalue

BLOCKS = 40
TOLERANCE = 1e-3  # of the residual: the error of the value is about its square over the gap to the next


def matrix(seed: int, most: float) -> BlockSparse:
    """Symmetric, with eigenvalues between 0 and `most`."""
    rng = np.random.default_rng(seed)
    i = np.arange(BLOCKS - 1)
    found = BlockSparse.from_pairs(BLOCKS, np.r_[i, i + 1], np.r_[i + 1, i])
    for k in i:
        part = rng.normal(size=(6, 6))
        part = part @ part.T
        rows = np.array([k, k, k + 1, k + 1]), np.array([k, k + 1, k, k + 1])
        found.data[found.locate(*rows)] += part.reshape(2, 3, 2, 3).transpose(0, 2, 1, 3).reshape(4, 3, 3)
    found.data *= most / np.linalg.eigvalsh(found.to_scipy().toarray())[-1]
    return found


@pytest.mark.parametrize("shares", [(), (0.7,), (0.6, 0.295, 0.105)])
def test_largest_eigenvalue_of_stages_is_that_of_dense_matrices(shares: tuple[float, ...]) -> None:
    B, C = matrix(1, 3.0), matrix(2, 2.0)
    dense, c, one = B.to_scipy().toarray(), C.to_scipy().toarray(), np.eye(3 * BLOCKS)
    if shares:
        left = one
        for share in shares:
            left = left - share * c @ left
        dense = dense + 2 * (one - left)
    start = np.random.default_rng(3).normal(size=3 * BLOCKS)
    found = largest_eigenvalue(B, C, np.array(shares), start, TOLERANCE)
    assert found == pytest.approx(np.linalg.eigvalsh(dense)[-1], rel=TOLERANCE)


def test_iteration_ends_where_nothing_is_left() -> None:
    """From an eigenvector the first step leaves none."""
    B = BlockSparse.from_pairs(BLOCKS, [0], [0])
    B.add_diagonal(np.full((2 * BLOCKS, 3), 5.0)[:BLOCKS])
    start = np.zeros(3 * BLOCKS)
    start[4] = 2.0
    assert largest_eigenvalue(B, B, np.zeros(0), start, TOLERANCE) == pytest.approx(5.0, rel=1e-15)
