"""The sparse Cholesky factor against SuperLU and dense algebra: meshes, graphs in pieces, matrices without a factor."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sparse
import scipy.sparse.linalg

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cholesky import sparse_cholesky, sparse_factor
from supple.algebra.sparse.cholesky.cut_refinement import CUT, refine_cut
from supple.algebra.sparse.cholesky.nested_dissection import nested_dissection
from supple.algebra.sparse.cholesky.sparse_cholesky import WIDE, SparseCholesky, find_pieces
from supple.algebra.sparse.cholesky.sparse_factor import MANY_UNKNOWNS
from supple.algebra.sparse.cholesky.supernodes import MANY_ZEROS, find_supernodes
from supple.algebra.sparse.direct import DirectSolver
from supple.algebra.sparse.eigenpairs import smallest_eigenpairs

Array = np.ndarray


def grid(*sizes: int) -> sparse.csc_array:
    """A Laplacian of a grid, made definite."""
    A = sparse.csr_array((1, 1))
    for n in sizes:
        line = sparse.diags_array([2.0, -1.0, -1.0], offsets=[0, 1, -1], shape=(n, n))
        A = sparse.csr_array(sparse.kronsum(line, A))
    return sparse.csc_array(A + 0.01 * sparse.eye_array(A.shape[0]))


def random_blocks(n: int = 60, pairs: int = 150, seed: int = 0) -> BlockSparse:
    """Symmetric positive definite on a random pattern, in several pieces."""
    rng = np.random.default_rng(seed)
    i, j = rng.integers(0, n, size=(2, pairs))
    apart = i != j
    i, j = i[apart], j[apart]
    A = BlockSparse.from_pairs(n, np.r_[i, j], np.r_[j, i])
    for a, b in zip(i, j):
        S = rng.normal(size=(3, 3))
        at, back = A.locate([a, b], [b, a])
        A.data[at] = S
        A.data[back] = S.T
    A.add_diagonal(1.0 + np.abs(A.to_scipy().toarray()).sum(axis=1))
    return A


PATTERNS = {
    "cube": grid(13, 11, 9),
    "line": grid(500),
    "pieces": sparse.csc_array(sparse.block_diag([grid(15, 15, 2), grid(5), grid(30, 20)])),
    "full": sparse.csc_array(np.ones((70, 70)) + 70 * np.eye(70)),
    "diagonal": sparse.csc_array(sparse.eye_array(300)),
    "one": sparse.csc_array([[2.0]]),
    "star": sparse.csc_array(sparse.diags_array(np.r_[200.0, np.ones(99)]) + np.eye(100)[:, :1] @ np.ones((1, 100))),
}
PATTERNS["star"] = sparse.csc_array(PATTERNS["star"] + PATTERNS["star"].T)


def filled(A: Array) -> Array:
    """Pattern of L by elimination, entry by entry, without cancellation."""
    L = A != 0
    for j in range(len(L)):
        below = np.flatnonzero(L[j + 1 :, j]) + j + 1
        L[np.ix_(below, below)] = True
    return np.tril(L)


@pytest.mark.parametrize("name", [name for name in PATTERNS if name not in ("cube", "pieces")])
def test_supernodes_hold_the_fill_of_an_elimination(name: str) -> None:
    check_supernodes(PATTERNS[name])


def test_supernodes_of_a_grid_hold_its_fill() -> None:
    check_supernodes(grid(7, 6, 5))
    check_supernodes(sparse.csc_array(sparse.block_diag([grid(6, 6, 2), grid(5), grid(8, 9)])))


def check_supernodes(A: sparse.csc_array) -> None:
    n = A.shape[0]
    found = find_supernodes(A.indptr, A.indices)
    assert np.array_equal(np.sort(found.order), np.arange(n))
    assert found.first[0] == 0
    assert found.first[-1] == n
    assert (np.diff(found.first) > 0).all()
    needed, held = filled(A.toarray()[np.ix_(found.order, found.order)]), np.zeros((n, n), dtype=bool)
    for s, parent in enumerate(found.parent):
        a, b = found.first[s], found.first[s + 1]
        rows = found.rows[found.row_start[s] : found.row_start[s + 1]]
        assert (np.diff(rows) > 0).all()
        assert (rows >= b).all()
        assert parent == (-1 if len(rows) == 0 else np.searchsorted(found.first, rows[0], side="right") - 1)
        held[a:b, a:b] = np.tril(np.ones((b - a, b - a), dtype=bool))
        held[np.ix_(rows, np.arange(a, b))] = True
    assert (held >= needed).all()
    width, height = np.diff(found.first), np.diff(found.row_start)
    assert held.sum() - needed.sum() <= MANY_ZEROS * (width * (width + height)).sum()


def test_a_cut_gets_smaller_and_still_cuts() -> None:
    A = grid(12, 12)
    n, number = A.shape[0], 0
    starts, neighbours = A.indptr.astype(np.int64), A.indices.astype(np.int64)
    i, j = np.divmod(np.arange(n), 12)
    jagged = 5 + 2 * (i % 2)
    side = np.where(j < jagged, 0, np.where(j <= jagged + 2, CUT, 1))
    before = int((side == CUT).sum())
    workspace = np.empty((n, 2), dtype=np.int64), np.empty(n, dtype=bool), np.empty(n, dtype=np.int64)
    refine_cut(
        starts,
        neighbours,
        np.zeros(n, dtype=np.int64),
        number,
        np.arange(n),
        side,
        *workspace,
        np.empty((4 * n, 2), np.int64),
    )
    rows, columns = A.nonzero()
    assert not ((side[rows] == 0) & (side[columns] == 1)).any()
    assert (side == CUT).sum() == 12 < before  # the smallest there is with a quarter on either side
    assert min((side == 0).sum(), (side == 1).sum()) >= n / 4


@pytest.mark.parametrize("name", PATTERNS)
def test_every_vertex_is_ordered_once(name: str) -> None:
    A = PATTERNS[name]
    assert np.array_equal(np.sort(nested_dissection(A.indptr, A.indices)), np.arange(A.shape[0]))


@pytest.mark.parametrize("name", PATTERNS)
def test_solutions_are_those_of_superlu(name: str) -> None:
    A = PATTERNS[name]
    b = np.random.default_rng(0).normal(size=(A.shape[0], 4))
    factor, expected = SparseCholesky(A), scipy.sparse.linalg.splu(A).solve(b)
    before, size = b.copy(), np.abs(expected).max()
    np.testing.assert_allclose(factor.solve(b), expected, atol=1e-12 * size)
    np.testing.assert_allclose(factor.solve(b[:, 1]), expected[:, 1], atol=1e-12 * size)
    assert np.array_equal(b, before)
    assert np.array_equal(SparseCholesky(A).solve(b), factor.solve(b))
    out = np.full(A.shape[0], np.nan)
    assert factor.solve(b[:, 1], out) is out
    assert np.array_equal(out, factor.solve(b[:, 1]))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*PATTERNS, "wide"])
def test_all_fronts_in_one_call_are_those_one_by_one(name: str, dtype: type, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same panels; a matrix that is not definite has none either way."""
    A = (
        PATTERNS[name]
        if name != "wide"
        else sparse.csc_array(np.ones((2 * WIDE + 7,) * 2) + 300 * np.eye(2 * WIDE + 7))
    )
    at_once = SparseCholesky(A, dtype=dtype)
    monkeypatch.setattr(sparse_cholesky, "LARGE", 0.0)
    one_by_one = SparseCholesky(A, dtype=dtype)
    np.testing.assert_allclose(
        at_once._values, one_by_one._values, atol=(1e-13 if dtype is np.float64 else 1e-6) * np.abs(A.data).max()
    )
    for large in (0.0, np.inf):
        monkeypatch.setattr(sparse_cholesky, "LARGE", large)
        with pytest.raises(np.linalg.LinAlgError):
            SparseCholesky(sparse.csc_array(A - 1000.0 * sparse.eye_array(A.shape[0])))


