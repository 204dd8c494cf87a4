"""Laws of `smallest_eigenpairs`: closed-form chains, orthonormal modes, free bodies, repeatable bits."""

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.eigenpairs import smallest_eigenpairs
from supple.errors import ConvergenceError, InputError

STIFFNESS, MASS = 250.0, 0.02


def make_chain(n, *, free=False):
    """Equal masses joined by equal springs, walls at both ends or none."""
    main = np.full(n, 2.0)
    if free:
        main[[0, -1]] = 1.0
    off = np.full(n - 1, -1.0)
    return STIFFNESS * scipy.sparse.diags_array([main, off, off], offsets=[0, 1, -1]).tocsc()


def chain_values(n, count, *, free=False):
    """lambda_j = 4 (k / m) sin^2(theta_j / 2), theta_j = j pi / (n + 1), or (j - 1) pi / n when free."""
    j = np.arange(1, count + 1)
    theta = (j - 1) * np.pi / n if free else j * np.pi / (n + 1)
    return 4.0 * STIFFNESS / MASS * np.sin(theta / 2.0) ** 2


@pytest.mark.parametrize("n", [40, 400])
@pytest.mark.parametrize("free", [False, True])
def test_a_chain_of_springs(n, free):
    pairs = smallest_eigenpairs(make_chain(n, free=free), np.full(n, MASS), 8)
    expected = chain_values(n, 8, free=free)
    # Rounding in K is eps times its largest eigenvalue, 4 k / m.
    np.testing.assert_allclose(pairs.values, expected, rtol=1e-9, atol=1e-14 * 4 * STIFFNESS / MASS)
    assert np.all(np.diff(pairs.values) > 0.0)
    assert pairs.residuals.shape == (8,)
    assert np.all(pairs.residuals < 1e-12)


def test_modes_of_a_held_chain_are_sines():
    n = 300
    pairs = smallest_eigenpairs(make_chain(n), np.full(n, MASS), 5, sigma=0.0)
    for j, vector in enumerate(pairs.vectors.T, start=1):
        sine = np.sin(j * np.pi * np.arange(1, n + 1) / (n + 1))
        sine *= np.sqrt(2.0 / ((n + 1) * MASS))
        np.testing.assert_allclose(np.abs(vector), np.abs(sine), atol=1e-7 * np.abs(sine).max())


def test_modes_are_orthonormal_in_a_consistent_mass():
    n = 200
    off = np.full(n - 1, MASS / 6.0)
    M = scipy.sparse.diags_array([np.full(n, 4.0 * MASS / 6.0), off, off], offsets=[0, 1, -1])
    pairs = smallest_eigenpairs(make_chain(n), M, 12)
    np.testing.assert_allclose(pairs.vectors.T @ (M @ pairs.vectors), np.eye(12), atol=1e-11)
    expected = scipy.linalg.eigh(make_chain(n).toarray(), M.toarray(), eigvals_only=True)[:12]
    np.testing.assert_allclose(pairs.values, expected, rtol=1e-9)


def test_a_free_body_has_its_rigid_motions():
    """Three chains side by side, in blocks of three unknowns: three zero values."""
    n = 80
    K = BlockSparse.from_pairs(n, np.r_[0 : n - 1, 1:n], np.r_[1:n, 0 : n - 1])
    a, b = np.arange(n - 1), np.arange(1, n)
    for rows, cols, sign in ((a, a, 1.0), (b, b, 1.0), (a, b, -1.0), (b, a, -1.0)):
        np.add.at(K.data, K.locate(rows, cols), sign * STIFFNESS * np.eye(3))
    pairs = smallest_eigenpairs(K, np.full(3 * n, MASS), 6)
    largest = 4.0 * STIFFNESS / MASS
    assert np.all(np.abs(pairs.values[:3]) < 1e-12 * largest)
    np.testing.assert_allclose(pairs.values[3:], chain_values(n, 2, free=True)[1], rtol=1e-8)
    assert np.all(pairs.residuals < 1e-12)


def test_the_same_bits_and_signs_every_time():
    n = 400
    first = smallest_eigenpairs(make_chain(n), np.full(n, MASS), 6)
    second = smallest_eigenpairs(make_chain(n), np.full(n, MASS), 6)
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.vectors, second.vectors)
    for vector in first.vectors.T:
        assert vector[np.argmax(np.abs(vector))] > 0.0 or vector.max() >= (1 - 1e-6) * np.abs(vector).max()


def test_all_pairs_of_a_small_problem():
    pairs = smallest_eigenpairs(make_chain(7), np.full(7, MASS), 7)
    np.testing.assert_allclose(pairs.values, chain_values(7, 7), rtol=1e-12)


def test_a_shift_on_an_eigenvalue_is_refused():
    n = 300
    with pytest.raises(ConvergenceError, match="singular"):
        smallest_eigenpairs(make_chain(n, free=True), np.full(n, MASS), 3, sigma=0.0)


@pytest.mark.parametrize("count", [0, 41])
def test_counts_that_do_not_exist_are_refused(count):
    with pytest.raises(InputError, match="1 to 40"):
        smallest_eigenpairs(make_chain(40), np.full(40, MASS), count)


def test_matrices_that_do_not_fit_the_problem_are_refused():
    K, M = make_chain(40), scipy.sparse.diags_array(np.full(40, MASS)).tocsc()
    slanted = M.tolil()
    slanted[0, 1] = MASS
    with pytest.raises(InputError, match="K is not symmetric"):
        smallest_eigenpairs(K @ slanted, M, 3)
    with pytest.raises(InputError, match="M is not symmetric"):
        smallest_eigenpairs(K, slanted, 3)
    with pytest.raises(InputError, match="differ in size"):
        smallest_eigenpairs(K, np.ones(39), 3)


def test_masses_that_are_not_positive_are_refused():
    K = make_chain(40)
    massless = np.full(40, MASS)
    massless[3] = 0.0
    # Positive diagonal, and an eigenvalue MASS (1 - 2) < 0.
    coupled = scipy.sparse.block_diag([np.array([[1.0, 2.0], [2.0, 1.0]])] * 20) * MASS
    for M in (massless, -massless, coupled):
        with pytest.raises(InputError, match="not positive definite"):
            smallest_eigenpairs(K, M, 3)
    with pytest.raises(InputError, match="not finite"):
        smallest_eigenpairs(K, np.full(40, np.nan), 3)
