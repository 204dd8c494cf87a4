"""Laws of the polar decomposition: definition, derivatives by differencing, kernel against SVD everywhere."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense import rotations
from supple.algebra.dense.polar import polar_decompose, polar_gap, polar_omega, polar_omega_dot, polar_S_dot
from supple.algebra.dense.polar_kernels import (
    polar_acceleration,
    polar_rate_by,
    polar_rotation,
    polar_solver,
    polar_stretch,
    solve_sym3,
)
from supple.algebra.lanes.lane_type import LANES, lane_count, load, store
from supple.errors import InputError

RNG = np.random.default_rng(6)
GOLDEN = Path(__file__).resolve().parents[3] / "shared/reference/reduced/polar_golden.txt"
EPS = np.finfo(float).eps


def random_rotations(n):
    return rotations.to_matrix(rotations.normalise(RNG.normal(size=(n, 4))))


def matrices_of(sigma, n=64):
    """n matrices with these signed singular values and random axes."""
    sigma = np.broadcast_to(np.asarray(sigma, dtype=float), (n, 3))
    return random_rotations(n) @ (sigma[:, :, None] * np.swapaxes(random_rotations(n), 1, 2))


def transpose(M):
    return np.swapaxes(M, -1, -2)


# ---- arrays ----


def test_decomposition_is_rotation_times_symmetric():
    A = RNG.normal(size=(5, 40, 3, 3))
    assert (np.linalg.det(A) < 0).any()
    R, S = polar_decompose(A)
    np.testing.assert_allclose(R @ S, A, atol=5e-15)
    np.testing.assert_allclose(transpose(R) @ R, np.broadcast_to(np.eye(3), A.shape), atol=5e-15)
    np.testing.assert_allclose(np.linalg.det(R), 1, atol=5e-15)
    assert np.array_equal(S, transpose(S))


def test_rotation_maximises_the_trace():
    """The determinant fix gives the nearest rotation, also of inverted matrices."""
    A = RNG.normal(size=(30, 3, 3))
    R, _ = polar_decompose(A)
    best = np.einsum("nij,nij->n", R, A)
    others = np.einsum("mij,nij->nm", random_rotations(2000), A)
    assert (others <= best[:, None] + 1e-14).all()


def test_gap_is_the_smallest_sum_of_signed_singular_values():
    np.testing.assert_allclose(polar_gap(matrices_of([3.0, 2.0, 1.0])), 3.0, rtol=1e-14)
    np.testing.assert_allclose(polar_gap(matrices_of([3.0, 2.0, -1.5])), 0.5, rtol=1e-13)
    np.testing.assert_allclose(polar_gap(matrices_of([1.0, 0.0, 0.0])), 0.0, atol=1e-15)


def moving_matrix(t, terms):
    """A(t), A'(t), A"(t) of A = B + C sin t + D t²."""
    B, C, D = terms
    return B + C * np.sin(t) + D * t * t, C * np.cos(t) + 2 * D * t, -C * np.sin(t) + 2 * D


def derivatives_at(t, terms):
    A, A_dot, A_ddot = moving_matrix(t, terms)
    R, S = polar_decompose(A)
    omega = polar_omega(R, S, A_dot)
    return R, S, omega, polar_S_dot(R, S, A_dot, omega), polar_omega_dot(R, S, A_dot, A_ddot, omega)


@pytest.mark.parametrize("sigma", [[1.2, 1.0, 0.8], [2.0, 1.0, 0.0], [1.5, 1.0, -0.3]])
def test_derivatives_against_central_differences(sigma):
    """[BZ11, eqs. 7-9]; R in rank-2 and inverted matrices varies just as smoothly while σ₂ + σ₃ > 0."""
    terms = matrices_of(sigma, 20), 0.3 * RNG.normal(size=(20, 3, 3)), 0.3 * RNG.normal(size=(20, 3, 3))
    t, h = 0.1, 1e-5
    R, _, omega, S_dot, omega_dot = derivatives_at(t, terms)
    before, after = derivatives_at(t - h, terms), derivatives_at(t + h, terms)
    rates = rotations.skew(omega) @ R, S_dot, omega_dot
    for k in range(3):
        difference = (after[k] - before[k]) / (2 * h)
        # h²/6 times a third derivative, which grows with the inverse of the gap as the rate itself does
        np.testing.assert_allclose(rates[k], difference, atol=1e-7 * max(1, np.abs(difference).max()))


