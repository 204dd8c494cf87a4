"""Laws of `BlockSparse`: the pattern is the union, products are scipy's, threads change no bit."""

import numba
import numpy as np
import pytest
import scipy.sparse

from supple.algebra.sparse import block_sparse
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.errors import InputError


def make_random(block_row_count=97, pair_count=900, seed=0):
    rng = np.random.default_rng(seed)
    rows, cols = rng.integers(0, block_row_count, (2, pair_count))
    A = BlockSparse.from_pairs(block_row_count, rows, cols)
    A.data[:] = rng.standard_normal(A.data.shape)
    return A, rows, cols


@pytest.fixture
def two_threads():
    before = numba.get_num_threads()
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one core only")
    numba.set_num_threads(2)
    yield
    numba.set_num_threads(before)


def test_pattern_is_the_union_of_pairs_and_diagonal():
    A, rows, cols = make_random()
    expected = set(zip(rows.tolist(), cols.tolist())) | {(r, r) for r in range(97)}
    rows_of_blocks = np.repeat(np.arange(97), np.diff(A.indptr))
    assert A.block_count == len(expected)
    assert set(zip(rows_of_blocks.tolist(), A.indices.tolist())) == expected
    inside_row = np.diff(rows_of_blocks) == 0
    assert np.all(np.diff(A.indices)[inside_row] > 0)
    assert np.array_equal(A.indices[A.diagonal], np.arange(97))
    assert (A.indptr.dtype, A.indices.dtype, A.diagonal.dtype) == (np.int32,) * 3


def test_without_pairs_only_the_diagonal_is_there():
    A = BlockSparse.from_pairs(4, [], [])
    assert A.block_count == 4
    assert np.all(A.data == 0.0)


def test_scattered_blocks_are_found_by_locate():
    A, rows, cols = make_random()
    blocks = np.random.default_rng(1).standard_normal((rows.size, 3, 3))
    A.clear()
    np.add.at(A.data, A.locate(rows, cols), blocks)
    dense = np.zeros((97, 3, 97, 3))
    for row, col, block in zip(rows, cols, blocks):
        dense[row, :, col, :] += block
    np.testing.assert_allclose(A.to_scipy().toarray(), dense.reshape(291, 291), atol=1e-14)


def test_a_pair_outside_the_pattern_is_named():
    A = BlockSparse.from_pairs(4, [0], [1])
    with pytest.raises(InputError, match=r"\(1, 0\)"):
        A.locate([0, 1], [1, 0])


@pytest.mark.parametrize(("rows", "cols"), [([4], [0]), ([0], [-1]), ([0, 1], [0]), ([0.5], [0])])
def test_unusable_pairs_are_refused(rows, cols):
    with pytest.raises(InputError):
        BlockSparse.from_pairs(4, rows, cols)


def test_product_is_that_of_scipy():
    A, *_ = make_random()
    x = np.random.default_rng(2).standard_normal(291)
    y = np.full(291, np.nan)
    A.product(x, y)
    # Sums of about thirty products of size one.
    np.testing.assert_allclose(y, A.to_scipy() @ x, atol=1e-13)
    before = y.copy()
    A.add_product(x, y, -0.5)
    np.testing.assert_allclose(y, 0.5 * before, atol=1e-13)


def test_vectors_may_be_one_row_a_node():
    A, *_ = make_random()
    x = np.random.default_rng(2).standard_normal((97, 3))
    y = np.full((97, 3), np.nan)
    A.product(x, y)
    np.testing.assert_allclose(y.ravel(), A.to_scipy() @ x.ravel(), atol=1e-13)


@pytest.mark.parametrize("vector", [np.zeros(290), np.zeros(291, np.float32), np.zeros(582)[::2]])
def test_vectors_that_do_not_fit_are_refused(vector):
    A, *_ = make_random()
    with pytest.raises(InputError, match="does not fit"):
        A.product(np.zeros(291), vector)


def test_two_threads_give_the_bits_of_one(two_threads, monkeypatch):
    monkeypatch.setattr(block_sparse, "PARALLEL_BLOCK_COUNT", 0)
    A, *_ = make_random(block_row_count=1000, pair_count=12_000)
    x = np.random.default_rng(3).standard_normal(3000)
    results = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        assert A.is_parallel == (threads == 2)
        y = np.full(3000, np.nan)
        A.product(x, y)
        A.add_product(y.copy(), y, 0.3)
        results.append(y)
    assert np.array_equal(*results)


def test_diagonal_additions_agree_in_all_their_forms():
    A, *_ = make_random()
    expected = A.to_scipy().toarray() + np.diag(np.repeat(np.arange(97.0), 3))
    per_node = np.arange(97.0)
    forms = [
        per_node,
        np.repeat(per_node, 3),
        np.repeat(per_node, 3).reshape(97, 3),
        per_node[:, None, None] * np.eye(3),
    ]
    for values in forms:
        B = A.copy()
        B.add_diagonal(values)
        np.testing.assert_allclose(B.to_scipy().toarray(), expected)
    B = A.copy()
    B.add_diagonal(2.0)
    np.testing.assert_allclose((B.to_scipy() - A.to_scipy()).toarray(), 2.0 * np.eye(291), atol=1e-14)
    with pytest.raises(InputError, match="do not fit"):
        A.add_diagonal(np.zeros(5))


def test_a_copy_has_values_of_its_own():
    A, *_ = make_random()
    B = A.copy()
    B.clear()
    assert np.all(A.data != 0.0)
    B.copy_values_from(A)
    assert np.array_equal(A.data, B.data)
    other, *_ = make_random(seed=5)
    with pytest.raises(InputError, match="patterns differ"):
        A.copy_values_from(other)


def test_scipy_gets_a_copy():
    A, *_ = make_random()
    exported = A.to_scipy()
    assert isinstance(exported, scipy.sparse.bsr_array)
    exported.data[:] = 0.0
    assert np.all(A.data != 0.0)
