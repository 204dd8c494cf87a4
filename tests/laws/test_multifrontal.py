"""Dense fronts against SuperLU and dense algebra, on meshes, graphs in pieces, and matrices without a factor."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg

from supple.algebra.direct import DirectSolver
from supple.algebra.eigenpairs import smallest_eigenpairs
from supple.algebra.multifrontal import MultifrontalCholesky
from supple.algebra.nested_dissection import LEAF, nested_dissection
from supple.algebra.sparse_factor import MANY_UNKNOWNS


def grid(*sizes: int) -> sparse.csc_array:
    """A Laplacian of a grid, made definite."""
    A = sparse.csr_array((1, 1))
    for n in sizes:
        line = sparse.diags_array([2.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(n, n))
        A = sparse.csr_array(sparse.kronsum(line, A))
    return sparse.csc_array(A + 0.01 * sparse.eye_array(A.shape[0]))


def check_dissection(A: sparse.csc_array) -> None:
    found = nested_dissection(A.indptr, A.indices)
    n, parts = A.shape[0], len(found.parent)
    assert np.array_equal(np.sort(found.order), np.arange(n))
    assert found.start[0] == 0
    assert found.start[-1] == n
    assert (np.diff(found.start) > 0).all()
    assert ((found.parent > np.arange(parts)) | (found.parent == -1)).all()
    # a part touches itself, its separators and what it separates: nothing beside it
    part = np.repeat(np.arange(parts), np.diff(found.start))
    above = [{k} for k in range(parts)]
    for k in range(parts - 1, -1, -1):
        if found.parent[k] >= 0:
            above[k] |= above[found.parent[k]]
    place = np.empty(n, dtype=int)
    place[found.order] = np.arange(n)
    rows, columns = A.nonzero()
    low, high = np.sort([part[place[rows]], part[place[columns]]], axis=0)
    assert all(b in above[a] for a, b in set(zip(low.tolist(), high.tolist())))


def test_parts_are_separated() -> None:
    check_dissection(grid(13, 11, 9))
    check_dissection(grid(LEAF * 9))
    check_dissection(sparse.csc_array(sparse.block_diag([grid(15, 15, 2), grid(5), grid(30, 20)])))
    check_dissection(sparse.csc_array(np.ones((LEAF + 40, LEAF + 40))))  # nothing to cut
    check_dissection(sparse.csc_array(sparse.eye_array(300)))


@pytest.mark.parametrize("sizes", [(12, 13, 14), (60, 50), (1200,), (3,)])
def test_solutions_are_those_of_superlu(sizes: tuple[int, ...]) -> None:
    A = grid(*sizes)
    b = np.random.default_rng(0).normal(size=(A.shape[0], 4))
    factor, expected = MultifrontalCholesky(A), scipy.sparse.linalg.spsolve(A, b)
    before = b.copy()
    np.testing.assert_allclose(factor.solve(b), expected, atol=1e-12 * np.abs(expected).max())
    np.testing.assert_allclose(factor.solve(b[:, 1]), expected[:, 1], atol=1e-12 * np.abs(expected).max())
    assert np.array_equal(b, before)
    assert np.array_equal(MultifrontalCholesky(A).solve(b), factor.solve(b))


def test_fronts_fill_less_than_a_band() -> None:
    A = grid(15, 15, 15)
    assert MultifrontalCholesky(A).size < 15**5


def test_an_indefinite_matrix_has_no_factor_and_is_solved_all_the_same() -> None:
    A = sparse.csc_array(grid(16, 16, 16) - 1.0 * sparse.eye_array(4096))
    assert A.shape[0] >= MANY_UNKNOWNS
    assert A.diagonal().min() > 0
    with pytest.raises(np.linalg.LinAlgError):
        MultifrontalCholesky(A)
    b = np.ones(A.shape[0])
    assert DirectSolver(A).solve(b).residual < 1e-9


def test_modes_of_a_large_grid_are_exact() -> None:
    A = grid(16, 15, 14)
    pairs = smallest_eigenpairs(A, np.ones(A.shape[0]), 4)
    lines = [4 * np.sin(np.arange(1, n + 1) * np.pi / (2 * n + 2)) ** 2 for n in (16, 15, 14)]
    exact = np.sort(np.add.outer(np.add.outer(lines[0], lines[1]), lines[2]).ravel())[:4] + 0.01
    np.testing.assert_allclose(pairs.values, exact, rtol=1e-10)