def test_rigid_spin_is_found_exactly():
    R0, S, spin = random_rotations(10), matrices_of([2.0, 1.0, 0.5], 10), RNG.normal(size=(10, 3))
    S = S @ transpose(S)
    A = R0 @ S
    A_dot = rotations.skew(spin) @ A
    R, S_found = polar_decompose(A)
    omega = polar_omega(R, S_found, A_dot)
    np.testing.assert_allclose(omega, spin, atol=1e-13)
    np.testing.assert_allclose(polar_S_dot(R, S_found, A_dot, omega), 0, atol=1e-13)
    A_ddot = rotations.skew(spin) @ A_dot
    np.testing.assert_allclose(polar_omega_dot(R, S_found, A_dot, A_ddot, omega), 0, atol=1e-12)


@pytest.mark.skipif(not GOLDEN.exists(), reason="reference data are not here")
def test_conventions_are_those_of_another_program():
    """R" = ω'~ R + ω~² R holds between its numbers with our skew and outer axes."""
    rows = [line.split() for line in GOLDEN.read_text().splitlines()]
    values = {row[0]: np.array(row[1:], dtype=float) for row in rows[:4]}
    R, R_ddot = values["Q"].reshape(3, 3), values["QDotDot"].reshape(3, 3)
    turn = rotations.skew(values["omega"])
    np.testing.assert_allclose((rotations.skew(values["omegaDot"]) + turn @ turn) @ R, R_ddot, atol=1e-13)


@pytest.mark.parametrize("sigma", [[1.0, 0.0, 0.0], [1.0, 0.5, -0.5], [0.0, 0.0, 0.0]])
def test_matrix_without_unique_rotation_is_named(sigma):
    A = matrices_of([3.0, 2.0, 1.0], 4)
    A[2] = matrices_of(sigma, 1)[0]
    R, S = polar_decompose(A)
    with pytest.raises(InputError, match=r"matrix \(2,\).*not unique"):
        polar_omega(R, S, A)
    with pytest.raises(InputError, match=r"matrix \(2,\).*not unique"):
        polar_omega_dot(R, S, A, A, np.zeros((4, 3)))


def test_bad_matrices_are_named():
    A = np.ones((2, 2, 3, 3))
    A[1, 0, 0, 0] = np.nan
    with pytest.raises(InputError, match=r"matrix \(1, 0\).*not finite"):
        polar_decompose(A)
    with pytest.raises(InputError, match="wrong shape"):
        polar_gap(np.ones((3, 2)))


# ---- kernels ----


@compiled(inline=True)
def row(A, i):
    return A[0, i], A[1, i], A[2, i], A[3, i], A[4, i], A[5, i], A[6, i], A[7, i], A[8, i]


@compiled(inline=True)
def load_nine(a, i, n):
    """Lanes i ... of nine rows of length n that follow each other in `a`."""
    return (
        load(a, i), load(a, i + n), load(a, i + 2 * n),
        load(a, i + 3 * n), load(a, i + 4 * n), load(a, i + 5 * n),
        load(a, i + 6 * n), load(a, i + 7 * n), load(a, i + 8 * n),
    )  # fmt: skip


@compiled
def compute_polar_scalars(A, y_out):
    """A: (9, n), y_out: (10, n)."""
    for i in range(A.shape[1]):
        y = polar_rotation(*row(A, i))
        for k in range(10):
            y_out[k, i] = y[k]


@compiled
def compute_polar_lanes(A, y_out):
    """The same, a lane a matrix; n is a multiple of the lane count."""
    n = A.shape[1]
    a, y = A.reshape(-1), y_out.reshape(-1)
    for i in range(0, n, lane_count(A.dtype)):
        r = polar_rotation(*load_nine(a, i, n))
        store(y, i, r[0])
        store(y, i + n, r[1])
        store(y, i + 2 * n, r[2])
        store(y, i + 3 * n, r[3])
        store(y, i + 4 * n, r[4])
        store(y, i + 5 * n, r[5])
        store(y, i + 6 * n, r[6])
        store(y, i + 7 * n, r[7])
        store(y, i + 8 * n, r[8])
        store(y, i + 9 * n, r[9])


def run(compute, A):
    """R (n, 3, 3) and s_min (n) of A (n, 3, 3), n a multiple of the lane count."""
    y = np.full((10, len(A)), np.nan, dtype=A.dtype)
    compute(np.ascontiguousarray(A.reshape(-1, 9).T), y)
    return y[:9].T.reshape(-1, 3, 3), y[9]


