"""Small dense LDLᵀ: factors, solutions, lanes lane by lane, and pivots that fail."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.dense.ldlt import ldlt_factor, ldlt_factor_lanes, ldlt_solve, ldlt_solve_lanes, ldlt_solve_many
from supple.algebra.lanes.lane_type import lane_count
from supple.errors import InputError

RNG = np.random.default_rng(7)


def definite_matrices(count, n):
    M = RNG.normal(size=(count, n, n))
    return M @ np.swapaxes(M, 1, 2) + 0.1 * np.eye(n)


def quasi_definite_matrices(count, n):
    """[H Bᵀ; B -C] with H and C positive definite."""
    half = n // 2
    A = RNG.normal(size=(count, n, n))
    A = 0.5 * (A + np.swapaxes(A, 1, 2))
    A[:, :half, :half] = definite_matrices(count, half)
    A[:, half:, half:] = -definite_matrices(count, n - half)
    return A


def with_poisoned_upper(A):
    """What lies above the diagonal must not be read."""
    poisoned = A.copy()
    poisoned[..., *np.triu_indices(A.shape[-1], 1)] = np.nan
    return poisoned


@pytest.mark.parametrize("make", [definite_matrices, quasi_definite_matrices])
@pytest.mark.parametrize("n", [2, 7, 20])
def test_factors_multiply_to_the_matrix(make, n):
    A = make(1, n)[0]
    F = with_poisoned_upper(A)
    assert ldlt_factor(F) == -1
    L = np.tril(F, -1) + np.eye(len(A))
    D = 1 / np.diag(F)
    np.testing.assert_allclose(L * D @ L.T, A, atol=1e-13 * np.abs(L * D @ np.abs(L.T)).max())


@pytest.mark.parametrize("make", [definite_matrices, quasi_definite_matrices])
def test_solutions_of_one_and_many_right_hand_sides(make):
    A, B = make(1, 12)[0], RNG.normal(size=(12, 5))
    F = with_poisoned_upper(A)
    assert ldlt_factor(F) == -1
    many, one = B.copy(), B[:, 2].copy()
    ldlt_solve_many(F, many)
    ldlt_solve(F, one)
    expected = np.linalg.solve(A, B)
    # forward error: roundoff times the condition number
    tolerance = 50 * np.finfo(float).eps * np.linalg.cond(A) * np.abs(expected).max()
    np.testing.assert_allclose(many, expected, atol=tolerance)
    np.testing.assert_allclose(one, expected[:, 2], atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("make", [definite_matrices, quasi_definite_matrices])
def test_lanes_equal_numpy_lane_by_lane(make, dtype):
    lanes, n, m = lane_count(dtype), 9, 3
    A, B = make(lanes, n), RNG.normal(size=(lanes, n, m))
    F = np.ascontiguousarray(np.moveaxis(with_poisoned_upper(A), 0, -1), dtype=dtype)
    X = np.ascontiguousarray(np.moveaxis(B, 0, -1), dtype=dtype)
    assert ldlt_factor_lanes(F) == -1
    ldlt_solve_lanes(F, X)
    for k in range(lanes):
        expected = np.linalg.solve(A[k], B[k])
        tolerance = 50 * np.finfo(dtype).eps * np.linalg.cond(A[k]) * np.abs(expected).max()
        np.testing.assert_allclose(X[..., k], expected, atol=tolerance)


@pytest.mark.parametrize("bad", [0.0, np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, 3])
def test_bad_pivot_is_reported(bad, row):
    A = np.diag(np.arange(1.0, 6.0))
    A[row, row] = bad
    assert ldlt_factor(A.copy()) == row
    lanes = lane_count(np.float64)
    for lane in (0, lanes - 1):
        F = np.ascontiguousarray(np.repeat(np.diag(np.arange(1.0, 6.0))[..., None], lanes, axis=2))
        F[row, row, lane] = bad
        assert ldlt_factor_lanes(F) == row


def test_singular_matrix_is_reported():
    assert ldlt_factor(np.ones((2, 2))) == 1


@pytest.mark.parametrize("shape", [(2, 2, 3), (2, 3, lane_count(np.float64))])
def test_wrong_shape_of_lane_matrices(shape):
    with pytest.raises(InputError, match="the matrices are not"):
        ldlt_factor_lanes(np.ones(shape))


def test_wrong_shape_of_lane_right_hand_sides():
    lanes = lane_count(np.float64)
    with pytest.raises(InputError, match="right-hand sides"):
        ldlt_solve_lanes(np.ones((2, 2, lanes)), np.ones((3, 1, lanes)))
