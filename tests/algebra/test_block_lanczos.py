"""Laws of `largest_eigenpairs`: known spectra, multiple values, restarts, repeatable bits, failures that are told."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from supple.algebra.sparse.lanczos import block_lanczos
from supple.algebra.sparse.lanczos.block_lanczos import largest_eigenpairs
from supple.errors import ConvergenceError


def make_problem(n=400, seed=1, values=None):
    """A = X diag(theta) X^T with X^T M X = I, M a full mass."""
    rng = np.random.default_rng(seed)
    M = np.eye(n) + 0.1 * scipy.linalg.toeplitz(0.5 ** np.arange(n))
    X = scipy.linalg.solve_triangular(np.linalg.cholesky(M).T, np.linalg.qr(rng.normal(size=(n, n)))[0])
    theta = 1.0 / np.arange(1.0, n + 1) ** 2 if values is None else values
    return (X * theta) @ X.T, M, theta, X


@pytest.mark.parametrize("count", [1, 5, 30])
def test_pairs_are_those_that_were_put_in(count):
    A, M, theta, X = make_problem()
    pairs = largest_eigenpairs(lambda b: A @ b, lambda b: M @ b, len(M), count)
    np.testing.assert_allclose(pairs.values, theta[:count], rtol=1e-11)
    np.testing.assert_allclose(pairs.vectors.T @ (M @ pairs.vectors), np.eye(count), atol=1e-12)
    np.testing.assert_allclose(np.abs(np.diag(X[:, :count].T @ M @ pairs.vectors)), 1.0, rtol=1e-12)
    miss = A @ (M @ pairs.vectors) - pairs.vectors * pairs.values
    assert np.all(np.linalg.norm(miss, axis=0) < 1e-8 * pairs.values)


def test_multiple_values_are_all_found():
    """Six equal values, which one vector after another finds only by rounding."""
    theta = np.concatenate([np.full(6, 1.0), np.full(3, 0.5), 0.4 / np.arange(1.0, 292.0)])
    A, M, _, X = make_problem(300, values=theta)
    pairs = largest_eigenpairs(lambda b: A @ b, lambda b: M @ b, 300, 9)
    np.testing.assert_allclose(pairs.values, theta[:9], rtol=1e-11)
    inside = X[:, :6].T @ M @ pairs.vectors[:, :6]
    np.testing.assert_allclose(inside @ inside.T, np.eye(6), atol=1e-9)


def test_a_space_that_is_full_is_started_again():
    """Values so near to each other that the workspace of Q is not enough."""
    theta = 1.0 / np.arange(1.0, 401.0) ** 0.25
    A, M, _, _ = make_problem(values=theta)
    pairs = largest_eigenpairs(lambda b: A @ b, lambda b: M @ b, 400, 6)
    assert pairs.solves > 6 + 2 * (3 * 6 + 6 * block_lanczos.BLOCK)
    np.testing.assert_allclose(pairs.values, theta[:6], rtol=1e-10)


def test_the_same_bits_every_time():
    A, M, _, _ = make_problem(200)
    first, second = (largest_eigenpairs(lambda b: A @ b, lambda b: M @ b, 200, 7) for _ in range(2))
    np.testing.assert_array_equal(first.vectors, second.vectors)


def test_fewer_pairs_than_asked_for_are_told():
    """A of rank four has no six."""
    theta = np.concatenate([[4.0, 3.0, 2.0, 1.0], np.zeros(196)])
    A, M, _, _ = make_problem(200, values=theta)
    with pytest.raises(ConvergenceError, match="did not find all"):
        largest_eigenpairs(lambda b: A @ b, lambda b: M @ b, 200, 6)


def test_slow_convergence_is_told(monkeypatch):
    theta = 1.0 - np.arange(400.0) / 7000
    A, M, _, _ = make_problem(values=theta)
    monkeypatch.setattr(block_lanczos, "MAX_RESTARTS", 1)
    with pytest.raises(ConvergenceError, match="did not find all"):
        largest_eigenpairs(lambda b: A @ b, lambda b: M @ b, 400, 6)