def check_rotation(A, R, s_min):
    """What holds for every A: R is a rotation, tr(RᵀA) the largest, s_min right; in units of |A|."""
    norm = np.maximum(np.linalg.norm(A, axis=(1, 2)), 1e-300)
    sigma = np.linalg.svd(A, compute_uv=False)
    sigma[:, 2] *= np.where(np.linalg.det(A / norm[:, None, None]) < 0, -1, 1)
    gap = (sigma[:, 1] + sigma[:, 2]) / norm
    np.testing.assert_allclose(transpose(R) @ R, np.broadcast_to(np.eye(3), R.shape), atol=8 * EPS)
    np.testing.assert_allclose(np.linalg.det(R), 1, atol=16 * EPS)
    trace = np.einsum("nij,nij->n", R, A)
    assert ((sigma.sum(axis=1) - trace) / norm <= 20 * EPS + 2 * np.abs(gap) * (gap < 1e-5)).all()
    np.testing.assert_allclose(s_min / norm, gap, atol=2e-8)  # √ε: σ₁ and σ₂ may be equal
    return gap


ORDINARY = {
    "random": RNG.normal(size=(512, 3, 3)),
    "inverted": -matrices_of(RNG.uniform([0.8, 0.5, 0.1], [1.0, 0.7, 0.4], (512, 3)), 512),
    "near identity": np.eye(3) + 1e-3 * RNG.normal(size=(64, 3, 3)),
    "nearer identity": np.eye(3) + 1e-9 * RNG.normal(size=(64, 3, 3)),
    "planar": matrices_of([1.0, 0.7, 0.0]),
    "nearly planar": matrices_of([1.0, 0.7, 1e-10]),
    "equal planar": matrices_of([1.0, 1.0, 0.0]),
    "stretched 1e-3": matrices_of([1.0, 1e-3, 1e-3]),
    "stretched 1e-6": matrices_of([1.0, 1e-6, 0.3e-6]),
    "stretched inverted": matrices_of([1.0, 1e-5, -0.3e-5]),
    "nearly singular inverted": matrices_of([1.0, 0.7, -0.7 + 1e-5]),
    "nearly a reflection": matrices_of([1.0, 1.0, -1.0 + 1e-3]),
    "small": 1e-140 * matrices_of([1.0, 0.7, 0.4]),
    "large": 1e140 * matrices_of([1.0, 0.7, 0.4]),
    "flat": matrices_of([1e6, 1e6, 1.0]),
}


@pytest.mark.parametrize("compute", [compute_polar_scalars, compute_polar_lanes])
@pytest.mark.parametrize("name", ORDINARY)
def test_kernel_equals_svd(name, compute):
    A = ORDINARY[name]
    R, s_min = run(compute, A)
    gap = check_rotation(A, R, s_min)
    norm = np.linalg.norm(A, axis=(1, 2))
    S = transpose(R) @ A
    asymmetry = np.abs(S - transpose(S)).max(axis=(1, 2)) / norm
    assert (asymmetry < 1e-14).all()
    error = np.abs(R - polar_decompose(A)[0]).max(axis=(1, 2))
    assert (error < 60 * EPS / gap).all()  # the condition of R is 1 / gap, for the SVD as well


@pytest.mark.parametrize("compute", [compute_polar_scalars, compute_polar_lanes])
@pytest.mark.parametrize(
    "sigma", [[1, 0, 0], [1, 1e-9, 1e-9], [1, 1e-12, -1e-12], [1, 0.5, -0.5], [1, 1, -1], [1, 1, -1 + 1e-8]]
)
def test_kernel_gives_a_best_rotation_where_there_are_many(sigma, compute):
    A = matrices_of(sigma)
    check_rotation(A, *run(compute, A))


def test_kernel_on_rotations_of_any_angle():
    axes = rotations.normalise(RNG.normal(size=(15, 4)))[:, 1:]
    axes = np.concatenate([axes / np.linalg.norm(axes, axis=1, keepdims=True), [[0.0, 0, 1]]])
    for angle in (0, 1e-12, 1e-6, 0.5, np.pi / 2, 3, np.pi - 1e-9, np.pi):
        Q = rotations.to_matrix(rotations.exp(angle * axes))
        R, s_min = run(compute_polar_lanes, Q)
        np.testing.assert_allclose(R, Q, atol=8 * EPS)
        np.testing.assert_allclose(s_min, 2, rtol=8 * EPS)


