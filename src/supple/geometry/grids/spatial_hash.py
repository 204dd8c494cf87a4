"""A uniform grid of cells that lists, for each cell, the boxes that touch it: counting sort, two passes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.geometry.meshes.region import FloatArray, IntArray


class CellGrid(NamedTuple):
    """Boxes by cell. origin: corner [m], (3,). inverse_size: cells a metre. shape: cells along x, y, z, (3,).

    Cell c holds the boxes items[start[c]:start[c + 1]], ascending; start: (cell_count + 1,).
    """

    origin: FloatArray
    inverse_size: float
    shape: IntArray
    start: IntArray
    items: IntArray


def make_cell_grid(lower: FloatArray, upper: FloatArray) -> CellGrid:
    """The grid of boxes with corners lower and upper [m], (m, 3); cells about as large as a mean box."""
    origin, extent = lower.min(axis=0), upper.max(axis=0) - lower.min(axis=0)
    size = max(float((upper - lower).mean()), float(extent.max()) / 1024, 1e-300)
    while np.prod(np.floor(extent / size) + 1) > 4 * len(lower) + 64:
        size *= 1.25
    shape = (np.floor(extent / size) + 1).astype(np.int64)
    start = np.zeros(int(shape.prod()) + 1, np.int64)
    count_box_cells(lower, upper, origin, 1 / size, shape, start)
    items = np.empty(int(start[-1]), np.int64)
    fill_box_cells(lower, upper, origin, 1 / size, shape, start, items)
    return CellGrid(origin, 1 / size, shape, start, items)


@compiled
def cell_index(x: float, origin: float, inverse_size: float, count: int) -> int:
    """The cell along one axis that holds coordinate x, clamped to the grid."""
    return min(max(int((x - origin) * inverse_size), 0), count - 1)


@compiled
def count_box_cells(
    lower: FloatArray,
    upper: FloatArray,
    origin: FloatArray,
    inverse_size: float,
    shape: IntArray,
    start_out: IntArray,
) -> None:
    """Offsets of the cells' lists, (cell_count + 1,), zeros on entry."""
    for i in range(len(lower)):
        x0 = cell_index(lower[i, 0], origin[0], inverse_size, shape[0])
        x1 = cell_index(upper[i, 0], origin[0], inverse_size, shape[0])
        y0 = cell_index(lower[i, 1], origin[1], inverse_size, shape[1])
        y1 = cell_index(upper[i, 1], origin[1], inverse_size, shape[1])
        z0 = cell_index(lower[i, 2], origin[2], inverse_size, shape[2])
        z1 = cell_index(upper[i, 2], origin[2], inverse_size, shape[2])
        for x in range(x0, x1 + 1):
            for y in range(y0, y1 + 1):
                for z in range(z0, z1 + 1):
                    start_out[(x * shape[1] + y) * shape[2] + z + 1] += 1
    for c in range(len(start_out) - 1):
        start_out[c + 1] += start_out[c]


@compiled
def fill_box_cells(
    lower: FloatArray,
    upper: FloatArray,
    origin: FloatArray,
    inverse_size: float,
    shape: IntArray,
    start: IntArray,
    items_out: IntArray,
) -> None:
    """The lists themselves; `start` is advanced while filling and restored at the end."""
    for i in range(len(lower)):
        x0 = cell_index(lower[i, 0], origin[0], inverse_size, shape[0])
        x1 = cell_index(upper[i, 0], origin[0], inverse_size, shape[0])
        y0 = cell_index(lower[i, 1], origin[1], inverse_size, shape[1])
        y1 = cell_index(upper[i, 1], origin[1], inverse_size, shape[1])
        z0 = cell_index(lower[i, 2], origin[2], inverse_size, shape[2])
        z1 = cell_index(upper[i, 2], origin[2], inverse_size, shape[2])
        for x in range(x0, x1 + 1):
            for y in range(y0, y1 + 1):
                for z in range(z0, z1 + 1):
                    c = (x * shape[1] + y) * shape[2] + z
                    items_out[start[c]] = i
                    start[c] += 1
    for c in range(len(start) - 1, 0, -1):
        start[c] = start[c - 1]
    start[0] = 0
