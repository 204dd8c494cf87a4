"""Texts of a record lie in heaps of HDF5, whose reader (2.0.0) never ends where an object of a heap takes no bytes.

So every heap is looked at as it is read. A collection is "GCOL", a version, its bytes in all, then its objects: number
(2 bytes), uses (2), 4 that are reserved, size (8), and so many bytes, rounded up to a multiple of 8. Number 0 is what
is free, its header counted in its size.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path
from typing import Any

SIGNATURE = b"GCOL"
HEAD = struct.Struct("<4sB3xQ")
OBJECT = struct.Struct("<HH4xQ")


class GuardedFile(io.FileIO):
    """A file for h5py to read from, which raises ValueError where a heap is damaged."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")

    def readinto(self, buffer: Any, /) -> int:
        """Fill a buffer; HDF5 reads a heap alone, from its signature on."""
        found = super().readinto(buffer) or 0
        read = memoryview(buffer).cast("B")[:found]
        if read[:4] == SIGNATURE:
            check_heap(read)
        return found


def check_heap(read: memoryview) -> None:
    """Refuse a collection whose objects do not fill it one after another; read: as many of its bytes as were read."""
    if len(read) < HEAD.size:
        raise ValueError("a heap of texts is cut short")
    _, _, whole = HEAD.unpack_from(read)
    place = HEAD.size
    while place + OBJECT.size <= min(whole, len(read)):
        number, _, size = OBJECT.unpack_from(read, place)
        taken = size if number == 0 else OBJECT.size + -(-size // 8) * 8
        if taken < OBJECT.size or place + taken > whole:
            raise ValueError("a heap of texts is damaged")
        place += taken


def check_heaps(path: Path) -> None:
    """Refuse a record with a damaged heap, before it is opened to be written."""
    import h5py

    def read(name: str, found: Any) -> None:
        for key in found.attrs:
            _ = found.attrs[key]

    with GuardedFile(path) as guarded, h5py.File(guarded, "r") as file:
        read("/", file)
        file.visititems(read)
