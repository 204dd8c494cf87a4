"""VegaFEM's binary files of reduced models, both ways.

    matrix (`.U`, `.Ulin`, ...)   int32 rows, int32 columns, then float64 column by column
    `.cub`                        int32 r, r, r (r+1)/2, r (r+1)(r+2)/6, then float64 linear, quadratic and cubic
                                  coefficients, each output component contiguous, i <= j <= k lexicographic

All numbers are little-endian. The size a header claims must be the size of the file; nothing is allocated before that
is known. Numbers that are not finite are refused.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from supple.errors import FileFormatError, InputError
from supple.geometry.files.file_guard import MAX_BYTES, open_plain
from supple.modal.forces.cubic import CubicForce

Array = np.ndarray


def _header(path: Path, count: int) -> tuple[list[int], int]:
    """The first `count` int32 of a file, and the file's size in bytes."""
    with open_plain(path) as file:
        size, head = os.fstat(file.fileno()).st_size, file.read(4 * count)
    if size > MAX_BYTES:
        allowed = f"{MAX_BYTES} bytes"
        raise FileFormatError("the file is too large", where=path.name, value=f"{size} bytes", allowed=allowed)
    if len(head) < 4 * count:
        raise FileFormatError("the file is too short for its header", where=path.name, value=f"{size} bytes")
    return [int(n) for n in np.frombuffer(head, dtype="<i4")], size


def _body(path: Path, header: int, count: int, size: int) -> Array:
    """`count` float64 after `header` int32; refuses any other size of the file."""
    expected = 4 * header + 8 * count
    if size != expected:
        kind = "cut short" if size < expected else "longer than its header says"
        raise FileFormatError(
            f"the file is {kind}", where=path.name, value=f"{size} bytes", allowed=f"{expected} bytes by its header"
        )
    numbers = np.fromfile(path, dtype="<f8", count=count, offset=4 * header).astype(np.float64, copy=False)
    if len(numbers) != count or not np.isfinite(numbers).all():
        raise FileFormatError("the file holds numbers that are not finite", where=path.name)
    return numbers


def load_matrix(path: str | Path) -> Array:
    """A matrix file such as a basis `.U`: (rows, columns)."""
    path = Path(path)
    (rows, columns), size = _header(path, 2)
    if rows < 1 or columns < 1:
        raise FileFormatError("the matrix has no rows or no columns", where=path.name, value=(rows, columns))
    return np.ascontiguousarray(_body(path, 2, rows * columns, size).reshape(columns, rows).T)


def save_matrix(path: str | Path, matrix: Array) -> None:
    """Write a matrix (rows, columns) as VegaFEM reads it."""
    matrix = np.asarray(matrix, dtype=np.float64)
    if matrix.ndim != 2 or not matrix.size or not np.isfinite(matrix).all() or max(matrix.shape) >= 2**31:
        raise InputError("this is no finite matrix that a file can hold", where="save_matrix", value=matrix.shape)
    _write(Path(path), matrix.shape, [matrix.T])


def load_basis(path: str | Path, node_count: int) -> Array:
    """A basis file `.U` of a mesh of `node_count` nodes, (3 node_count, r)."""
    U = load_matrix(path)
    if U.shape[0] != 3 * node_count:
        raise FileFormatError(
            "the basis does not fit the mesh",
            where=Path(path).name,
            value=f"{U.shape[0]} rows",
            allowed=f"{3 * node_count}, three a node",
        )
    return U


def load_cub(path: str | Path) -> CubicForce:
    """The coefficients of a reduced St. Venant-Kirchhoff force."""
    path = Path(path)
    head, size = _header(path, 4)
    r = head[0]
    sizes = [r, r * (r + 1) // 2, r * (r + 1) * (r + 2) // 6]
    if r < 1 or head[1:] != sizes:
        raise FileFormatError(
            "the sizes of the polynomial do not belong together",
            where=path.name,
            value=tuple(head),
            allowed="r, r, r (r+1)/2, r (r+1)(r+2)/6",
        )
    numbers = _body(path, 4, r * sum(sizes), size)
    parts = np.split(numbers, np.cumsum([r * n for n in sizes[:2]]))
    return CubicForce(*(part.reshape(r, n) for part, n in zip(parts, sizes, strict=True)))


def save_cub(path: str | Path, force: CubicForce) -> None:
    """Write the coefficients of a reduced force as VegaFEM reads them."""
    parts = [force.linear, force.quadratic, force.cubic]
    if not all(np.isfinite(part).all() for part in parts):
        raise InputError("a coefficient is not finite", where="save_cub")
    _write(Path(path), (force.count, *(part.shape[1] for part in parts)), parts)


def _write(path: Path, head: tuple[int, ...], parts: list[Array]) -> None:
    try:
        with path.open("wb") as file:
            file.write(np.array(head, dtype="<i4").tobytes())
            for part in parts:
                file.write(np.ascontiguousarray(part, dtype="<f8").tobytes())
    except OSError as error:
        raise InputError(f"the file cannot be written: {error.strerror}", where=str(path)) from error
