"""Laws of `DirectSolver`: true residuals at rounding, saddle points solved, singular matrices refused."""

import sys
import types

import numpy as np
import pytest
import scipy.sparse

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.conjugate_gradients import solve_cg
from supple.algebra.sparse.direct import DirectSolver
from supple.errors import ConvergenceError, InputError, MissingExtraError


def make_truss(node_count=30, held=True):
    """A strip of nodes, each braced to the next three along fixed directions: stiff, and free unless held."""
    t = np.arange(node_count)
    X = np.stack([t, np.cos(2.1 * t), np.sin(2.1 * t)], axis=1)
    a = np.concatenate([t[:-k] for k in (1, 2, 3)])
    b = np.concatenate([t[k:] for k in (1, 2, 3)])
    d = X[b] - X[a]
    d /= np.linalg.norm(d, axis=1)[:, None]
    spring = 1e5 * d[:, :, None] * d[:, None, :]
    K = BlockSparse.from_pairs(node_count, np.concatenate([a, b]), np.concatenate([b, a]))
    for rows, cols, sign in ((a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)):
        np.add.at(K.data, K.locate(rows, cols), sign * spring)
    if held:
        K.data[K.diagonal[:3]] += 1e5 * np.eye(3)
    return K


def test_one_and_many_right_sides():
    K = make_truss()
    solver = DirectSolver(K, backend="superlu")
    b = np.random.default_rng(0).standard_normal((90, 4))
    many = solver.solve(b)
    one = solver.solve(b[:, 2])
    # round-off of a solution is a part of its largest number; BLAS may sum one and many right sides in another order
    np.testing.assert_allclose(one.x, many.x[:, 2], rtol=0, atol=1e-10 * np.abs(one.x).max())
    np.testing.assert_allclose(many.x, np.linalg.solve(K.to_scipy().toarray(), b), rtol=1e-8)
    assert many.residual.shape == (4,)
    # Refined, the backward error is rounding: |b - A x| <= eps |A| |x|.
    size = 1e-15 * np.linalg.norm(K.to_scipy().toarray()) * np.linalg.norm(many.x, axis=0)
    assert np.all(many.residual * np.linalg.norm(b, axis=0) <= 10 * size)
    miss = np.linalg.norm(b[:, 2] - K.to_scipy() @ one.x) / np.linalg.norm(b[:, 2])
    assert one.residual == pytest.approx(miss)


def test_it_agrees_with_conjugate_gradients():
    K = make_truss()
    b = np.random.default_rng(1).standard_normal(90)
    x = DirectSolver(K).solve(b).x
    by_cg = solve_cg(K, b, tolerance=1e-11).raise_if_failed().x
    np.testing.assert_allclose(x, by_cg, atol=1e-6 * np.abs(x).max())


def test_a_zero_right_side():
    report = DirectSolver(make_truss()).solve(np.zeros(90))
    assert np.all(report.x == 0.0)
    assert report.residual == 0.0


def test_it_is_an_exact_preconditioner():
    K = make_truss()
    report = solve_cg(K, np.ones(90), preconditioner=DirectSolver(K), tolerance=1e-8)
    assert report.is_converged
    assert report.iterations <= 2


def test_a_saddle_point_holds_a_free_body():
    """[K G^T; G 0] with six constraints on a free truss: symmetric, indefinite, zeros on its diagonal."""
    K = make_truss(held=False).to_scipy()
    G = scipy.sparse.eye_array(9, 90)
    saddle = scipy.sparse.block_array([[K, G.T], [G, None]]).tocsc()
    b = np.random.default_rng(2).standard_normal(99)
    b[90:] = 0.0
    report = DirectSolver(saddle).solve(b)
    assert report.residual < 1e-9
    assert np.abs(report.x[:9]).max() < 1e-12
    free = np.linalg.solve(K.toarray()[9:, 9:], b[9:90])
    np.testing.assert_allclose(report.x[9:90], free, rtol=1e-7)


