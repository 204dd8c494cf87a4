"""Rotations as unit quaternions, rotation vectors and matrices, on whole arrays.

A quaternion is (w, x, y, z); q and -q are the same rotation. Rotations map body to world, v -> q v q*.
A rotation vector θ turns by |θ| [rad] about θ/|θ|; exp(θ) = (cos |θ|/2, sin |θ|/2 θ/|θ|).

The right Jacobian turns a change of θ into a turn in body axes, exp(θ + δ) = exp(θ) ⊗ exp(J δ) + O(δ²),
    J(θ)   = I - (1 - cos |θ|)/|θ|² θ~ + (|θ| - sin |θ|)/|θ|³ θ~²
    J⁻¹(θ) = I + θ~/2 + (1/|θ|² - (1 + cos |θ|) / (2 |θ| sin |θ|)) θ~²
with θ~ b = θ × b [SDA18, eqs. 143, 144]. Their transposes belong to world axes. J is singular at 2π.

All functions broadcast over leading axes: quaternions (..., 4), vectors (..., 3), matrices (..., 3, 3).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from supple.errors import InputError

Array = NDArray[np.float64]

SMALL_ANGLE = 1e-2
"""[rad] Below it the coefficients are series of three terms, whose error is under 1e-16 there."""


def _as_float(values: ArrayLike, tail: tuple[int, ...], name: str) -> Array:
    array = np.asarray(values, dtype=np.float64)
    if array.shape[-len(tail) :] != tail:
        raise InputError(
            f"{name} has the wrong shape", value=array.shape, allowed=f"(..., {', '.join(map(str, tail))})"
        )
    return array


def skew(v: ArrayLike) -> Array:
    """Matrices v~ with v~ b = v × b. v: (..., 3). Returns (..., 3, 3)."""
    v = _as_float(v, (3,), "the vector")
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -z, y, -x
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = z, -y, x
    return out


def cross(a: ArrayLike, b: ArrayLike) -> Array:
    """a × b, (..., 3); several times faster than numpy's on few vectors."""
    a, b = np.asarray(a), np.asarray(b)
    if a.ndim == b.ndim == 1:
        return np.array(_crossed(a.tolist(), b.tolist()), dtype=float)
    out = np.empty(_joint_shape(a, b))
    a0, a1, a2 = _components(a)
    b0, b1, b2 = _components(b)
    out[..., 0] = a1 * b2 - a2 * b1
    out[..., 1] = a2 * b0 - a0 * b2
    out[..., 2] = a0 * b1 - a1 * b0
    return out


def _crossed(a: list[float], b: list[float]) -> list[float]:
    """a × b of two single vectors; the same bits."""
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _components(a: Array) -> list[Any]:
    """The numbers of one vector or quaternion, which Python multiplies faster than numpy, or arrays of those of many;
    the same bits."""
    return a.ravel().tolist() if a.size == a.shape[-1] else [a[..., k] for k in range(a.shape[-1])]


def _joint_shape(a: Array, b: Array) -> tuple[int, ...]:
    """What two shapes are broadcast to; numpy takes longer to find out than most products of few vectors take."""
    if a.shape == b.shape or b.ndim == 1:
        return a.shape
    return b.shape if a.ndim == 1 else np.broadcast_shapes(a.shape, b.shape)


def axial(M: ArrayLike) -> Array:
    """Axial vectors of (M - Mᵀ)/2, the inverse of `skew`. M: (..., 3, 3). Returns (..., 3)."""
    M = _as_float(M, (3, 3), "the matrix")
    return 0.5 * np.stack(
        [M[..., 2, 1] - M[..., 1, 2], M[..., 0, 2] - M[..., 2, 0], M[..., 1, 0] - M[..., 0, 1]], axis=-1
    )


def normalise(q: ArrayLike) -> Array:
    """q / |q|. q: (..., 4), not zero."""
    q = _as_float(q, (4,), "the quaternion")
    if q.size == 4:
        w, x, y, z = q.ravel().tolist()
        one = math.sqrt(w * w + x * x + y * y + z * z)
        if 0 < one < math.inf:
            return q / one
    norm = np.linalg.norm(q, axis=-1, keepdims=True)
    bad = ~(np.isfinite(norm) & (norm > 0))
    if bad.any():
        index = tuple(int(i) for i in np.argwhere(bad[..., 0])[0])
        raise InputError(
            "the quaternion has no direction", where=f"quaternion {index}", value=q[index].tolist(),
            allowed="finite values, not all zero",
        )  # fmt: skip
    return q / norm


