"""Solutions of nearly symmetric matrices of blocks by a Cholesky factor, against dense algebra."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky.block_factor import BlockFactor, BlockPattern
from supple.algebra.sparse.cholesky.conjugate_residuals import solve_by_residuals
from supple.solvers.linear.joint_solve import Bordered

SIDE = 7  # of a grid of blocks


def grid_matrix(*, skew: float, shift: float = 1.0) -> BlockSparse:
    """Random blocks between neighbours of a grid, dominated by the diagonal; skew: size of the skew part."""
    rng = np.random.default_rng(3)
    number = np.arange(SIDE**2).reshape(SIDE, SIDE)
    one = np.r_[number[1:].ravel(), number[:, 1:].ravel()]
    two = np.r_[number[:-1].ravel(), number[:, :-1].ravel()]
    A = BlockSparse.from_pairs(SIDE**2, np.r_[one, two], np.r_[two, one])
    B = rng.normal(size=(len(one), 3, 3))
    W = skew * rng.normal(size=(len(one), 3, 3))
    A.data[A.locate(one, two)] = B + W
    A.data[A.locate(two, one)] = np.swapaxes(B - W, 1, 2)
    A.add_diagonal(shift * 12.0)
    return A


def dense(A: BlockSparse) -> np.ndarray:
    return A.to_scipy().toarray()


@pytest.mark.parametrize("skew", [0.0, 0.01, 0.1])
def test_a_nearly_symmetric_matrix_is_solved_to_round_off(skew: float) -> None:
    A, b = grid_matrix(skew=skew), np.random.default_rng(1).normal(size=3 * SIDE**2)
    x, residual = BlockFactor(A, BlockPattern(A))(b)
    np.testing.assert_allclose(x, np.linalg.solve(dense(A), b), atol=1e-10)
    assert residual == pytest.approx(np.linalg.norm(b - dense(A) @ x) / np.linalg.norm(b), abs=1e-15)
    assert residual < 1e-11


def test_a_pattern_serves_other_values() -> None:
    """A factor by the pattern of another matrix has the same bits as one by its own."""
    A, b = grid_matrix(skew=0.0), np.ones(3 * SIDE**2)
    other = A.with_data(2.0 * A.data)
    kept = BlockPattern(A)
    assert kept.fits(other)
    assert np.array_equal(BlockFactor(other, kept)(b)[0], BlockFactor(other, BlockPattern(other))(b)[0])


@pytest.mark.parametrize("kind", [{"skew": 0.0, "shift": -0.5}, {"skew": 5.0}], ids=["indefinite", "unsymmetric"])
def test_other_matrices_are_refused(kind: dict[str, float]) -> None:
    A = grid_matrix(**kind)
    with pytest.raises(np.linalg.LinAlgError):
        BlockFactor(A, BlockPattern(A))(np.ones(3 * SIDE**2))


def test_rows_of_joints_are_solved_with_it() -> None:
    """Against the dense matrix, with rows that pull elsewhere than they hold, and one that rests."""
    A, rng = grid_matrix(skew=0.1), np.random.default_rng(2)
    n, m = 3 * SIDE**2, 4
    P, G, X = rng.normal(size=(m, n)), rng.normal(size=(m, n)), np.zeros((m, m))
    P, X[3, 3], G[3] = G + 0.1 * P, 1.0, 0.0
    kkt = np.block([[dense(A), P.T], [G, X]])
    right = rng.normal(size=n + m)
    x, residual = Bordered(sparse.csc_array(kkt), BlockFactor(A, BlockPattern(A)))(right)
    np.testing.assert_allclose(x, np.linalg.solve(kkt, right), atol=1e-9)
    assert residual < 1e-11


@pytest.mark.parametrize("strength", [0.0, 0.5, 5.0])
def test_conjugate_residuals_solve_what_refinement_cannot(strength: float) -> None:
    """P + N with a skew N of low rank, as of contacts that slide; five times as large as P, refinement diverges."""
    rng, n = np.random.default_rng(0), 60
    P = np.diag(np.arange(1.0, n + 1))
    U = np.linalg.qr(rng.normal(size=(n, 6)))[0]
    A = P + strength * n * (U[:, :3] @ U[:, 3:].T - U[:, 3:] @ U[:, :3].T)
    b, calls = rng.normal(size=n), []

    def once(r: np.ndarray) -> np.ndarray:
        calls.append(1)
        return np.linalg.solve(P, r)

    x, residual = solve_by_residuals(once, lambda x: A @ x, b)
    np.testing.assert_allclose(x, np.linalg.solve(A, b), atol=1e-10)
    assert residual <= 1e-11
    assert len(calls) == 1 if strength == 0.0 else len(calls) < 20
    with pytest.raises(np.linalg.LinAlgError):
        solve_by_residuals(lambda r: np.roll(r, 1), lambda x: x, np.eye(n)[0])


def test_nothing_is_solved_by_nothing() -> None:
    x, residual = solve_by_residuals(lambda r: r, lambda x: x, np.zeros(6))
    assert residual == 0.0
    assert not x.any()