def test_a_matrix_that_is_not_symmetric():
    A = scipy.sparse.random_array((200, 200), density=0.02, rng=np.random.default_rng(3)) + scipy.sparse.eye_array(200)
    b = np.arange(200.0)
    report = DirectSolver(A).solve(b)
    np.testing.assert_allclose(A @ report.x, b, atol=1e-9)


def test_an_indefinite_matrix_with_a_positive_diagonal():
    """Pivots kept on the diagonal of [1e-9 1; 1 1e-9] would lose all digits."""
    pair = np.array([[1e-9, 1.0], [1.0, 1e-9]])
    A = scipy.sparse.block_diag([pair] * 20)
    b = np.arange(40.0)
    report = DirectSolver(A).solve(b)
    assert report.residual < 1e-14


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e9])
def test_a_body_that_is_not_held_is_refused(scale):
    K = make_truss(held=False)
    K.data *= scale
    with pytest.raises(ConvergenceError, match="not held"):
        DirectSolver(K)


def test_scales_far_apart_are_not_singular():
    K = make_truss()
    spread = scipy.sparse.diags_array(np.logspace(-8, 8, 90))
    solver = DirectSolver(spread @ K.to_scipy() @ spread)
    assert solver.condition < 1e8


def test_redundant_constraints_are_refused():
    K = make_truss().to_scipy()
    G = scipy.sparse.csr_array(np.vstack([np.ones(90), np.ones(90)]))
    with pytest.raises(ConvergenceError, match="redundant"):
        DirectSolver(scipy.sparse.block_array([[K, G.T], [G, None]]))


def test_an_empty_column_is_refused():
    with pytest.raises(ConvergenceError, match="column 1 is zero"):
        DirectSolver(scipy.sparse.diags_array([1.0, 0.0, 2.0]))


def test_unusable_input_is_refused():
    solver = DirectSolver(make_truss())
    with pytest.raises(InputError, match="does not fit"):
        solver.solve(np.zeros(89))
    with pytest.raises(ConvergenceError, match="not finite"):
        solver.solve(np.full(90, np.nan))
    for matrix in (np.eye(3), scipy.sparse.csr_array((2, 3)), scipy.sparse.diags_array([1.0, np.nan])):
        with pytest.raises(InputError):
            DirectSolver(matrix)


def test_a_missing_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "sksparse", None)
    with pytest.raises(MissingExtraError, match=r"supple\[fast\]"):
        DirectSolver(make_truss(), backend="cholmod")
    assert DirectSolver(make_truss()).solve(np.ones(90)).residual < 1e-9


class _CholmodError(Exception):
    pass


def _dense_cholesky(A):
    try:
        L = np.linalg.cholesky(A.toarray())
    except np.linalg.LinAlgError as error:
        raise _CholmodError from error
    return lambda b: np.linalg.solve(L.T, np.linalg.solve(L, b))


@pytest.mark.parametrize("version", ["0.4", "0.5"])
def test_both_interfaces_of_cholmod_are_understood(monkeypatch, version):
    """A stand-in with the calls of scikit-sparse, which cannot be built everywhere."""
    if version == "0.4":
        calls = {"cholesky": _dense_cholesky}
    else:
        calls = {"cho_factor": lambda A, lower: types.SimpleNamespace(solve=_dense_cholesky(A))}
    cholmod = types.SimpleNamespace(CholmodError=_CholmodError, **calls)
    package = types.ModuleType("sksparse")
    package.cholmod = cholmod
    monkeypatch.setitem(sys.modules, "sksparse", package)
    monkeypatch.setitem(sys.modules, "sksparse.cholmod", cholmod)
    b = np.ones(90)
    expected = DirectSolver(make_truss(), backend="superlu").solve(b).x
    np.testing.assert_allclose(DirectSolver(make_truss(), backend="cholmod").solve(b).x, expected, rtol=1e-8)
    indefinite = scipy.sparse.csc_array([[1.0, 2.0], [2.0, 1.0]])
    np.testing.assert_allclose(DirectSolver(indefinite).solve(np.ones(2)).x, [1 / 3, 1 / 3])
    with pytest.raises(ConvergenceError, match="Cholesky"):
        DirectSolver(indefinite, backend="cholmod")