@pytest.mark.parametrize("seed", range(3))
def test_blocks_in_both_precisions(seed: int) -> None:
    A, b = random_blocks(seed=seed).to_scipy(), np.random.default_rng(9).normal(size=(180, 2))
    exact = np.linalg.solve(A.toarray(), b)
    assert np.allclose(SparseCholesky(A).solve(b), exact, rtol=0, atol=1e-13)
    single = SparseCholesky(A, dtype=np.float32)
    assert np.allclose(single.solve(b), exact, rtol=0, atol=1e-5)
    assert np.allclose(single.solve(b[:, 0]), exact[:, 0], rtol=0, atol=1e-5)


def test_a_large_supernode_is_cut_into_panels() -> None:
    n = 5 * WIDE
    B = np.random.default_rng(1).normal(size=(n, n))
    dense = B @ B.T + n * np.eye(n)
    factor = SparseCholesky(sparse.csc_array(dense))
    assert np.allclose(factor.solve(np.ones(n)), np.linalg.solve(dense, np.ones(n)), atol=1e-14)
    assert factor.size < 0.65 * n * n  # the triangle, and half a square for each panel


def test_fill_is_below_that_of_a_band() -> None:
    assert SparseCholesky(grid(15, 15, 15)).size < 0.4 * 15**5


