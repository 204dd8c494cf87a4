"""Arrays in files that strangers made: NumPy's `.npz`, tables of numbers as text, and Matrix Market."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import scipy.io

from supple.errors import FileFormatError
from supple.geometry.files.file_guard import (
    check_claim,
    check_size,
    guarded,
    open_plain,
    read_bytes,
    read_text,
)

Array = np.ndarray
SMALLER = "Give the arrays in Python instead."


def load_npz(path: Path) -> dict[str, Array]:
    """The arrays of a `.npz` file, never pickled objects; refuses what would unpack to more than `MAX_BYTES`."""
    with open_plain(path) as file, guarded(path, "an .npz file of arrays"):
        with zipfile.ZipFile(file) as archive:
            check_size(sum(entry.file_size for entry in archive.infolist()), path, fix=SMALLER)
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            return {name: arrays[name] for name in arrays.files}


def load_table(path: Path) -> Array:
    """Rows of numbers, separated by blanks, as `numpy.savetxt` writes them: (rows, columns)."""
    text = read_text(path)
    with guarded(path, "a table of numbers"):
        return np.loadtxt(io.StringIO(text), ndmin=2)


def load_matrix_market(path: Path, size: int) -> Any:
    """A matrix (size, size) of numbers in Matrix Market's text, sparse or dense as the file has it."""
    data = read_bytes(path)
    with guarded(path, "a Matrix Market file"):
        rows, columns, entries, *_ = scipy.io.mminfo(io.BytesIO(data))
        if (rows, columns) != (size, size):
            shape = f"({size}, {size})"
            raise FileFormatError("the matrix does not fit", where=path.name, value=(rows, columns), allowed=shape)
        check_claim(entries, len(data), "entries", path.name)
        return scipy.io.mmread(io.BytesIO(data))
