"""Structured blocks of cells: node numbers, hexes, and Kuhn's six tets a cell, which fit their neighbours.

Nodes are numbered with z fastest, then y, then x, so that a long body along x has neighbours near each other.
The six tets of a cell share the cell's main diagonal; where cells are mirrored the diagonal is mirrored too,
and the face diagonals of neighbours still agree because a mirrored face is its own image.
"""

from __future__ import annotations

import numpy as np

from supple.errors import InputError, is_finite, is_number
from supple.geometry.meshes.region import FloatArray, IntArray

_HEX_STEPS = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1]])
_KUHN = np.array([[0, 1, 2, 6], [0, 2, 3, 6], [0, 3, 7, 6], [0, 7, 4, 6], [0, 4, 5, 6], [0, 5, 1, 6]])
MAX_CELLS = 50_000_000


def check_cells(cells: tuple[int, ...]) -> tuple[int, ...]:
    """Positive whole numbers of cells, not more than fit in memory."""
    if any(not (is_number(c) and is_finite(c)) or c < 1 or c % 1 for c in cells):
        raise InputError("a number of cells is not a positive whole number", value=cells)
    if np.prod([float(c) for c in cells]) > MAX_CELLS:
        raise InputError("there are too many cells", value=cells, allowed=f"{MAX_CELLS} in all")
    return tuple(int(c) for c in cells)


def lattice(axes: tuple[FloatArray, FloatArray, FloatArray]) -> FloatArray:
    """Positions of a block's nodes (n, 3) from the coordinates along the three axes."""
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def block_cells(cells: tuple[int, ...]) -> IntArray:
    """Integer coordinates of all cells of a block, (cell_count, 3), z fastest."""
    return np.stack(np.meshgrid(*(np.arange(c) for c in cells), indexing="ij"), axis=-1).reshape(-1, 3)


def cell_hexes(cell: IntArray, cells: tuple[int, ...], *, mirror: IntArray | None = None) -> IntArray:
    """Hexes (k, 8) of cells (k, 3) of a block of `cells`, in VTK's order.

    mirror: (k, 3) of 0 and 1, along which axes to number the cell's corners backwards, for `kuhn_tets`.
    """
    steps = _HEX_STEPS[None] if mirror is None else _HEX_STEPS[None] ^ mirror[:, None]
    corner = cell[:, None] + steps
    ny, nz = cells[1] + 1, cells[2] + 1
    return (corner[..., 0] * ny + corner[..., 1]) * nz + corner[..., 2]


def kuhn_tets(hexes: IntArray) -> IntArray:
    """Six tets a hex, (6k, 4), around the diagonal from its first to its seventh node."""
    return hexes[:, _KUHN].reshape(-1, 4)
