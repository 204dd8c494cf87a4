"""Frames: where all shapes are at one moment, as bytes.

    number, step (u4, u4), time (f8)                 16 bytes
    of points     box (f4, 2 x 3), then x in the box (u2, 3 each), padded to four bytes
    of carried    box (f4, 2 x 3), scales of the modes of kinds (f4), then of all domains o in the box (u2, 3 each),
                  quaternions (i2, 4 each: w x y z over 1), coordinates over their scales (i2), padded

The box is that of the points or of the origins at this moment: x = low + u / 65535 (high - low).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from supple.bodies.carried import FRAME
from supple.canvas.frame_kernels import compute_places, compute_shorts, compute_turns
from supple.canvas.shapes import CarriedShape, PointsShape, Shape

Array = np.ndarray
HEAD = struct.Struct("<IId")


def encode_frame(
    shapes: Sequence[Shape], rows: Sequence[Array], number: int = 0, step: int = 0, time: float = 0.0
) -> bytes:
    """A frame of shapes. rows: of each shape its points (n, 3) [m], or the numbers (width,) that carry it, see
    `Carriers`; number: of the frame; step, time [s]: of the run."""
    out = np.zeros(frame_size(shapes), dtype=np.uint8)
    HEAD.pack_into(out.data, 0, number, step, time)
    at = HEAD.size
    for shape, row in zip(shapes, rows, strict=True):
        values = np.ascontiguousarray(row, dtype=np.float64)
        end = at + shape_size(shape)
        if isinstance(shape, PointsShape):
            _put_points(values.reshape(shape.count, 3), out[at:end])
        else:
            _put_carried(shape, values, out[at:end])
        at = end
    return out.tobytes()


def frame_size(shapes: Sequence[Shape]) -> int:
    """Bytes of a frame."""
    return HEAD.size + sum(map(shape_size, shapes))


def shape_size(shape: Shape) -> int:
    """Bytes of a shape in a frame, padded."""
    if isinstance(shape, PointsShape):
        size = 24 + 6 * shape.count
    else:
        size = 24 + 4 * shape.scale_count + 14 * shape.domain_count + 2 * len(shape.scale_places)
    return size + -size % 4


def _put_points(x: Array, out: Array) -> None:
    compute_places(x, out[:24].view(np.float32).reshape(2, 3), out[24 : 24 + 2 * x.size].view(np.uint16).reshape(-1, 3))


def _put_carried(shape: CarriedShape, row: Array, out: Array) -> None:
    d, n, scales = shape.domain_count, len(shape.scale_places), shape.scale_count
    frames, q = row[: FRAME * d].reshape(d, FRAME), row[FRAME * d :]
    box, scale = np.split(out[: 24 + 4 * scales].view(np.float32), [6])
    shorts = out[24 + 4 * scales :][: 14 * d + 2 * n]
    places, turns = shorts[: 6 * d].view(np.uint16), shorts[6 * d : 14 * d].view(np.int16)
    compute_places(np.ascontiguousarray(frames[:, :3]), box.reshape(2, 3), places.reshape(d, 3))
    compute_turns(frames, turns.reshape(d, 4))
    compute_shorts(q, shape.scale_places, scale, shorts[14 * d :].view(np.int16))