@pytest.mark.parametrize("compute", [compute_polar_scalars, compute_polar_lanes])
def test_kernel_on_special_matrices(compute):
    unit = [np.outer(a, b) for a in np.eye(3) for b in np.eye(3)]
    diagonal = [np.diag(d) for d in ([1, 1, 1], [-1, -1, -1], [-1, -1, 1], [1, -1, -1], [1, 1, -1], [2, -2, 0])]
    A = np.array([*unit, *diagonal, np.zeros((3, 3))])
    R, s_min = run(compute, A)
    check_rotation(A, R, s_min)
    assert np.array_equal(R[-1], np.eye(3))
    assert s_min[-1] == 0
    np.testing.assert_allclose(R[len(unit)], np.eye(3), atol=0)


def test_nan_stays_in_its_lane():
    A = RNG.normal(size=(2 * LANES, 3, 3))
    alone, _ = run(compute_polar_lanes, A)
    A[1, 2, 0] = np.nan
    R, s_min = run(compute_polar_lanes, A)
    assert np.isnan(R[1]).all()
    assert np.isnan(s_min[1])
    keep = np.arange(len(A)) != 1
    assert np.array_equal(R[keep], alone[keep])


def test_lane_does_not_depend_on_its_neighbours():
    A = np.concatenate([ORDINARY["random"], matrices_of([1, 1e-6, 1e-6]), matrices_of([1, 1, -1 + 1e-7])])
    order = RNG.permutation(len(A))
    R, s_min = run(compute_polar_lanes, A)
    R_mixed, s_mixed = run(compute_polar_lanes, A[order])
    assert np.array_equal(R[order], R_mixed)
    assert np.array_equal(s_min[order], s_mixed)


def test_kernel_in_single_precision():
    A = np.concatenate([ORDINARY["random"], ORDINARY["inverted"], ORDINARY["near identity"]])
    R, s_min = run(compute_polar_lanes, A.astype(np.float32))
    gap, norm = polar_gap(A), np.linalg.norm(A, axis=(1, 2))
    error = np.abs(R - polar_decompose(A)[0]).max(axis=(1, 2))
    assert (error < 20 * np.finfo(np.float32).eps * norm / gap).all()
    np.testing.assert_allclose(s_min / norm, gap / norm, atol=1e-4)


@compiled
def compute_accelerations(A, dA, ddA, out):
    for i in range(A.shape[1]):
        y = polar_rotation(*row(A, i))
        R = (y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8])
        S = polar_stretch(R, row(A, i))
        a = polar_acceleration(R, S, row(dA, i), row(ddA, i), polar_rate_by(polar_solver(R, S), R, row(dA, i)))
        for k in range(3):
            out[k, i] = a[k]


def test_acceleration_kernel_equals_array_function():
    A, dA, ddA = matrices_of([1.5, 1.0, -0.4]), *RNG.normal(size=(2, 64, 3, 3))
    out = np.full((3, 64), np.nan)
    compute_accelerations(A.reshape(-1, 9).T, dA.reshape(-1, 9).T, ddA.reshape(-1, 9).T, out)
    R, S = polar_decompose(A)
    np.testing.assert_allclose(out.T, polar_omega_dot(R, S, dA, ddA, polar_omega(R, S, dA)), atol=1e-11)


@compiled
def compute_rates(A, dA, b, omega_out, x_out):
    for i in range(A.shape[1]):
        y = polar_rotation(*row(A, i))
        R = (y[0], y[1], y[2], y[3], y[4], y[5], y[6], y[7], y[8])
        S = polar_stretch(R, row(A, i))
        omega = polar_rate_by(polar_solver(R, S), R, row(dA, i))
        x = solve_sym3(S[0], S[1], S[2], S[3], S[4], S[5], b[0, i], b[1, i], b[2, i])
        for k in range(3):
            omega_out[k, i] = omega[k]
            x_out[k, i] = x[k]


def test_rate_and_solve_kernels_equal_array_functions():
    A, dA = matrices_of([1.5, 1.0, -0.4]), RNG.normal(size=(64, 3, 3))
    b = RNG.normal(size=(3, 64))
    omega, x = np.full((3, 64), np.nan), np.full((3, 64), np.nan)
    compute_rates(A.reshape(-1, 9).T, dA.reshape(-1, 9).T, b, omega, x)
    R, S = polar_decompose(A)
    np.testing.assert_allclose(omega.T, polar_omega(R, S, dA), atol=1e-13)
    np.testing.assert_allclose(x.T, np.linalg.solve(S, b.T[..., None])[..., 0], atol=1e-13)
