"""Rotations as formulas of values, for use in kernels: the same as `rotations`, one at a time.

Quaternions are tuples (w, x, y, z), vectors (x, y, z), matrices nine values row by row. Products, turns and
matrices work on scalars and SIMD lanes; what branches or needs a sine is for scalars and says so. Nothing is
checked: a zero quaternion gives values that are not finite.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import sqrt

SMALL_ANGLE2 = 1e-4
"""[rad²] Below it coefficients are series of three terms, whose error is under 1e-16 there."""


@compiled(inline=True)
def cross(a, b):
    """a × b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled(inline=True)
def quaternion_multiply(a, b):
    """a ⊗ b: first b, then a, in fixed axes."""
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by + ay * bw + az * bx - ax * bz,
        aw * bz + az * bw + ax * by - ay * bx,
    )


@compiled(inline=True)
def quaternion_conjugate(q):
    """The inverse rotation of a unit quaternion."""
    return q[0], -q[1], -q[2], -q[3]


@compiled(inline=True)
def quaternion_normalise(q):
    """q / |q|."""
    w, x, y, z = q
    s = 1.0 / sqrt(w * w + x * x + y * y + z * z)
    return s * w, s * x, s * y, s * z


@compiled(inline=True)
def quaternion_rotate(q, v):
    """v from body to world axes, q v q*, for a unit quaternion."""
    w, u = q[0], (q[1], q[2], q[3])
    a, b, c = cross(u, v)
    t = (2.0 * a, 2.0 * b, 2.0 * c)
    d, e, f = cross(u, t)
    return v[0] + w * t[0] + d, v[1] + w * t[1] + e, v[2] + w * t[2] + f  # (1.4)


@compiled(inline=True)
def quaternion_rotate_inverse(q, v):
    """v from world to body axes, q* v q, for a unit quaternion."""
    return quaternion_rotate(quaternion_conjugate(q), v)


@compiled(inline=True)
def quaternion_matrix(q):
    """Rotation matrix of a quaternion of any length but zero, as accurate as of a normalised one."""
    w, x, y, z = q
    s = 2.0 / (w * w + x * x + y * y + z * z)  # (1.5)
    sx, sy, sz = s * x, s * y, s * z
    wx, wy, wz = w * sx, w * sy, w * sz
    xx, xy, xz = x * sx, x * sy, x * sz
    yy, yz, zz = y * sy, y * sz, z * sz
    return (
        1.0 - (yy + zz), xy - wz, xz + wy,
        xy + wz, 1.0 - (xx + zz), yz - wx,
        xz - wy, yz + wx, 1.0 - (xx + yy),
    )  # fmt: skip


@compiled(inline=True)
def matrix_rotate(R, v):
    """R v."""
    return (
        R[0] * v[0] + R[1] * v[1] + R[2] * v[2],
        R[3] * v[0] + R[4] * v[1] + R[5] * v[2],
        R[6] * v[0] + R[7] * v[1] + R[8] * v[2],
    )


@compiled(inline=True)
def matrix_rotate_inverse(R, v):
    """Rᵀ v."""
    return (
        R[0] * v[0] + R[3] * v[1] + R[6] * v[2],
        R[1] * v[0] + R[4] * v[1] + R[7] * v[2],
        R[2] * v[0] + R[5] * v[1] + R[8] * v[2],
    )


@compiled(inline=True)
def matrix_quaternion(R):
    """Unit quaternion with w >= 0 of a rotation matrix, exact at any angle [Shepperd78]. Scalars only."""
    wx, wy, wz = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    xy, xz, yz = R[1] + R[3], R[2] + R[6], R[5] + R[7]
    ww, xx = 1.0 + R[0] + R[4] + R[8], 1.0 + R[0] - R[4] - R[8]  # [Shepperd78]
    yy, zz = 1.0 - R[0] + R[4] - R[8], 1.0 - R[0] - R[4] + R[8]  # [Shepperd78]
    largest = max(ww, xx, yy, zz)
    if ww == largest:
        q = (ww, wx, wy, wz)
    elif xx == largest:
        q = (wx, xx, xy, xz)
    elif yy == largest:
        q = (wy, xy, yy, yz)
    else:
        q = (wz, xz, yz, zz)
    w, x, y, z = quaternion_normalise(q)
    s = -1.0 if w < 0.0 else 1.0
    return s * w, s * x, s * y, s * z


