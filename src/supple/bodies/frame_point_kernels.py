"""Kernels of points fixed to rigid frames: where they are, and how fast. Symbols as in `mappings.FramePoints`."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross, quaternion_rotate


@compiled
def compute_places(x, frame, local, out):
    """out (n, 3) = o + R r of frames x (m, 7)."""
    for i in range(len(frame)):
        f = frame[i]
        q = (x[f, 3], x[f, 4], x[f, 5], x[f, 6])
        r = quaternion_rotate(q, (local[i, 0], local[i, 1], local[i, 2]))
        for k in range(3):
            out[i, k] = x[f, k] + r[k]


@compiled
def compute_velocities(R, v, frame, local, out):
    """out (n, 3) = v_o + R (w × r) of rotations R (m, 3, 3) and velocities v (m, 6)."""
    for i in range(len(frame)):
        f = frame[i]
        u = cross((v[f, 3], v[f, 4], v[f, 5]), (local[i, 0], local[i, 1], local[i, 2]))
        for k in range(3):
            out[i, k] = v[f, k] + (R[f, k, 0] * u[0] + R[f, k, 1] * u[1] + R[f, k, 2] * u[2])  # (3.3)
