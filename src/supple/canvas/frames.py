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

from supple.algebra.dense import rotations
from supple.bodies.carried import FRAME
from supple.canvas.pack import padded, to_shorts
from supple.canvas.shapes import CarriedShape, PointsShape, Shape

Array = np.ndarray
FINEST = 65535


def encode_frame(
    shapes: Sequence[Shape], rows: Sequence[Array], number: int = 0, step: int = 0, time: float = 0.0
) -> bytes:
    """A frame of shapes. rows: of each shape its points (n, 3) [m], or the numbers (width,) that carry it, see
    `Carriers`; number: of the frame; step, time [s]: of the run."""
    parts = [struct.pack("<IId", number, step, time)]
    for shape, row in zip(shapes, rows, strict=True):
        parts.append(_of_points(shape, row) if isinstance(shape, PointsShape) else _of_carried(shape, row))
    return b"".join(parts)


def frame_size(shapes: Sequence[Shape]) -> int:
    """Bytes of a frame."""
    sizes = [16]
    for shape in shapes:
        if isinstance(shape, PointsShape):
            sizes.append(24 + 6 * shape.count)
        else:
            width = len(shape.scale_places)
            sizes.append(24 + 4 * int(shape.modes.sum()) + 14 * shape.domain_count + 2 * width)
    return sum(size + -size % 4 for size in sizes)


def _in_box(x: Array) -> tuple[Array, Array]:
    """Box (2, 3) in single precision, and places in it (n, 3)."""
    if not len(x):
        return np.zeros((2, 3), dtype=np.float32), np.zeros((0, 3), dtype=np.uint16)
    columns = np.ascontiguousarray(x.T, dtype=float)  # whole vectors at a time
    box = np.stack([columns.min(axis=1), columns.max(axis=1)]).astype(np.float32)
    low, high = box.astype(float)
    columns -= low[:, None]
    columns *= (FINEST / np.maximum(high - low, 1e-30))[:, None]
    return box, np.ascontiguousarray((np.clip(columns, 0.0, FINEST, out=columns) + 0.5).astype(np.uint16).T)


def _of_points(shape: PointsShape, x: Array) -> bytes:
    box, places = _in_box(np.asarray(x).reshape(shape.count, 3))
    return padded(box.tobytes() + places.tobytes())


def _of_carried(shape: CarriedShape, row: Array) -> bytes:
    d = shape.domain_count
    frames, q = row[: FRAME * d].astype(float).reshape(d, FRAME), row[FRAME * d :].astype(float)
    box, origins = _in_box(frames[:, :3])
    turns = rotations.from_matrix(frames[:, 3:].reshape(d, 3, 3))
    places = shape.scale_places
    scale = np.zeros(int(shape.modes.sum()))
    np.maximum.at(scale, places, np.abs(q))
    scale = np.where(scale > 0.0, scale, 1.0).astype(np.float32)
    shorts = [origins.tobytes(), to_shorts(turns, np.ones(4)).tobytes(), to_shorts(q, scale[places]).tobytes()]
    return padded(box.tobytes() + scale.tobytes() + b"".join(shorts))
