"""J of contacts whose sides hang on frames, and how their ways over a step depart from h J v.

place       o + R r + s                  core r in body axes, shift s in the world's
velocity    v + R (w x r) + (R w) x s
J           I, -(R [r]x + [s]x R)        at the frame where the step's first velocities bring it
departure   R1 r - R0 r + o1 - o0 - h (v + R1 (w x r))
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled


@compiled
def compute_ahead(frames, v, h, R_out):
    """Rotations R_out (n, 2, 3, 3) of frames (n, 7) now, and after h [s] at velocities v (n, 6)."""
    for k in range(len(frames)):
        fill_matrix(frames[k, 3], frames[k, 4], frames[k, 5], frames[k, 6], R_out[k, 0])
        a, b, c = h * v[k, 3], h * v[k, 4], h * v[k, 5]
        angle = np.sqrt(a * a + b * b + c * c)
        part = 0.5 - angle * angle / 48.0 if angle < 1e-4 else np.sin(0.5 * angle) / angle
        p, q, r, s = np.cos(0.5 * angle), part * a, part * b, part * c  # (1.6)
        w, x, y, z = frames[k, 3], frames[k, 4], frames[k, 5], frames[k, 6]
        fill_matrix(
            w * p - x * q - y * r - z * s,
            w * q + x * p + y * s - z * r,
            w * r - x * s + y * p + z * q,
            w * s + x * r - y * q + z * p,
            R_out[k, 1],
        )


@compiled(inline=True)
def fill_matrix(w, x, y, z, R_out):
    """The matrix of a quaternion, of any length."""
    s = 2.0 / (w * w + x * x + y * y + z * z)  # (1.5)
    R_out[0, 0], R_out[0, 1], R_out[0, 2] = 1 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    R_out[1, 0], R_out[1, 1], R_out[1, 2] = s * (x * y + w * z), 1 - s * (x * x + z * z), s * (y * z - w * x)
    R_out[2, 0], R_out[2, 1], R_out[2, 2] = s * (x * z - w * y), s * (y * z + w * x), 1 - s * (x * x + y * y)


@compiled
def compute_carried_rows(carrier, core, shift, R, v, h, blocks_out, way_out):
    """blocks_out (k, 2, 2, 3, 3): of the linear and angular velocity of each side's carrier, the second side's with its
    sign changed; way_out (k, 3) [m]: relative departure. carrier (k, 2): rows of R (n, 2, 3, 3) and v (n, 6), or -1."""
    for m in range(len(carrier)):
        for i in range(3):
            way_out[m, i] = 0.0
        for side in range(2):
            f, sign = carrier[m, side], 1.0 - 2.0 * side
            for part in range(2):
                for i in range(3):
                    for j in range(3):
                        blocks_out[m, side, part, i, j] = sign if (part == 0 and i == j and f >= 0) else 0.0
            if f < 0:
                continue
            a, b, c = core[m, side, 0], core[m, side, 1], core[m, side, 2]
            R0, R1, s = R[f, 0], R[f, 1], shift[m, side]
            w0, w1, w2 = v[f, 3], v[f, 4], v[f, 5]
            x0, x1, x2 = h * (w1 * c - w2 * b), h * (w2 * a - w0 * c), h * (w0 * b - w1 * a)
            for i in range(3):
                turned = (R1[i, 0] - R0[i, 0]) * a + (R1[i, 1] - R0[i, 1]) * b + (R1[i, 2] - R0[i, 2]) * c
                way_out[m, i] += sign * (turned - R1[i, 0] * x0 - R1[i, 1] * x1 - R1[i, 2] * x2)  # (16.9)
                out = blocks_out[m, side, 1, i]
                out[0] = -sign * (R1[i, 1] * c - R1[i, 2] * b)  # (16.8)
                out[1] = -sign * (R1[i, 2] * a - R1[i, 0] * c)
                out[2] = -sign * (R1[i, 0] * b - R1[i, 1] * a)
            for j in range(3):
                blocks_out[m, side, 1, 0, j] -= sign * (s[1] * R1[2, j] - s[2] * R1[1, j])  # (16.8)
                blocks_out[m, side, 1, 1, j] -= sign * (s[2] * R1[0, j] - s[0] * R1[2, j])
                blocks_out[m, side, 1, 2, j] -= sign * (s[0] * R1[1, j] - s[1] * R1[0, j])