def test_nodes_of_three_unknowns_are_found_and_their_order_is_theirs() -> None:
    A = sparse.csr_array(sparse.kron(grid(6, 6, 6), np.eye(3) + 0.1))
    assert (np.diff(find_pieces(A).order.reshape(-1, 3), axis=1) == 1).all()


def test_entries_on_one_side_of_the_diagonal_only_are_rounding() -> None:
    A = sparse.lil_array(grid(9, 9, 9))
    for i, j in np.random.default_rng(2).integers(0, 729, size=(400, 2)):
        if A[i, j] == 0.0:
            A[i, j] = 1e-17
    A = sparse.csc_array(A)
    assert DirectSolver(A).solve(np.ones(729)).residual < 1e-12
    np.testing.assert_allclose(A @ SparseCholesky(A).solve(np.ones(729)), 1.0, atol=1e-12)


def test_an_indefinite_matrix_has_no_factor_and_is_solved_all_the_same() -> None:
    A = sparse.csc_array(grid(12, 12, 12) - 1.0 * sparse.eye_array(12**3))
    assert A.shape[0] >= MANY_UNKNOWNS
    assert A.diagonal().min() > 0
    with pytest.raises(np.linalg.LinAlgError):
        SparseCholesky(A)
    b = np.ones(A.shape[0])
    assert DirectSolver(A).solve(b).residual < 1e-9
    assert DirectSolver(A, precision="single").solve(b).residual < 1e-9  # not of single precision then


def test_a_direct_solver_takes_it_and_its_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    A, made = grid(12, 12, 12), []

    class Spied(SparseCholesky):
        def __init__(self, A: object, **options: object) -> None:
            super().__init__(A, **options)  # type: ignore[arg-type]
            made.append(self)

    monkeypatch.setattr(sparse_factor, "SparseCholesky", Spied)
    b = np.random.default_rng(3).normal(size=A.shape[0])
    double, single = DirectSolver(A, backend="auto"), DirectSolver(A, precision="single")
    assert single._solve == made[-1].solve
    exact = scipy.sparse.linalg.spsolve(A, b)
    out = np.empty_like(b)
    miss = np.abs(single.solve_once(b, out) - exact).max() / np.abs(exact).max()
    assert 1e-9 < miss < 1e-4  # condition 1e3
    assert np.abs(double.solve_once(b, out) - exact).max() < 1e-11 * np.abs(exact).max()
    assert np.abs(single.solve(b).x - exact).max() < 1e-8 * np.abs(exact).max()  # refined


def test_modes_of_a_large_grid_are_exact() -> None:
    A = grid(16, 15, 14)
    pairs = smallest_eigenpairs(A, np.ones(A.shape[0]), 4)
    lines = [4 * np.sin(np.arange(1, n + 1) * np.pi / (2 * n + 2)) ** 2 for n in (16, 15, 14)]
    exact = np.sort(np.add.outer(np.add.outer(lines[0], lines[1]), lines[2]).ravel())[:4] + 0.01
    np.testing.assert_allclose(pairs.values, exact, rtol=1e-10)
