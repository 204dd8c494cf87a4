"""Frames of voxels to and from the bricks of a sweep: their axes in the sweep's order, spins in world axes there.

bricks (tile, field, lane): position 0-2, quaternion 3-6, velocity 7-9, spin 10-12, size 13
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import quaternion_rotate, quaternion_rotate_inverse


@compiled
def load_frames(x, v, held, sizes, axes, brick, lane, fields):
    """fields <- frames x (n, 7), velocities v (n, 6), zero of those that are held, and sizes (n,)."""
    for i in range(x.shape[0]):
        tile, l = fields[brick[i]], lane[i]
        q, spin = (x[i, 3], x[i, 4], x[i, 5], x[i, 6]), (0.0, 0.0, 0.0)
        if not held[i]:
            spin = quaternion_rotate(q, (v[i, 3], v[i, 4], v[i, 5]))
        for k in range(3):
            a = axes[k]
            tile[k, l] = x[i, a]
            tile[4 + k, l] = x[i, 4 + a]
            tile[7 + k, l] = 0.0 if held[i] else v[i, a]
            tile[10 + k, l] = spin[0] if a == 0 else (spin[1] if a == 1 else spin[2])
        tile[3, l] = x[i, 3]
        tile[13, l] = sizes[i]


@compiled
def save_frames(fields, axes, brick, lane, x_out, v_out):
    """Frames x_out (n, 7) and velocities v_out (n, 6), their spins still in world axes, from fields."""
    for i in range(x_out.shape[0]):
        tile, l = fields[brick[i]], lane[i]
        for k in range(3):
            a = axes[k]
            x_out[i, a] = tile[k, l]
            x_out[i, 4 + a] = tile[4 + k, l]
            v_out[i, a] = tile[7 + k, l]
            v_out[i, 3 + a] = tile[10 + k, l]
        x_out[i, 3] = tile[3, l]


@compiled
def turn_spins(x, v_out):
    """Spins of v_out (n, 6) from world axes to those of the frames x (n, 7), in place."""
    for i in range(x.shape[0]):
        q = (x[i, 3], x[i, 4], x[i, 5], x[i, 6])
        spin = quaternion_rotate_inverse(q, (v_out[i, 3], v_out[i, 4], v_out[i, 5]))
        v_out[i, 3], v_out[i, 4], v_out[i, 5] = spin
