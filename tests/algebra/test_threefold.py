"""Products of small sparse matrices over points, against dense ones."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse

from supple.algebra.sparse.threefold import SparseRows, chosen_rows, composed, pulled, threefold, times


def some_rows(shape: tuple[int, int], seed: int) -> sparse.csr_array:
    """Some entries, in rows of which some are empty."""
    rng = np.random.default_rng(seed)
    return sparse.csr_array(np.where(rng.uniform(size=shape) < 0.2, rng.normal(size=shape), 0.0))


def test_threefold_is_a_kronecker_product() -> None:
    W = some_rows((7, 5), 0)
    np.testing.assert_array_equal(threefold(W).toarray(), np.kron(W.toarray(), np.eye(3)))


@pytest.mark.parametrize("count", [0, 7])
def test_composed_is_the_product(count: int) -> None:
    A, B = some_rows((count, 6), 1), some_rows((6, 9), 2)
    np.testing.assert_allclose(composed(A, B).toarray(), A.toarray() @ B.toarray(), rtol=0, atol=1e-14)


@pytest.mark.parametrize("shape", [(7,), (7, 3)])
def test_pulled_is_the_product_with_the_transpose(shape: tuple[int, ...]) -> None:
    W, f = some_rows((7, 5), 3), np.random.default_rng(4).normal(size=shape)
    np.testing.assert_allclose(pulled(W, f), W.toarray().T @ f, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(pulled(some_rows((0, 5), 0), np.zeros((0, *shape[1:]))), np.zeros((5, *shape[1:])))


@pytest.mark.parametrize("shape", [(5,), (5, 3)])
def test_times_is_the_product(shape: tuple[int, ...]) -> None:
    W, x = some_rows((7, 5), 3), np.random.default_rng(4).normal(size=shape)
    np.testing.assert_allclose(times(W, x), W.toarray() @ x, rtol=0, atol=1e-14)
    strided = np.repeat(x, 2, axis=0)[::2]
    np.testing.assert_array_equal(times(W, strided), times(W, x))


def test_rows_are_those_of_a_matrix() -> None:
    W = some_rows((7, 5), 5)
    own = chosen_rows(W, np.array([6, 2, 2]))
    np.testing.assert_array_equal(own.toarray(), W.toarray()[[6, 2, 2]])
    np.testing.assert_array_equal(own.T.toarray(), W.toarray()[[6, 2, 2]].T)
    np.testing.assert_array_equal(own.to_scipy().toarray(), own.toarray())
    np.testing.assert_array_equal(SparseRows.unit(4).toarray(), np.eye(4))
    np.testing.assert_array_equal(SparseRows.empty(2, 3).toarray(), np.zeros((2, 3)))
