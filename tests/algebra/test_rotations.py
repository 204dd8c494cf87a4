"""Laws of rotations: group, exponential and logarithm at every angle, Jacobians against differencing."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense import rotation_kernels as kernels
from supple.algebra.dense import rotations
from supple.algebra.lanes.lane_type import LANES, load, store
from supple.errors import InputError

RNG = np.random.default_rng(5)
AXES = np.concatenate([np.eye(3), -np.eye(3), RNG.normal(size=(10, 3))])
AXES /= np.linalg.norm(AXES, axis=1, keepdims=True)
ANGLES = np.array([0, 1e-300, 1e-160, 1e-12, 1e-6, 9.9e-3, 1.01e-2, 0.5, 2, 3, np.pi - 1e-3, np.pi - 1e-9])
THETAS = (AXES[:, None, :] * ANGLES[:, None]).reshape(-1, 3)


def random_quaternions(n):
    return rotations.normalise(RNG.normal(size=(n, 4)))


def test_matrix_of_a_known_turn():
    q = rotations.exp([0.0, 0.0, np.pi / 2])
    np.testing.assert_allclose(rotations.rotate(q, [1.0, 0.0, 0.0]), [0.0, 1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(rotations.to_matrix(q), [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


def test_products_turns_and_matrices_agree():
    a, b, v = random_quaternions(50), random_quaternions(50), RNG.normal(size=(50, 3))
    ab = rotations.multiply(a, b)
    product = rotations.to_matrix(a) @ rotations.to_matrix(b)
    np.testing.assert_allclose(rotations.to_matrix(ab), product, atol=2e-15)
    turned = rotations.rotate(ab, v)
    np.testing.assert_allclose(turned, rotations.rotate(a, rotations.rotate(b, v)), atol=1e-14)
    np.testing.assert_allclose(turned, (product @ v[..., None])[..., 0], atol=1e-14)
    np.testing.assert_allclose(rotations.rotate_inverse(ab, turned), v, atol=1e-14)
    identity = rotations.multiply(a, rotations.conjugate(a))
    np.testing.assert_allclose(identity, np.tile([1.0, 0, 0, 0], (50, 1)), atol=1e-15)


def test_one_has_the_bits_of_many():
    """Single quaternions and vectors are multiplied by Python, many of them by numpy."""
    p, q, v = random_quaternions(50), 3.0 * random_quaternions(50), RNG.normal(size=(50, 3))
    for function, arguments in (
        (rotations.normalise, (q,)),
        (rotations.exp, (v,)),
        (rotations.to_matrix, (p,)),
        (rotations.multiply, (p, p[::-1])),
        (rotations.rotate, (p, v)),
        (rotations.cross, (v, v[::-1])),
    ):
        many = function(*arguments)
        for k, found in enumerate(many):
            np.testing.assert_array_equal(function(*(a[k] for a in arguments)), found)
            np.testing.assert_array_equal(function(*(a[k : k + 1] for a in arguments))[0], found)


def test_skew_is_the_cross_product_and_axial_its_inverse():
    v, b = RNG.normal(size=(2, 7, 3))
    np.testing.assert_allclose((rotations.skew(v) @ b[..., None])[..., 0], np.cross(v, b), atol=1e-15)
    assert np.array_equal(rotations.axial(rotations.skew(v)), v)


def test_log_inverts_exp_up_to_pi():
    theta = rotations.log(rotations.exp(THETAS))
    # A rotation vector carries its angle with a relative error of a few roundings, also near 0 and near π.
    np.testing.assert_allclose(theta, THETAS, rtol=4e-15, atol=4e-15)
    tiny = np.abs(THETAS).max(axis=1) < 1e-5
    np.testing.assert_allclose(theta[tiny], THETAS[tiny], rtol=1e-15, atol=0)


def test_log_at_pi_and_beyond():
    at_pi = rotations.log(rotations.exp(np.pi * AXES))
    np.testing.assert_allclose(np.linalg.norm(at_pi, axis=1), np.pi, rtol=1e-15)
    np.testing.assert_allclose(np.abs(np.sum(at_pi * AXES, axis=1)), np.pi, rtol=1e-15)
    np.testing.assert_allclose(rotations.log(rotations.exp(4.0 * AXES)), (4.0 - 2 * np.pi) * AXES, atol=1e-14)
    assert np.array_equal(rotations.log([-1.0, 0, 0, 0]), np.zeros(3))


def test_from_matrix_inverts_to_matrix_at_any_angle():
    q = np.concatenate([rotations.exp(THETAS), rotations.exp(np.pi * AXES), random_quaternions(100)])
    back = rotations.from_matrix(rotations.to_matrix(q))
    assert (back[:, 0] >= 0).all()
    sign = np.sign(np.sum(q * back, axis=1, keepdims=True))
    np.testing.assert_allclose(back * sign, q, atol=1e-15)


def test_exp_is_the_matrix_exponential():
    from scipy.linalg import expm

    for theta in THETAS[::7]:
        np.testing.assert_allclose(rotations.to_matrix(rotations.exp(theta)), expm(rotations.skew(theta)), atol=3e-15)


def test_dexp_is_the_derivative_of_exp():
    h = 1e-5
    thetas = np.concatenate([THETAS, 5.0 * AXES])
    J = rotations.dexp(thetas)
    for k in range(3):
        step = h * np.eye(3)[k]
        ends = rotations.multiply(rotations.conjugate(rotations.exp(thetas - step)), rotations.exp(thetas + step))
        # central differences: h²/6 times third derivatives of order one, and ε/h
        np.testing.assert_allclose(rotations.log(ends) / (2 * h), J[:, :, k], atol=1e-9)


def test_dexp_inverse_inverts_dexp():
    thetas = np.concatenate([THETAS, 5.0 * AXES])
    product = rotations.dexp(thetas) @ rotations.dexp_inverse(thetas)
    np.testing.assert_allclose(product, np.tile(np.eye(3), (len(thetas), 1, 1)), atol=1e-14)


def test_rotation_update_turns_in_body_axes():
    q, theta = random_quaternions(20), RNG.normal(size=(20, 3))
    updated = rotations.to_matrix(rotations.rotation_update(q, theta))
    expected = rotations.to_matrix(q) @ rotations.to_matrix(rotations.exp(theta))
    np.testing.assert_allclose(updated, expected, atol=2e-15)
    np.testing.assert_allclose(np.linalg.norm(rotations.rotation_update(1.1 * q, theta), axis=1), 1, rtol=1e-15)


@compiled
def compute_scalar_kernels(q, p, theta, v, q_out, v_out, R_out):
    """Every kernel once a row; outputs in the order of the test below."""
    for i in range(len(q)):
        a = (q[i, 0], q[i, 1], q[i, 2], q[i, 3])
        b = (p[i, 0], p[i, 1], p[i, 2], p[i, 3])
        t = (theta[i, 0], theta[i, 1], theta[i, 2])
        u = (v[i, 0], v[i, 1], v[i, 2])
        R = kernels.quaternion_matrix(a)
        quaternions = (
            kernels.quaternion_multiply(a, b),
            kernels.quaternion_conjugate(a),
            kernels.quaternion_exp(t),
            kernels.rotation_update(a, t),
            kernels.matrix_quaternion(R),
        )
        vectors = (
            kernels.quaternion_rotate(a, u),
            kernels.quaternion_rotate_inverse(a, u),
            kernels.matrix_rotate(R, u),
            kernels.matrix_rotate_inverse(R, u),
            kernels.quaternion_log(a),
            kernels.dexp_apply(t, u),
            kernels.dexp_inverse_apply(t, u),
            kernels.cross(t, u),
        )
        for k in range(4):
            for j in range(5):
                q_out[j, i, k] = quaternions[j][k]
        for k in range(3):
            for j in range(8):
                v_out[j, i, k] = vectors[j][k]
        for k in range(9):
            R_out[i, k // 3, k % 3] = R[k]


def test_kernels_equal_array_functions():
    n = len(THETAS)
    q, p, v = rotations.exp(THETAS[::-1]), random_quaternions(n), RNG.normal(size=(n, 3))
    q_out, v_out, R_out = np.full((5, n, 4), np.nan), np.full((8, n, 3), np.nan), np.full((n, 3, 3), np.nan)
    compute_scalar_kernels(q, p, THETAS, v, q_out, v_out, R_out)
    expected_q = [
        rotations.multiply(q, p),
        rotations.conjugate(q),
        rotations.exp(THETAS),
        rotations.rotation_update(q, THETAS),
        rotations.from_matrix(rotations.to_matrix(q)),
    ]
    turned, turned_back = rotations.rotate(q, v), rotations.rotate_inverse(q, v)
    expected_v = [
        turned, turned_back, turned, turned_back,
        rotations.log(q),
        (rotations.dexp(THETAS) @ v[..., None])[..., 0],
        (rotations.dexp_inverse(THETAS) @ v[..., None])[..., 0],
        np.cross(THETAS, v),
    ]  # fmt: skip
    np.testing.assert_allclose(q_out, expected_q, atol=4e-15)
    np.testing.assert_allclose(v_out, expected_v, atol=2e-14)
    np.testing.assert_allclose(R_out, rotations.to_matrix(q), atol=1e-15)


@compiled
def compute_turned_in_lanes(q, v, y_out):
    """q: (4, n), v, y_out: (3, n)."""
    for i in range(0, q.shape[1], LANES):
        a = (load(q[0], i), load(q[1], i), load(q[2], i), load(q[3], i))
        u = (load(v[0], i), load(v[1], i), load(v[2], i))
        x, y, z = kernels.quaternion_rotate(kernels.quaternion_normalise(a), u)
        store(y_out[0], i, x)
        store(y_out[1], i, y)
        store(y_out[2], i, z)


def test_kernels_turn_in_lanes():
    q, v = RNG.normal(size=(4, 2 * LANES)), RNG.normal(size=(3, 2 * LANES))
    y = np.full_like(v, np.nan)
    compute_turned_in_lanes(q, v, y)
    np.testing.assert_allclose(y.T, rotations.rotate(rotations.normalise(q.T), v.T), atol=2e-15)


@pytest.mark.parametrize(
    ("function", "arguments", "message"),
    [
        (rotations.normalise, ([[1.0, 0, 0, 0], [0.0, 0, 0, 0]],), r"quaternion \(1,\).*no direction"),
        (rotations.normalise, ([np.nan, 0, 0, 0],), "no direction"),
        (rotations.log, ([0.0, 0, 0, 0],), "no direction"),
        (rotations.multiply, ([1.0, 0, 0], [1.0, 0, 0, 0]), r"quaternion has the wrong shape.*\(3,\)"),
        (rotations.rotate, ([1.0, 0, 0, 0], [1.0, 0]), "vector has the wrong shape"),
        (rotations.from_matrix, (np.zeros((2, 2)),), "matrix has the wrong shape"),
        (rotations.exp, (1.0,), "rotation vector has the wrong shape"),
        (rotations.dexp_inverse, ([2 * np.pi, 0, 0],), "too long"),
    ],
)
def test_bad_input_is_named(function, arguments, message):
    with pytest.raises(InputError, match=message):
        function(*arguments)
