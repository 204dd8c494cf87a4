"""The free turn of a rigid body in one step, which keeps the angular momentum R I w in the world:

    I w_1 = exp(-h w_1) I w_0,   R_1 = R_0 exp(h w_1)

by Newton's method, whose matrix is I - h [y]x J(h w) with y = exp(-h w) I w_0. The kinetic energy never grows: a turn
about w_1 leaves what lies along it, so w_1 . I w_0 = w_1 . I w_1, and it falls by d . I^-1 d / 2, d = I w_0 - I w_1.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import (
    cross,
    dexp_apply,
    quaternion_exp,
    quaternion_rotate_inverse,
    turn,
)

ITERATIONS, HALVINGS = 30, 10
ROUNDING, FOUND = 1e-15, 1e-10
"""Of the momentum: where Newton's method ends, and up to which it has found the turn."""


@compiled(inline=True)
def length(a):
    """|a|."""
    return math.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@compiled(inline=True)
def left_open(I, w, h, L):
    """I w - exp(-h w) L, and exp(-h w) L."""
    y = quaternion_rotate_inverse(quaternion_exp((h * w[0], h * w[1], h * w[2])), L)
    a = turn(I, w)
    return (a[0] - y[0], a[1] - y[1], a[2] - y[2]), y  # (1.12)


@compiled(inline=True)
def column(I, j, w, h, y):
    """Column j of the derivative of `left_open` by w."""
    e = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
    c = cross(y, dexp_apply((h * w[0], h * w[1], h * w[2]), e))  # (1.8)
    return I[0, j] - h * c[0], I[1, j] - h * c[1], I[2, j] - h * c[2]


@compiled
def turned(I, w0, h):
    """w_1 [rad/s] in the axes of the body at the end of a step h [s], of an inertia I (3, 3) [kg m²] and w_0 (x, y, z).

    Where Newton's method finds none, as it may beyond a radian a step, w_0: the energy stays what it was.
    """
    L = turn(I, w0)
    size = length(L)
    w = w0
    f, y = left_open(I, w, h, L)
    left = length(f)
    for _ in range(ITERATIONS):
        if not left > ROUNDING * size:
            break
        a, b, c = column(I, 0, w, h, y), column(I, 1, w, h, y), column(I, 2, w, h, y)
        bc, ca, ab = cross(b, c), cross(c, a), cross(a, b)
        det = a[0] * bc[0] + a[1] * bc[1] + a[2] * bc[2]
        if det == 0.0:
            break
        p = (f[0] * bc[0] + f[1] * bc[1] + f[2] * bc[2]) / det
        q = (f[0] * ca[0] + f[1] * ca[1] + f[2] * ca[2]) / det
        r = (f[0] * ab[0] + f[1] * ab[1] + f[2] * ab[2]) / det
        before, part = left, 1.0
        for _ in range(HALVINGS):
            new = (w[0] - part * p, w[1] - part * q, w[2] - part * r)
            f, y = left_open(I, new, h, L)
            left = length(f)
            if left < before:
                break
            part *= 0.5
        if not left < before:
            left = before
            break
        w = new
    return w if left <= FOUND * size else w0


@compiled
def compute_turned(inertia, w, h, w_out):
    """w_out (n, 3): `turned` velocities of bodies of inertia (n, 3, 3) at w (n, 3)."""
    for k in range(len(inertia)):
        w_out[k, 0], w_out[k, 1], w_out[k, 2] = turned(inertia[k], (w[k, 0], w[k, 1], w[k, 2]), h)
