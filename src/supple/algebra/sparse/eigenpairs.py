"""`smallest_eigenpairs`: the lowest modes of K v = lambda M v, by shift-invert Lanczos.

    (K - sigma M)^-1 M v = v / (lambda - sigma)        K symmetric, M symmetric positive definite

| symbol | code | meaning |
|---|---|---|
| K, M | `K`, `M` | stiffness [N/m] and mass [kg]; lambda is then a squared angular frequency [1/s^2] |
| sigma | `sigma` | shift; below zero K - sigma M is positive definite even for a free body |
| lambda, v | `values`, `vectors` | ascending; v_i^T M v_j = delta_ij, largest component positive |

Lanczos starts from a fixed vector and BLAS runs on one thread, so the same matrices give the same bits. One
step of inverse iteration and Rayleigh-Ritz in the space found polish the pairs. Small problems, and those in
which most pairs are wanted, are solved densely.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse
import scipy.sparse.linalg
from numpy.typing import NDArray

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.cholesky.sparse_cholesky import SparseCholesky
from supple.algebra.sparse.cholesky.sparse_factor import is_symmetric
from supple.algebra.sparse.direct import DirectSolver, as_csc
from supple.errors import ConvergenceError, InputError

# The first shift tried, as a part of the middle K_ii / M_ii: far below elastic modes, far above rounding.
FIRST_SHIFT = -1e-8
# The rigid modes of a free body are so near that shift that they drown the others in rounding. Where the
# residuals show it, the search is repeated with a shift that is this part of the largest value found.
SECOND_SHIFT = -0.05
LARGEST_RESIDUAL = 1e-12
DENSE_SIZE = 120


@dataclass(frozen=True)
class Eigenpairs:
    """values: (count), ascending. vectors: (n, count), orthonormal in M.

    residuals: (count), |K v - lambda M v| / (|K|_1 |v| + |lambda| |M|_1 |v|). sigma: the shift used.
    """

    values: NDArray[np.float64]
    vectors: NDArray[np.float64]
    residuals: NDArray[np.float64]
    sigma: float


def smallest_eigenpairs(K: Any, M: Any, count: int, *, sigma: float | None = None) -> Eigenpairs:
    """The `count` pairs of K v = lambda M v with the smallest lambda, ascending.

    K: `BlockSparse` or scipy sparse (n, n), symmetric. M: the same, or its diagonal (n). sigma: shift [1/s^2]
    that lies below all values; when not given, a small negative one that suits held and free bodies.
    """
    K, M = as_csc(K), _as_mass(M)
    with one_blas_thread():
        _check_problem(K, M, count)
        if K.shape[0] <= max(DENSE_SIZE, 2 * count):
            values, vectors = scipy.linalg.eigh(K.toarray(), M.toarray(), subset_by_index=[0, count - 1])
            return _make_pairs(K, M, values, vectors, 0.0 if sigma is None else sigma)
        if sigma is not None:
            return _shift_invert(K, M, count, sigma)
        middle = float(np.median(np.abs(K.diagonal()) / M.diagonal()))
        pairs = _shift_invert(K, M, count, FIRST_SHIFT * middle)
        second_shift = SECOND_SHIFT * abs(float(pairs.values[-1]))
        if pairs.residuals.max() > LARGEST_RESIDUAL and second_shift < pairs.sigma:
            pairs = _shift_invert(K, M, count, second_shift)
        return pairs


def _shift_invert(K: Any, M: Any, count: int, sigma: float) -> Eigenpairs:
    """Lanczos, one step of inverse iteration on the space found, and Rayleigh-Ritz in it."""
    inverse = DirectSolver(K - sigma * M)
    basis = inverse.solve(M @ _lanczos(K, M, count, sigma, inverse)).x
    values, weights = scipy.linalg.eigh(basis.T @ (K @ basis), basis.T @ (M @ basis))
    return _make_pairs(K, M, values, basis @ weights, sigma)


def _lanczos(K: Any, M: Any, count: int, sigma: float, inverse: DirectSolver) -> NDArray[np.float64]:
    n = K.shape[0]
    solve = inverse.solve_once  # what it lacks in the last digits, the step after makes good
    operator = scipy.sparse.linalg.LinearOperator((n, n), matvec=solve, dtype=np.float64)
    start = 1.0 + 0.3 * np.sin(1.7 * np.arange(n))
    try:
        _, vectors = scipy.sparse.linalg.eigsh(
            K, k=count, M=M, sigma=sigma, which="LM", OPinv=operator, v0=start, ncv=min(n, 2 * count + 20)
        )
    except scipy.sparse.linalg.ArpackNoConvergence as error:
        raise ConvergenceError(
            "the Lanczos iteration did not find all eigenpairs",
            where="smallest_eigenpairs",
            value=f"{error.eigenvalues.size} found",
            allowed=f"{count}",
            fix="Ask for fewer pairs, or give a shift sigma nearer to the wanted values.",
        ) from error
    return vectors


def _make_pairs(K: Any, M: Any, values: NDArray[np.float64], vectors: NDArray[np.float64], sigma: float) -> Eigenpairs:
    fix_signs(vectors)
    return Eigenpairs(values, vectors, _residuals(K, M, values, vectors), sigma)


def fix_signs(vectors: NDArray[np.float64]) -> None:
    """Make the largest component of each vector positive; of components alike to 1e-6 the first decides."""
    for vector in vectors.T:
        size = np.abs(vector)
        if vector[np.argmax(size >= (1.0 - 1e-6) * size.max())] < 0.0:
            vector *= -1.0


def _residuals(K: Any, M: Any, values: NDArray[np.float64], vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    miss = np.linalg.norm(K @ vectors - (M @ vectors) * values, axis=0)
    K_size, M_size = scipy.sparse.linalg.norm(K, 1), scipy.sparse.linalg.norm(M, 1)
    return miss / ((K_size + np.abs(values) * M_size) * np.linalg.norm(vectors, axis=0))


def _as_mass(M: Any) -> Any:
    if isinstance(M, np.ndarray) and M.ndim == 1:
        if not np.all(np.isfinite(M)):
            raise InputError("a mass is not finite", where="M")
        return scipy.sparse.diags_array(M.astype(np.float64)).tocsc()
    return as_csc(M)


def _check_problem(K: Any, M: Any, count: int) -> None:
    n = K.shape[0]
    if M.shape != K.shape:
        raise InputError("K and M differ in size", value=(K.shape, M.shape), allowed="one size")
    if not 1 <= count <= n:
        raise InputError(
            "this many eigenpairs do not exist", where="count", value=count, allowed=f"1 to {n}, the unknowns"
        )
    for name, matrix in (("K", K), ("M", M)):
        if not is_symmetric(matrix):
            raise InputError(f"{name} is not symmetric", where="smallest_eigenpairs", fix="Use its symmetric part.")
    if not _is_positive_definite(M):
        raise InputError(
            "M is not positive definite",
            where="smallest_eigenpairs",
            value=f"smallest diagonal entry {M.diagonal().min():.3g}",
            fix="Give every unknown a mass, or remove those without.",
        )


def _is_positive_definite(M: Any) -> bool:
    """By Cholesky's factor."""
    if np.any(M.diagonal() <= 0.0):
        return False
    if M.nnz == M.shape[0]:
        return True
    try:
        SparseCholesky(M)
    except np.linalg.LinAlgError:
        return False
    return True