@compiled(inline=True)
def quaternion_exp(theta):
    """Unit quaternion of a rotation vector [rad]. Scalars only."""
    x, y, z = theta
    h2 = 0.25 * (x * x + y * y + z * z)
    if h2 < SMALL_ANGLE2:
        sinc, cosine = (
            1.0 - h2 / 6.0 + h2 * h2 / 120.0,
            1.0 - h2 / 2.0 + h2 * h2 / 24.0 - h2 * h2 * h2 / 720.0,
        )
    else:
        h = math.sqrt(h2)
        sinc, cosine = math.sin(h) / h, math.cos(h)  # (1.6)
    s = 0.5 * sinc
    return cosine, s * x, s * y, s * z  # (1.6)


@compiled(inline=True)
def quaternion_log(q):
    """Rotation vector [rad], |θ| <= π, of a unit quaternion. Scalars only."""
    w, x, y, z = q
    sine = math.sqrt(x * x + y * y + z * z)
    scale = 2.0 * math.atan2(sine, abs(w)) / sine if sine > 0.0 else 2.0  # (1.7)
    s = math.copysign(scale, w)
    return s * x, s * y, s * z


@compiled(inline=True)
def rotation_update(q, theta_body):
    """q ⊗ exp(θ), normalised: q turned by θ [rad] in its own axes. Scalars only."""
    return quaternion_normalise(quaternion_multiply(q, quaternion_exp(theta_body)))  # (1.2)


@compiled(inline=True)
def dexp_apply(theta, v):
    """J(θ) v with the right Jacobian of `rotations.dexp`. Scalars only."""
    x, y, z = theta
    t2 = x * x + y * y + z * z
    if t2 < SMALL_ANGLE2:
        a, b = 0.5 - t2 / 24.0 + t2 * t2 / 720.0, 1.0 / 6.0 - t2 / 120.0 + t2 * t2 / 5040.0
    else:
        t = math.sqrt(t2)
        half = math.sin(0.5 * t)
        a, b = 2.0 * half * half / t2, (t - math.sin(t)) / (t2 * t)  # (1.8)
    c = cross(theta, v)
    d = cross(theta, c)
    return v[0] - a * c[0] + b * d[0], v[1] - a * c[1] + b * d[1], v[2] - a * c[2] + b * d[2]  # (1.8), [SDA18, eq. 143]


@compiled(inline=True)
def dexp_inverse_apply(theta, v):
    """J(θ)⁻¹ v, |θ| < 2π. Scalars only."""
    x, y, z = theta
    t2 = x * x + y * y + z * z
    if t2 < SMALL_ANGLE2:
        k = 1.0 / 12.0 + t2 / 720.0 + t2 * t2 / 30240.0
    else:
        h = 0.5 * math.sqrt(t2)
        k = (1.0 - h / math.tan(h)) / t2  # (1.9), [SDA18, eq. 144]
    c = cross(theta, v)
    d = cross(theta, c)
    return v[0] + 0.5 * c[0] + k * d[0], v[1] + 0.5 * c[1] + k * d[1], v[2] + 0.5 * c[2] + k * d[2]  # (1.9)


@compiled(inline=True)
def turn(R, a):
    """R a of a matrix and a triple."""
    return (
        R[0, 0] * a[0] + R[0, 1] * a[1] + R[0, 2] * a[2],
        R[1, 0] * a[0] + R[1, 1] * a[1] + R[1, 2] * a[2],
        R[2, 0] * a[0] + R[2, 1] * a[1] + R[2, 2] * a[2],
    )


@compiled(inline=True)
def turn_back(R, a):
    """R^T a."""
    return (
        R[0, 0] * a[0] + R[1, 0] * a[1] + R[2, 0] * a[2],
        R[0, 1] * a[0] + R[1, 1] * a[1] + R[2, 1] * a[2],
        R[0, 2] * a[0] + R[1, 2] * a[1] + R[2, 2] * a[2],
    )
