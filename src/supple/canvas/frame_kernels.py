"""Points, frames and coordinates in two bytes a number, in compiled loops: some hundred frames a second are made of
large scenes."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import matrix_quaternion

FINEST, SHORT = 65535, 32767
"""Steps of a box along an axis, and of a signed number from 0 to 1."""


@compiled
def compute_places(x, box_out, places_out):
    """Box (2, 3) of points x (n, 3) [m], in single precision, and their places in it (n, 3)."""
    for i in range(3):
        low = high = x[0, i] if len(x) else 0.0
        for k in range(len(x)):
            low, high = min(low, x[k, i]), max(high, x[k, i])
        box_out[0, i], box_out[1, i] = low, high
        low, high = np.float64(box_out[0, i]), np.float64(box_out[1, i])
        scale = FINEST / max(high - low, 1e-30)
        for k in range(len(x)):
            at = (x[k, i] - low) * scale + 0.5
            places_out[k, i] = np.uint16(min(max(at, 0.0), FINEST + 0.5))


@compiled
def compute_turns(frames, turns_out):
    """Quaternions (d, 4) of the rotations in frames (d, 12), see `FRAME`."""
    for k in range(len(frames)):
        R = frames[k]
        q = matrix_quaternion((R[3], R[4], R[5], R[6], R[7], R[8], R[9], R[10], R[11]))
        for i in range(4):
            turns_out[k, i] = np.int16(np.rint(SHORT * min(max(q[i], -1.0), 1.0)))


@compiled
def compute_shorts(q, scale_places, scale_out, shorts_out):
    """Coordinates q (n,) over the largest size of those that share a scale, which scale_places (n,) tell: the scales
    in single precision, 1 where there is nothing."""
    scale_out[:] = 0.0
    for k in range(len(q)):
        scale_out[scale_places[k]] = max(scale_out[scale_places[k]], np.float32(abs(q[k])))
    for s in range(len(scale_out)):
        if not scale_out[s] > 0.0:
            scale_out[s] = 1.0
    for k in range(len(q)):
        part = q[k] / np.float64(scale_out[scale_places[k]])
        shorts_out[k] = np.int16(np.rint(SHORT * min(max(part, -1.0), 1.0)))
