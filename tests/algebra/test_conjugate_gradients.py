"""Laws of `solve_cg`: it agrees with elimination, its residual is the true one, failures are reported."""

import numba
import numpy as np
import pytest

from supple.algebra.sparse import block_sparse
from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.cg_report import CgOutcome
from supple.algebra.sparse.conjugate_gradients import CgWorkspace, solve_cg
from supple.algebra.sparse.preconditioners import BlockJacobi, IncompleteCholesky, Jacobi
from supple.errors import ConvergenceError, InputError

NAMES = ("block_jacobi", "jacobi", "none", "incomplete_cholesky")


def make_springs(sizes=(7, 4, 4), ground=1e-2, seed=1):
    """A grid of nodes, each tied to its neighbours by springs of random direction and strength: definite."""
    rng = np.random.default_rng(seed)
    index = np.arange(np.prod(sizes)).reshape(sizes)
    pairs = []
    for step in [(1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 1, 0), (0, 1, 1), (1, 0, 1), (1, 1, 1)]:
        first = index[tuple(slice(None, n - s) for n, s in zip(sizes, step))]
        second = index[tuple(slice(s, None) for s in step)]
        pairs.append(np.stack([first.ravel(), second.ravel()]))
    a, b = np.concatenate(pairs, axis=1)
    A = BlockSparse.from_pairs(index.size, np.concatenate([a, b]), np.concatenate([b, a]))
    direction = rng.standard_normal((a.size, 3))
    spring = direction[:, :, None] * direction[:, None, :]
    for rows, cols, sign in ((a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)):
        np.add.at(A.data, A.locate(rows, cols), sign * spring)
    A.add_diagonal(ground)
    return A


