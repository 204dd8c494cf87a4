"""Regions of a voxel grid: which voxels a condition or a load acts on.

By fractions of the workspace every voxel that the region touches belongs to it, as in VoxCAD; by index boxes, all of a
box of cells. What comes back are voxel numbers, which serve wherever voxels are chosen: fix=, filters, loads, points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_vector
from supple.errors import InputError
from supple.geometry import VoxelGrid

Array = np.ndarray
ROUND_OFF = 1e-9  # part of a voxel by which a region may overlap it and not touch it


def touched_by_box(grid: VoxelGrid, corner: ArrayLike, size: ArrayLike) -> Array:
    """Voxels that a box touches. corner, size (3,): in fractions of the grid's extent.

    >>> import numpy as np
    >>> grid = VoxelGrid(np.ones((10, 1, 1), dtype=int), 0.01)
    >>> touched_by_box(grid, (0, 0, 0), (0.15, 1, 1)).tolist()
    [0, 1]
    """
    low, extent = _fractions(corner, "corner"), _fractions(size, "size")
    if (extent < 0).any():
        raise InputError("the size is negative", where="region of a grid", value=extent.tolist(), allowed=">= 0")
    shape = np.array(grid.shape, dtype=float)
    start, stop = low * shape + ROUND_OFF, (low + extent) * shape - ROUND_OFF
    inside = (grid.voxels + 1 > start) & (grid.voxels < np.maximum(stop, start))
    return np.flatnonzero(inside.all(axis=1))


def touched_by_sphere(grid: VoxelGrid, centre: ArrayLike, radius: float) -> Array:
    """Voxels that a sphere touches. centre (3,): fractions of the extent; radius: of the longest edge.

    >>> import numpy as np
    >>> grid = VoxelGrid(np.ones((10, 1, 1), dtype=int), 0.01)
    >>> touched_by_sphere(grid, (0.5, 0.5, 0.5), 0.15).tolist()
    [3, 4, 5, 6]
    """
    shape = np.array(grid.shape, dtype=float)
    gap = _gaps(grid.voxels + 0.5 - _fractions(centre, "centre") * shape)
    return np.flatnonzero(np.einsum("ij,ij->i", gap, gap) < _radius(radius, shape) ** 2)


def touched_by_cylinder(grid: VoxelGrid, start: ArrayLike, length: ArrayLike, radius: float) -> Array:
    """Voxels that a cylinder touches. start (3,), length (3,) along one axis: fractions of the extent; radius: of the
    longest edge."""
    along = _fractions(length, "length")
    if np.count_nonzero(along) != 1:
        raise InputError("the length is not along one axis", where="cylinder", value=along.tolist())
    axis = int(np.flatnonzero(along)[0])
    shape = np.array(grid.shape, dtype=float)
    offset = grid.voxels + 0.5 - _fractions(start, "start") * shape
    across = _gaps(np.delete(offset, axis, axis=1))
    near = np.einsum("ij,ij->i", across, across) < _radius(radius, shape) ** 2
    low, high = sorted((0.0, along[axis] * shape[axis]))
    beside = (offset[:, axis] + 0.5 > low + ROUND_OFF) & (offset[:, axis] - 0.5 < high - ROUND_OFF)
    return np.flatnonzero(near & beside)


def index_box(grid: VoxelGrid, low: ArrayLike, high: ArrayLike) -> Array:
    """Voxels in a box of cells, low and high (3,) both inside; negative numbers count from the end.

    >>> import numpy as np
    >>> grid = VoxelGrid(np.ones((4, 2, 1), dtype=int), 0.01)
    >>> index_box(grid, (-1, 0, 0), (-1, -1, -1)).tolist()
    [6, 7]
    """
    shape = np.array(grid.shape)
    ends = []
    for given in (low, high):
        cell = np.asarray(given)
        if cell.shape != (3,) or not np.issubdtype(cell.dtype, np.integer):
            raise InputError("not three whole numbers", where="index_box", value=given)
        if ((cell < -shape) | (cell >= shape)).any():
            raise InputError(
                "a cell is outside the grid",
                where="index_box",
                value=cell.tolist(),
                allowed=f"0 to {(shape - 1).tolist()}",
            )
        ends.append(np.where(cell < 0, cell + shape, cell))
    return np.flatnonzero(((grid.voxels >= ends[0]) & (grid.voxels <= ends[1])).all(axis=1))


def _gaps(offset: Array) -> Array:
    """How far cells lie from a point along each axis, in voxels; offset: of their centres from it."""
    return np.maximum(np.abs(offset) - 0.5, 0.0)


def _radius(given: float, shape: Array) -> float:
    if not (np.isfinite(given) and given > 0):
        raise InputError("the radius is not positive", where="region of a grid", value=given, allowed="> 0")
    return max(float(given) * float(shape.max()) - ROUND_OFF, 0.0)


def _fractions(given: ArrayLike, name: str) -> Array:
    return check_vector(given, name=name, where="region of a grid")


def outer_layer(centres: Array, voxel_size: float, name: str) -> Array:
    """Voxels of an outermost layer, "x_min" to "z_max", of centres (n, 3) [m]."""
    layers = [f"{axis}_{end}" for axis in "xyz" for end in ("min", "max")]
    if name not in layers:
        raise InputError("no layer of that name", value=name, allowed=", ".join(layers))
    along = centres[:, "xyz".index(name[0])]
    end = along.min() if name.endswith("min") else along.max()
    return np.flatnonzero(np.abs(along - end) < 0.5 * voxel_size)
