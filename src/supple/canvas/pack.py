"""Pack: arrays one after another as bytes, little end first, each said by its place, count and type. Arrays that are
the same, such as the modes of copies of a body, are there once."""

from __future__ import annotations

from hashlib import blake2b
from typing import Any

import numpy as np

Array = np.ndarray
ALIGNED = 4


def padded(data: bytes) -> bytes:
    """With zeros up to a multiple of four bytes."""
    return data + bytes(-len(data) % ALIGNED)


class Pack:
    """Arrays that go to the canvas once."""

    def __init__(self) -> None:
        self.parts: list[bytes] = []
        self.size = 0
        self.known: dict[bytes, int] = {}

    def add(self, values: Any, kind: str) -> dict[str, Any]:
        """Where an array is: `at` [bytes], `count` of numbers, `type`: f4, i2, u1, u2 or u4."""
        data = np.ascontiguousarray(values, dtype=f"<{kind}" if kind != "u1" else "u1").ravel()
        part = padded(data.tobytes())
        at = self.known.setdefault(blake2b(part).digest(), self.size)
        if at == self.size:
            self.parts.append(part)
            self.size += len(part)
        return {"at": at, "count": int(data.size), "type": kind}

    def add_numbers(self, values: Any) -> dict[str, Any]:
        """Whole numbers from 0, in two bytes each where these hold them."""
        given = np.asarray(values)
        return self.add(given, "u2" if given.max(initial=0) < 1 << 16 else "u4")

    def add_scaled(self, values: Array) -> dict[str, Any]:
        """Numbers (n, m) in two bytes each, with a scale a column."""
        given = np.asarray(values, dtype=float)
        scale = largest(given)
        return {"scale": self.add(scale, "f4"), **self.add(to_shorts(given, scale), "i2")}

    @property
    def data(self) -> bytes:
        """All of it."""
        return b"".join(self.parts)


def largest(values: Array) -> Array:
    """The largest size in each column of (n, m), as it is sent: in single precision, 1 where there is nothing."""
    found = np.abs(values).max(axis=0, initial=0.0)
    return np.where(found > 0.0, found, 1.0).astype(np.float32)


def to_shorts(values: Array, scale: Array) -> Array:
    """Numbers over their scale in -1 .. 1, as whole numbers of two bytes."""
    return np.rint(np.clip(values / scale, -1.0, 1.0) * 32767).astype(np.int16)