def conjugate(q: ArrayLike) -> Array:
    """The inverse rotation (w, -x, -y, -z). q: (..., 4), unit."""
    return _as_float(q, (4,), "the quaternion") * np.array([1.0, -1.0, -1.0, -1.0])


def multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """a ⊗ b: first b, then a, in fixed axes. a, b: (..., 4)."""
    a, b = _as_float(a, (4,), "the quaternion"), _as_float(b, (4,), "the quaternion")
    aw, ax, ay, az = _components(a)
    bw, bx, by, bz = _components(b)
    out = np.empty(_joint_shape(a, b))
    out[..., 0] = aw * bw - ax * bx - ay * by - az * bz
    out[..., 1] = aw * bx + ax * bw + ay * bz - az * by
    out[..., 2] = aw * by + ay * bw + az * bx - ax * bz
    out[..., 3] = aw * bz + az * bw + ax * by - ay * bx
    return out


def rotate(q: ArrayLike, v: ArrayLike) -> Array:
    """v from body to world axes, q v q*. q: (..., 4), unit; v: (..., 3)."""
    q, v = _as_float(q, (4,), "the quaternion"), _as_float(v, (3,), "the vector")
    if q.ndim == v.ndim == 1:
        one, (real, *axis) = v.tolist(), q.tolist()
        twice = [2.0 * c for c in _crossed(axis, one)]
        return np.array([a + real * t + c for a, t, c in zip(one, twice, _crossed(axis, twice))])
    w, u = q[..., :1], q[..., 1:]
    t = 2.0 * cross(u, v)
    return v + w * t + cross(u, t)


def rotate_inverse(q: ArrayLike, v: ArrayLike) -> Array:
    """v from world to body axes, q* v q. q: (..., 4), unit; v: (..., 3)."""
    return rotate(conjugate(q), v)


def to_matrix(q: ArrayLike) -> Array:
    """Rotation matrices R with R v = q v q*. q: (..., 4), unit. Returns (..., 3, 3)."""
    q = _as_float(q, (4,), "the quaternion")
    w, x, y, z = _components(q)
    R = np.empty((*q.shape[:-1], 3, 3))
    xx, yy, zz = x * x, y * y, z * z
    xy, xz, yz, wx, wy, wz = x * y, x * z, y * z, w * x, w * y, w * z
    R[..., 0, 0], R[..., 0, 1], R[..., 0, 2] = 1 - 2 * (yy + zz), 2 * (xy - wz), 2 * (xz + wy)
    R[..., 1, 0], R[..., 1, 1], R[..., 1, 2] = 2 * (xy + wz), 1 - 2 * (xx + zz), 2 * (yz - wx)
    R[..., 2, 0], R[..., 2, 1], R[..., 2, 2] = 2 * (xz - wy), 2 * (yz + wx), 1 - 2 * (xx + yy)
    return R


def from_matrix(R: ArrayLike) -> Array:
    """Unit quaternions with w >= 0 of rotation matrices (..., 3, 3), exact at any angle [Shepperd78].

    4 q qᵀ is linear in R; its column with the largest diagonal entry is divided by its length.
    """
    R = _as_float(R, (3, 3), "the rotation matrix")
    a00, a11, a22 = R[..., 0, 0], R[..., 1, 1], R[..., 2, 2]
    twice_xyz = 2.0 * axial(R)
    wx, wy, wz = np.moveaxis(twice_xyz, -1, 0)
    xy, xz, yz = R[..., 0, 1] + R[..., 1, 0], R[..., 0, 2] + R[..., 2, 0], R[..., 1, 2] + R[..., 2, 1]
    columns = np.stack(
        [
            1 + a00 + a11 + a22, wx, wy, wz,
            wx, 1 + a00 - a11 - a22, xy, xz,
            wy, xy, 1 - a00 + a11 - a22, yz,
            wz, xz, yz, 1 - a00 - a11 + a22,
        ],
        axis=-1,
    ).reshape(*R.shape[:-2], 4, 4)  # fmt: skip
    largest = np.argmax(np.diagonal(columns, axis1=-2, axis2=-1), axis=-1)
    q = np.take_along_axis(columns, largest[..., None, None], axis=-2)[..., 0, :]
    return normalise(q * np.where(q[..., :1] < 0, -1.0, 1.0))