def make_diagonal(values):
    A = BlockSparse.from_pairs(len(values) // 3, [], [])
    A.add_diagonal(np.asarray(values, dtype=float))
    return A


def make_turned(eigenvalues, seed=0):
    """A dense symmetric matrix with these eigenvalues, in blocks."""
    n = len(eigenvalues)
    Q, _ = np.linalg.qr(np.random.default_rng(seed).standard_normal((n, n)))
    dense = (Q * np.asarray(eigenvalues)) @ Q.T
    dense = 0.5 * (dense + dense.T)
    rows, cols = np.divmod(np.arange((n // 3) ** 2), n // 3)
    A = BlockSparse.from_pairs(n // 3, rows, cols)
    A.data[A.locate(rows, cols)] = dense.reshape(n // 3, 3, n // 3, 3).transpose(0, 2, 1, 3).reshape(-1, 3, 3)
    return A, dense


def true_residual(A, x, b):
    return np.linalg.norm(b - A.to_scipy() @ x) / np.linalg.norm(b)


@pytest.fixture(scope="module")
def springs():
    A = make_springs()
    b = np.random.default_rng(2).standard_normal(A.shape[0])
    return A, b, np.linalg.solve(A.to_scipy().toarray(), b)


@pytest.mark.parametrize("name", NAMES)
def test_every_preconditioner_finds_the_solution_of_elimination(springs, name):
    A, b, expected = springs
    x = np.full(b.size, np.nan)
    report = solve_cg(A, b, x, preconditioner=name, tolerance=1e-11)
    assert report.outcome is CgOutcome.CONVERGED
    assert report.x is x or np.shares_memory(report.x, x)
    assert report.residual == pytest.approx(true_residual(A, x, b), rel=1e-3)
    # Forward error is at most the condition number, some 3e3 here, times the residual.
    np.testing.assert_allclose(x, expected, atol=1e-7 * np.abs(expected).max())


def test_better_preconditioners_need_fewer_iterations(springs):
    A, b, _ = springs
    counts = [
        solve_cg(A, b, preconditioner=name, tolerance=1e-8).iterations
        for name in ("incomplete_cholesky", "block_jacobi", "none")
    ]
    assert counts[0] < counts[1] < counts[2]


def test_preconditioner_objects_work_in_both_loops(springs):
    A, b, expected = springs
    for M in (Jacobi(), BlockJacobi(), IncompleteCholesky()):
        M.update(A)
        compiled = solve_cg(A, b, preconditioner=M, tolerance=1e-10)
        general = solve_cg(A.to_scipy(), b, preconditioner=M, tolerance=1e-10)
        assert compiled.is_converged
        assert general.is_converged
        assert abs(compiled.iterations - general.iterations) <= 2
        np.testing.assert_allclose(general.x, expected, atol=1e-6 * np.abs(expected).max())


def test_preconditioners_are_inverses_where_they_are_exact():
    rng = np.random.default_rng(3)
    blocks = rng.standard_normal((5, 3, 3))
    A = BlockSparse.from_pairs(5, [], [])
    A.add_diagonal(blocks @ blocks.transpose(0, 2, 1) + 0.1 * np.eye(3))
    r = rng.standard_normal(15)
    for M in (BlockJacobi(), IncompleteCholesky()):
        M.update(A)
        z = np.full(15, np.nan)
        M.apply(r, z)
        np.testing.assert_allclose(A.to_scipy() @ z, r, atol=1e-11)
    # A chain has no fill, so its incomplete factorisation is complete.
    chain = BlockSparse.from_pairs(6, [0, 1, 2, 3, 4, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0, 1, 2, 3, 4])
    chain.add_diagonal(2.5)
    chain.data[chain.locate([0, 1, 2, 3, 4, 1, 2, 3, 4, 5], [1, 2, 3, 4, 5, 0, 1, 2, 3, 4])] = -np.eye(3)
    M = IncompleteCholesky()
    M.update(chain)
    assert M.shift == 0.0
    z = np.full(18, np.nan)
    M.apply(np.arange(18.0), z)
    np.testing.assert_allclose(chain.to_scipy() @ z, np.arange(18.0), atol=1e-12)


def test_incomplete_cholesky_shifts_its_diagonal_when_a_pivot_fails():
    # Kershaw's matrix: positive definite, and its zero-fill factorisation has a negative pivot [Ker78].
    kershaw = np.array([[3.0, -2, 0, 2], [-2, 3, -2, 0], [0, -2, 3, -2], [2, 0, -2, 3]])
    assert np.linalg.eigvalsh(kershaw).min() > 0.0
    rows, cols = np.nonzero(kershaw)
    A = BlockSparse.from_pairs(4, rows, cols)
    A.data[A.locate(rows, cols)] = kershaw[rows, cols][:, None, None] * np.eye(3)
    M = IncompleteCholesky()
    M.update(A)
    assert M.shift > 0.0
    assert solve_cg(A, np.arange(12.0), preconditioner=M).is_converged


@pytest.mark.parametrize("name", ["block_jacobi", "incomplete_cholesky"])
def test_threads_do_not_change_a_bit(monkeypatch, name):
    if numba.config.NUMBA_NUM_THREADS < 2:
        pytest.skip("one core only")
    monkeypatch.setattr(block_sparse, "PARALLEL_BLOCK_COUNT", 0)
    A = make_springs((12, 8, 8))
    b = np.random.default_rng(4).standard_normal(A.shape[0])
    before = numba.get_num_threads()
    reports = []
    for threads in (1, 2):
        numba.set_num_threads(threads)
        assert A.is_parallel == (threads == 2)
        reports.append(solve_cg(A, b, preconditioner=name, tolerance=1e-9, keep_history=True))
    numba.set_num_threads(before)
    assert reports[0].is_converged
    assert reports[0].iterations == reports[1].iterations
    assert np.array_equal(reports[0].x, reports[1].x)
    assert np.array_equal(reports[0].residual_history, reports[1].residual_history)


@pytest.mark.parametrize("name", NAMES)
def test_filtered_solve_is_elimination_of_the_fixed(springs, name):
    A, b, _ = springs
    rng = np.random.default_rng(5)
    fixed = rng.random(b.size) < 0.3
    free = ~fixed
    expected = np.zeros(b.size)
    expected[free] = np.linalg.solve(A.to_scipy().toarray()[np.ix_(free, free)], b[free])
    x = np.full(b.size, np.nan)
    start = rng.standard_normal(b.size)
    report = solve_cg(A, b, x, x0=start, preconditioner=name, fixed=fixed, tolerance=1e-11)
    assert report.is_converged
    assert np.all(x[fixed] == 0.0)
    np.testing.assert_allclose(x, expected, atol=1e-7 * np.abs(expected).max())
    miss = (b - A.to_scipy() @ x)[free]
    assert report.residual == pytest.approx(np.linalg.norm(miss) / np.linalg.norm(b[free]), rel=1e-2)


def test_a_mask_and_its_projector_agree(springs):
    A, b, _ = springs
    fixed = np.zeros(b.size, dtype=np.uint8)
    fixed[:12] = 1

    def project(vector):
        vector[:12] = 0.0

    by_mask = solve_cg(A, b, fixed=fixed, tolerance=1e-11)
    by_function = solve_cg(A, b, fixed=project, tolerance=1e-11)
    assert by_mask.is_converged
    assert by_function.is_converged
    np.testing.assert_allclose(by_mask.x, by_function.x, atol=1e-8 * np.abs(by_mask.x).max())


def test_a_projector_may_be_oblique_to_the_axes(springs):
    """A node that slides in a plane: I - n n^T, against elimination in a basis of the free motions."""
    A, b, _ = springs
    normal = np.array([1.0, 2.0, 2.0]) / 3.0

    def project(vector):
        vector[:3] -= (vector[:3] @ normal) * normal

    basis = np.eye(b.size)[:, 1:]
    basis[:3, :2] = np.linalg.svd(normal[None, :])[2][1:].T
    reduced = np.linalg.solve(basis.T @ A.to_scipy().toarray() @ basis, basis.T @ b)
    report = solve_cg(A, b, fixed=project, tolerance=1e-11)
    assert report.is_converged
    np.testing.assert_allclose(report.x, basis @ reduced, atol=1e-7 * np.abs(reduced).max())


def test_a_good_start_saves_iterations(springs):
    A, b, expected = springs
    cold = solve_cg(A, b, tolerance=1e-8)
    x = expected * (1.0 + 1e-6)
    warm = solve_cg(A, b, x, x0=x, tolerance=1e-8)
    assert warm.is_converged
    assert warm.iterations < cold.iterations / 2
    assert solve_cg(A, b, x0=expected, tolerance=1e-8).iterations == 0


def test_no_right_side_gives_no_motion(springs):
    A, b, _ = springs
    for operator in (A, A.to_scipy()):
        x = np.full(b.size, np.nan)
        report = solve_cg(operator, np.zeros(b.size), x, x0=np.ones(b.size))
        assert (report.outcome, report.iterations, report.residual) == (CgOutcome.CONVERGED, 0, 0.0)
        assert np.all(x == 0.0)


def test_rows_of_three_and_read_only_sides_are_welcome(springs):
    A, b, expected = springs
    side = b.reshape(-1, 3).copy()
    side.flags.writeable = False
    x = np.full(side.shape, np.nan)
    assert solve_cg(A, side, x, tolerance=1e-11).is_converged
    np.testing.assert_allclose(x.ravel(), expected, atol=1e-7 * np.abs(expected).max())


def test_an_exact_number_of_iterations(springs):
    A, b, _ = springs
    for operator in (A, A.to_scipy()):
        report = solve_cg(operator, b, tolerance=0, max_iterations=25, keep_history=True)
        assert (report.outcome, report.iterations) == (CgOutcome.ITERATIONS_DONE, 25)
        assert report.residual == pytest.approx(true_residual(A, report.x, b), rel=1e-6)
        assert report.residual_history.shape == (26,)
        assert report.residual_history[0] == pytest.approx(1.0)
        report.raise_if_failed()
    with pytest.raises(InputError, match="exact number"):
        solve_cg(A, b, tolerance=0)


def test_it_ends_in_as_many_iterations_as_there_are_eigenvalues():
    A = make_diagonal(np.repeat([1.0, 2.0, 5.0, 9.0], 3))
    report = solve_cg(A, np.arange(1.0, 13.0), preconditioner="none", tolerance=1e-12)
    assert report.is_converged
    assert report.iterations == 4


def test_all_operators_run_the_same_algorithm(springs):
    A, b, _ = springs
    matrix = A.to_scipy()
    reports = [
        solve_cg(operator, b, preconditioner="none", tolerance=0, max_iterations=20)
        for operator in (A, matrix, lambda x: matrix @ x)
    ]
    for report in reports[1:]:
        # Rounding grows with the iterations; twenty are far from losing all digits.
        np.testing.assert_allclose(report.x, reports[0].x, atol=1e-9 * np.abs(report.x).max())


def plain_cg(A, b, x0, tolerance, limit):
    """The textbook loop that trusts its own residual."""
    x, r = x0.copy(), b - A @ x0
    p = r.copy()
    for _ in range(limit):
        q = A @ p
        alpha = (r @ r) / (p @ q)
        x += alpha * p
        next_r = r - alpha * q
        p = next_r + (next_r @ next_r) / (r @ r) * p
        r = next_r
        if np.linalg.norm(r) <= tolerance * np.linalg.norm(b):
            break
    return x, np.linalg.norm(r) / np.linalg.norm(b)


def test_the_textbook_residual_lies_and_ours_does_not(springs):
    """From a start 1e9 times too far away the first residual is wrong by 1e-16 * 1e9, and stays so."""
    A, b, expected = springs
    matrix, tolerance = A.to_scipy(), 1e-9
    far = 1e9 * np.random.default_rng(6).standard_normal(b.size)
    x, claimed = plain_cg(matrix, b, far, tolerance, 5000)
    assert claimed <= tolerance
    assert true_residual(A, x, b) > 100 * tolerance
    for operator in (A, matrix):
        report = solve_cg(operator, b, x0=far, preconditioner="none", tolerance=tolerance)
        assert report.is_converged
        assert true_residual(A, report.x, b) <= 1.001 * tolerance
        assert report.residual == pytest.approx(true_residual(A, report.x, b), rel=1e-3)
        np.testing.assert_allclose(report.x, expected, atol=1e-5 * np.abs(expected).max())


def make_impossible_system():
    """Condition 1e10 and b near the weakest direction: |A| |x| is 1e10 |b|, so rounding is 1e-6 |b|."""
    A, dense = make_turned(np.logspace(0, 10, 12))
    weakest = np.linalg.eigh(dense)[1][:, 0]
    return A, dense, weakest + 1e-3


def test_a_tolerance_beyond_rounding_is_reported_as_stagnation():
    A, dense, b = make_impossible_system()
    for operator in (A, dense):
        report = solve_cg(operator, b, preconditioner="none", tolerance=1e-14, max_iterations=100_000)
        assert report.outcome is CgOutcome.STAGNATED
        assert report.residual > 1e-14
        with pytest.raises(ConvergenceError, match="DirectSolver"):
            report.raise_if_failed()


def test_the_iteration_limit_is_reported(springs):
    A, b, _ = springs
    for operator in (A, A.to_scipy()):
        report = solve_cg(operator, b, tolerance=1e-10, max_iterations=3)
        assert (report.outcome, report.iterations) == (CgOutcome.ITERATION_LIMIT, 3)
        assert report.residual == pytest.approx(true_residual(A, report.x, b), rel=1e-6)
        with pytest.raises(ConvergenceError, match="max_iterations"):
            report.raise_if_failed()


@pytest.mark.parametrize("name", NAMES)
def test_an_indefinite_matrix_is_reported(name):
    A, dense = make_turned(np.concatenate([np.linspace(1.0, 3.0, 11), [-1.0]]))
    b = np.ones(12)
    report = solve_cg(A, b, preconditioner=name)
    assert report.outcome is CgOutcome.NEGATIVE_CURVATURE
    assert np.all(np.isfinite(report.x))
    # The iterate kept has the lowest energy seen.
    assert 0.5 * report.x @ dense @ report.x - b @ report.x <= 0.0
    assert solve_cg(dense, b).outcome is CgOutcome.NEGATIVE_CURVATURE
    with pytest.raises(ConvergenceError, match="not positive definite"):
        report.raise_if_failed()


def test_incomplete_cholesky_refuses_a_negative_diagonal():
    with pytest.raises(ConvergenceError, match="block row 1"):
        IncompleteCholesky().update(make_diagonal([1, 1, 1, 1, -1, 1]))


def test_a_preconditioner_that_is_not_positive_is_reported(springs):
    A, b, _ = springs

    class Negative:
        def apply(self, r, z_out):
            z_out[:] = -r

    assert solve_cg(A, b, preconditioner=Negative()).outcome is CgOutcome.PRECONDITIONER_BREAKDOWN


def test_numbers_that_are_not_finite_are_reported(springs):
    A, b, _ = springs
    bad_side = b.copy()
    bad_side[7] = np.nan
    bad_matrix = A.copy()
    bad_matrix.data[5, 1, 1] = np.inf
    for matrix, side in ((A, bad_side), (bad_matrix, b)):
        for operator in (matrix, matrix.to_scipy()):
            report = solve_cg(operator, side)
            assert report.outcome is CgOutcome.NOT_FINITE
            with pytest.raises(ConvergenceError, match="NaN"):
                report.raise_if_failed()


def test_a_workspace_follows_new_values(springs):
    A, b, expected = springs
    workspace = CgWorkspace(A.block_row_count)
    B = A.copy()
    for factor in (1.0, 4.0):
        B.data[:] = factor * A.data
        for name in NAMES:
            report = solve_cg(B, b, preconditioner=name, tolerance=1e-11, workspace=workspace)
            np.testing.assert_allclose(report.x, expected / factor, atol=1e-7 * np.abs(expected).max())
    with pytest.raises(InputError, match="workspace"):
        solve_cg(A, b, workspace=CgWorkspace(3))


def test_unusable_requests_are_refused(springs):
    A, b, _ = springs
    requests = [
        {"preconditioner": "magic"},
        {"tolerance": -1.0},
        {"tolerance": np.nan},
        {"max_iterations": -1},
        {"fixed": np.zeros(3, dtype=bool)},
        {"x0": np.zeros(3)},
        {"x_out": b},
        {"x_out": np.zeros(3)},
        {"preconditioner": BlockJacobi()},
    ]
    for request in requests:
        with pytest.raises(InputError):
            solve_cg(A, b, **request)
    with pytest.raises(InputError, match="needs a matrix"):
        solve_cg(lambda x: x, b, preconditioner="jacobi")
    with pytest.raises(InputError, match="not a linear operator"):
        solve_cg(3.0, b)
