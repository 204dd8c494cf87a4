"""Momentum that rigid bodies gain in a step without contacts, and where velocities bring their frames."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import turn
from supple.algebra.dense.turning_kernels import turned


@compiled
def compute_gains(M, weight, v, h, b_out):
    """b_out (n, 6) = h weight + (0, I (w_1 - w)) of bodies M (n, 6, 6) at velocities v (n, 6), which turn to w_1."""
    for k in range(len(M)):
        I = M[k, 3:, 3:]
        w = (v[k, 3], v[k, 4], v[k, 5])
        w_1 = turned(I, w, h)  # (1.12)
        gain = turn(I, (w_1[0] - w[0], w_1[1] - w[1], w_1[2] - w[2]))
        for i in range(3):
            b_out[k, i] = h * weight[k, i]
        b_out[k, 3] = h * weight[k, 3] + gain[0]
        b_out[k, 4] = h * weight[k, 4] + gain[1]
        b_out[k, 5] = h * weight[k, 5] + gain[2]


@compiled
def compute_moved(x, way, x_out):
    """x_out (n, 7): frames x (n, 7) moved by ways (n, 6): c + d, q exp(theta), of unit length."""
    for k in range(len(x)):
        for i in range(3):
            x_out[k, i] = x[k, i] + way[k, i]  # (1.2)
        a, b, c = way[k, 3], way[k, 4], way[k, 5]
        angle = np.sqrt(a * a + b * b + c * c)
        part = 0.5 - angle * angle / 48.0 if angle < 1e-4 else np.sin(0.5 * angle) / angle
        p, q, r, s = np.cos(0.5 * angle), part * a, part * b, part * c  # (1.6)
        w, i, j, m = x[k, 3], x[k, 4], x[k, 5], x[k, 6]
        w, i, j, m = (
            w * p - i * q - j * r - m * s,
            w * q + i * p + j * s - m * r,
            w * r - i * s + j * p + m * q,
            w * s + i * r - j * q + m * p,
        )
        size = np.sqrt(w * w + i * i + j * j + m * m)
        x_out[k, 3], x_out[k, 4], x_out[k, 5], x_out[k, 6] = w / size, i / size, j / size, m / size
