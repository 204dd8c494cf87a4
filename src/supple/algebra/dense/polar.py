"""Polar decomposition A = R S of 3x3 matrices and its time derivatives, on whole arrays.

R is a rotation, det R = +1 also where det A < 0; S is symmetric, with singular values σ₁ ≥ σ₂ ≥ |σ₃| and the
sign of det A in σ₃. From A = U Σ Vᵀ, R = U diag(1, 1, det UVᵀ) Vᵀ. With the axial vector
2 skew(M) = (M₃₂ - M₂₃, M₁₃ - M₃₁, M₂₁ - M₁₂) and the symmetric K = tr(S) I - S [BZ11, eqs. 7-9],

    ω  = R K⁻¹ 2 skew(Rᵀ A')                                            R' = ω~ R
    S' = Rᵀ (A' - ω~ A)
    ω' = R K⁻¹ (2 skew(Rᵀ (A" - ω~ A')) - (tr(S') I - S') Rᵀ ω)         R" = ω'~ R + ω~² R

    symbol      code                meaning
    A, A', A"   A, A_dot, A_ddot    matrix and its rates
    ω, ω'       omega, omega_dot    angular velocity and acceleration in outer axes, [rad/s], [rad/s²]

We solve with the symmetric K, the paper with the unsymmetric G = K Rᵀ; both give the same ω. The eigenvalues
of K are the sums of two singular values; the smallest, σ₂ + σ₃, is the `polar_gap`. R and ω vary as its
inverse: a rank-2 A is harmless, a rank-1 A or one inverted with σ₃ = -σ₂ has no unique R.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.algebra.dense.rotations import axial, skew
from supple.errors import InputError

Array = NDArray[np.float64]

SMALLEST_GAP = 1e-13
"""Of σ₁: a smaller gap is rounding error of the decomposition."""


def _signed_svd(A: ArrayLike) -> tuple[Array, Array, Array]:
    """U, σ, Vᵀ with A = U diag(σ) Vᵀ, det UVᵀ = +1 and the sign of det A in σ₃."""
    A = np.asarray(A, dtype=np.float64)
    if A.shape[-2:] != (3, 3):
        raise InputError("the matrix has the wrong shape", value=A.shape, allowed="(..., 3, 3)")
    finite = np.isfinite(A).all(axis=(-2, -1))
    if not finite.all():
        index = _first_index(~finite)
        raise InputError("the matrix is not finite", where=f"matrix {index}", value=A[index].tolist())
    U, sigma, Vt = np.linalg.svd(A)
    sign = np.where(np.linalg.det(U @ Vt) < 0, -1.0, 1.0)
    U[..., :, 2] *= sign[..., None]
    sigma[..., 2] *= sign
    return U, sigma, Vt


def _first_index(mask: NDArray[np.bool_]) -> tuple[int, ...]:
    return tuple(int(i) for i in np.argwhere(mask)[0])


def polar_decompose(A: ArrayLike) -> tuple[Array, Array]:
    """R and S of A = R S. A, R, S: (..., 3, 3)."""
    U, sigma, Vt = _signed_svd(A)
    S = np.swapaxes(Vt, -1, -2) @ (sigma[..., :, None] * Vt)
    return U @ Vt, 0.5 * (S + np.swapaxes(S, -1, -2))


def polar_gap(A: ArrayLike) -> Array:
    """σ₂ + σ₃, signed, unit of A: how far A is from having no unique rotation. A: (..., 3, 3)."""
    _, sigma, _ = _signed_svd(A)
    return sigma[..., 1] + sigma[..., 2]


def _trace_minus(S: Array) -> Array:
    return np.trace(S, axis1=-2, axis2=-1)[..., None, None] * np.eye(3) - S


def _solve_gap_matrix(S: Array, b: Array) -> Array:
    """K⁻¹ b with K = tr(S) I - S."""
    K = _trace_minus(S)
    sums = np.linalg.eigvalsh(K)
    singular = ~(np.abs(sums[..., 0]) > SMALLEST_GAP * np.abs(sums[..., 2]))
    if singular.any():
        index = _first_index(singular)
        raise InputError(
            "the rotation of the matrix is not unique, two singular values sum to zero",
            where=f"matrix {index}", value=float(sums[index][0]), allowed="σ₂ + σ₃ > 0",
            fix="Fit the rotation to points that are not in line, or take smaller steps",
        )  # fmt: skip
    solution: Array = np.linalg.solve(K, b[..., None]).astype(np.float64, copy=False)
    return solution[..., 0]


def _turn(R: Array, v: Array) -> Array:
    return (R @ v[..., None])[..., 0]


def polar_omega(R: Array, S: Array, A_dot: Array) -> Array:
    """ω of R' = ω~ R, in outer axes [BZ11, eq. 7]. R, S, A_dot: (..., 3, 3). Returns [rad/s], (..., 3)."""
    return _turn(R, _solve_gap_matrix(S, 2.0 * axial(np.swapaxes(R, -1, -2) @ A_dot)))


def polar_S_dot(R: Array, S: Array, A_dot: Array, omega: Array) -> Array:
    """S' = Rᵀ (A' - ω~ R S), symmetric [BZ11, eq. 8]. All matrices (..., 3, 3), omega (..., 3)."""
    S_dot = np.swapaxes(R, -1, -2) @ (A_dot - skew(omega) @ R @ S)
    return 0.5 * (S_dot + np.swapaxes(S_dot, -1, -2))


def polar_omega_dot(R: Array, S: Array, A_dot: Array, A_ddot: Array, omega: Array) -> Array:
    """ω', in outer axes [BZ11, eq. 9]. All matrices (..., 3, 3), omega (..., 3). Returns [rad/s²], (..., 3).

    Linear in A_ddot; with A_ddot = 0 it is the part of the acceleration that depends on velocity alone.
    """
    Rt = np.swapaxes(R, -1, -2)
    b = 2.0 * axial(Rt @ (A_ddot - skew(omega) @ A_dot))
    b -= _turn(_trace_minus(polar_S_dot(R, S, A_dot, omega)), _turn(Rt, omega))
    return _turn(R, _solve_gap_matrix(S, b))