def exp(theta: ArrayLike) -> Array:
    """Unit quaternions of rotation vectors. theta: [rad], (..., 3). Returns (..., 4)."""
    theta = _as_float(theta, (3,), "the rotation vector")
    if theta.size == 3:
        x, y, z = theta.ravel().tolist()
        one = 0.5 * math.sqrt(x * x + y * y + z * z)
        angle = np.pi * (one / np.pi or 1e-20)  # as numpy's sinc has it, with the same bits
        s = 0.5 * (np.sin(angle) / angle)
        return np.array([np.cos(one), s * x, s * y, s * z]).reshape(*theta.shape[:-1], 4)
    half = 0.5 * np.linalg.norm(theta, axis=-1, keepdims=True)
    return np.concatenate([np.cos(half), 0.5 * np.sinc(half / np.pi) * theta], axis=-1)


def log(q: ArrayLike) -> Array:
    """Rotation vectors of unit quaternions, [rad], |θ| <= π. q: (..., 4). Returns (..., 3).

    |θ| = 2 atan2(|xyz|, |w|): accurate near 0, where |xyz| is small, and near π, where w is.
    """
    q = normalise(q)
    q = q * np.where(q[..., :1] < 0, -1.0, 1.0)
    sine = np.linalg.norm(q[..., 1:], axis=-1, keepdims=True)
    angle = 2.0 * np.arctan2(sine, q[..., :1])
    return np.where(sine > 0, angle / np.where(sine > 0, sine, 1.0), 2.0) * q[..., 1:]


def rotation_update(q: ArrayLike, theta_body: ArrayLike) -> Array:
    """q ⊗ exp(θ), normalised: q turned by θ in its own axes. q: (..., 4), theta_body: [rad], (..., 3)."""
    return normalise(multiply(q, exp(theta_body)))


def dexp(theta: ArrayLike) -> Array:
    """Right Jacobians J, exp(θ + δ) = exp(θ) ⊗ exp(J δ) to first order. theta: [rad], (..., 3).

    Returns (..., 3, 3).
    """
    theta = _as_float(theta, (3,), "the rotation vector")
    t2 = np.sum(theta * theta, axis=-1)[..., None, None]
    t = np.sqrt(t2)
    small = t < SMALL_ANGLE
    s2 = np.where(small, 1.0, t2)
    s = np.sqrt(s2)
    a = np.where(small, 0.5 - t2 / 24 + t2 * t2 / 720, 2.0 * np.sin(0.5 * s) ** 2 / s2)
    b = np.where(small, 1 / 6 - t2 / 120 + t2 * t2 / 5040, (s - np.sin(s)) / (s2 * s))
    hat = skew(theta)
    return np.eye(3) - a * hat + b * (hat @ hat)


def dexp_inverse(theta: ArrayLike) -> Array:
    """Inverses of `dexp`. theta: [rad], (..., 3), |θ| < 2π. Returns (..., 3, 3)."""
    theta = _as_float(theta, (3,), "the rotation vector")
    t2 = np.sum(theta * theta, axis=-1)[..., None, None]
    t = np.sqrt(t2)
    if not (t < 2 * np.pi).all():
        raise InputError("the rotation vector is too long", value=float(t.max()), allowed="|θ| < 2π")
    small = t < SMALL_ANGLE
    s = np.where(small, 1.0, t)
    c = np.where(small, 1 / 12 + t2 / 720 + t2 * t2 / 30240, (1 - 0.5 * s / np.tan(0.5 * s)) / (s * s))
    hat = skew(theta)
    return np.eye(3) + 0.5 * hat + c * (hat @ hat)
