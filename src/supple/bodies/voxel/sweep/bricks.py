"""Laying a lattice out in bricks: which voxel lies in which lane, what lies ahead and behind, who sweeps what.

Only bricks that hold voxels are kept, so that a sparse body costs its bricks, not its bounding box; empty lanes of a
kept brick are swept in vain. The axes are turned cyclically so that the longest one is swept last, which gives the
threads layers to share; the sweep knows nothing of it. Wide layers are swept in strips, all layers of one before the
next strip, so that the layer ahead is still in the cache when its turn comes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.compiling.thread_team import make_team
from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.brick_data import (
    AT_BORDER,
    BY_REST,
    CONSTANTS,
    LINE,
    LOADS,
    PARTS,
    STATE,
    Bricks,
    Slabs,
)
from supple.bodies.voxel.sweep.brick_lanes import BRICKS, face_count

Array = np.ndarray
SLAB_LAYERS = 4  # layers a slab at least, so that the borders cost little
SLAB_BRICKS = 128  # bricks a slab at least, some 50 µs of work: less is not worth a thread
SLABS = 8  # at most
CHUNK = 8  # borders whose loads are sent at once
STRIP_BRICKS = 300  # of a layer, whose state and constants, some 2 kB each, stay in a cache of 1 MB


def aligned_zeros(size: int, dtype: np.dtype) -> Array:
    """Zeros that start at a cache line."""
    raw = np.empty(size * dtype.itemsize + 64, dtype=np.uint8)  # numpy asks for huge pages here, not for zeros
    raw.fill(0)
    start = -raw.ctypes.data % 64
    return raw[start : start + size * dtype.itemsize].view(dtype)


@dataclass(frozen=True, eq=False)
class Layout:
    """axes: the body's axes in the order of the sweep. brick, lane (n,): where each voxel lies.

    ahead, behind (3, count): the bricks ahead and behind along the axes of the sweep, count where there is none.
    """

    axes: tuple[int, int, int]
    brick: Array
    lane: Array
    bricks: Bricks
    slabs: Slabs
    ahead: Array
    behind: Array

    @classmethod
    def make(cls, model: VoxelModel, dtype: np.dtype) -> Layout:
        """Lay out a model; constants and state are still zero."""
        W = lane_count(dtype)
        last = int(np.argmax(model.cells.max(axis=0)))
        axes = ((last + 1) % 3, (last + 2) % 3, last)
        cells = model.cells[:, axes]
        size = np.array(BRICKS[W])
        place, inside = cells // size, cells % size
        shape = place.max(axis=0) + 1
        keys, brick = np.unique((place[:, 2] * shape[1] + place[:, 1]) * shape[0] + place[:, 0], return_inverse=True)
        lane = (inside[:, 2] * size[1] + inside[:, 1]) * size[0] + inside[:, 0]
        count = len(keys)
        bx, by, bz = keys % shape[0], keys // shape[0] % shape[1], keys // (shape[0] * shape[1])
        start, slab = share_out(bz)
        width = strip_width(shape)
        order = np.lexsort((bx, by, bz, by // width, slab))
        number = np.empty(count, dtype=np.int64)
        number[order] = np.arange(count)
        bx, by, bz, slab, brick = bx[order], by[order], bz[order], slab[order], number[brick.ravel()]

        def found(dx: int, dy: int, dz: int) -> Array:
            """Number of the brick so far away, or -1."""
            x, y, z = bx + dx, by + dy, bz + dz
            exists = (x >= 0) & (x < shape[0]) & (y >= 0) & (y < shape[1]) & (z >= 0) & (z < shape[2])
            wanted = (z * shape[1] + y) * shape[0] + x
            at = np.minimum(np.searchsorted(keys, wanted), count - 1)
            return np.where(exists & (keys[at] == wanted), number[at], -1)

        void, column = count, by * shape[0] + bx
        steps = np.eye(3, dtype=int)
        near = np.array([[found(*(sign * step)) for step in steps] for sign in (1, -1)])
        ahead, behind = np.where(near >= 0, near, void)
        below, back = near[1, 2], near[1, 1]
        edge = np.zeros(count)
        edge[brick] = model.size
        none = np.zeros(0, dtype=dtype)
        slab_count = len(start) - 1
        row, row_behind, row_count = row_places(bx, by, bz - np.minimum.reduceat(bz, start[:-1])[slab], shape, width)
        no_row = slab_count * row_count
        linked = linked_axes(model, axes, brick, count)
        same = (below >= 0) & (slab[below] == slab)
        above = np.flatnonzero((below >= 0) & ~same & (linked[below] & 4 > 0))  # bricks held by another slab below
        linked[above] |= AT_BORDER
        linked[below[above]] |= AT_BORDER
        linked[brick[model.by_rest]] |= BY_REST
        crossing = np.full(count, -1)
        crossing[below[above]] = np.arange(len(above))
        first_border = slab_count * int(shape[0] * shape[1])
        column += slab * int(shape[0] * shape[1])
        column_behind = np.where(same, column, first_border + len(above))
        column_behind[above] = first_border + np.arange(len(above))
        tiles, face = count + 1, face_count(dtype)
        bricks = Bricks(
            state=aligned_zeros(tiles * STATE * W, dtype),
            constants=aligned_zeros(count * CONSTANTS * W, dtype),
            edge=edge,
            loads=none,
            swings=none,
            contact=none,
            shifts=none,
            skin=none,
            guide=_int(none),
            guides=none,
            next_x=_int(ahead[0]),
            next_y=_int(ahead[1]),
            next_z=_int(np.where(crossing >= 0, void, ahead[2])),
            crossing=_int(crossing),
            follows=_int(near[1, 0] >= 0),
            row=_int(slab * row_count + row),
            row_behind=_int(np.where(back >= 0, slab * row_count + row_behind, no_row)),
            column=_int(column),
            column_behind=_int(column_behind),
            linked=linked,
        )
        buffers = Slabs(
            start=start,
            rows=aligned_zeros((no_row + 1) * LOADS * W, dtype),
            columns=aligned_zeros((first_border + len(above) + 1) * LOADS * W, dtype),
            row_count=row_count,
            below=_int(below[above]),
            above=_int(above),
            first_border=first_border,
            moments=aligned_zeros(len(above) * 3 * W, dtype),
            **border_chunks(slab[above], slab_count),
            faces=aligned_zeros(len(above) * STATE * face, dtype),
            across=aligned_zeros(len(above) * LOADS * face, dtype),
            turns=aligned_zeros((slab_count + 2) * LINE, np.dtype(np.int64)),
            scratch=aligned_zeros(slab_count * 8 * W, dtype),
            peaks=aligned_zeros(slab_count * 2 * W, dtype),
            team=make_team(max(slab_count, PARTS)),
        )
        bricks.state.reshape(tiles, STATE, W)[:, 3] = 1.0  # no rotation, in empty lanes too
        return cls(axes, brick, lane, bricks, buffers, _int(ahead), _int(behind))

    @property
    def lanes(self) -> int:
        """W."""
        return lane_count(self.bricks.state.dtype)

    def fields(self, array: Array, count: int) -> Array:
        """A flat array of tiles as (tile, field, lane)."""
        return array.reshape(-1, count, self.lanes)

    def tiles(self, values: Array) -> Array:
        """Values (n, count) of the voxels as a new flat array of tiles."""
        count = values.shape[1]
        array = aligned_zeros(len(self.bricks.row) * count * self.lanes, self.bricks.state.dtype)
        self.fields(array, count)[self.brick, :, self.lane] = values
        return array

    @cached_property
    def base_loads(self) -> Array:
        """The loads of the bricks, zeros where none are set; not to be written to."""
        return self.bricks.loads if self.bricks.loads.size else self.tiles(np.zeros((len(self.brick), LOADS)))

    @property
    def fill(self) -> float:
        """Part of the lanes that hold a voxel."""
        return len(self.brick) / (len(self.bricks.row) * self.lanes)

    @property
    def nbytes(self) -> int:
        """Memory of all arrays [B]."""
        arrays = (*self.bricks, *self.slabs)
        return sum(a.nbytes for a in arrays if isinstance(a, np.ndarray))


def _int(values: Array) -> Array:
    return np.ascontiguousarray(values, dtype=np.int32)


def linked_axes(model: VoxelModel, axes: tuple[int, int, int], brick: Array, count: int) -> Array:
    """Along which axes of the sweep links lead from a voxel of each brick, (count,); brick (n,): of each voxel."""
    linked = np.zeros((count, 3), dtype=bool)
    for k, axis in enumerate(axes):
        linked[brick[model.link_voxels[model.link_axis == axis, 0]], k] = True
    return _int(linked @ [1, 2, 4])


def share_out(layer: Array) -> tuple[Array, Array]:
    """First brick of each slab, and the slab of each brick: whole layers, about equally many bricks a slab, and a power
    of two of slabs, so that two or four threads have equally many.

    layer (count,): ascending.
    """
    most = int(np.clip(min((layer[-1] + 1) // SLAB_LAYERS, len(layer) // SLAB_BRICKS), 1, SLABS))
    slab_count = 1 << (most.bit_length() - 1)
    first = np.flatnonzero(np.r_[True, np.diff(layer) > 0])  # first brick of each layer
    ends = np.arange(1, slab_count) * len(layer) / slab_count
    cuts = np.unique(first[np.argmin(np.abs(first[:, None] - ends), axis=0)])
    start = np.r_[0, cuts[cuts > 0], len(layer)].astype(np.int64)
    return start, np.repeat(np.arange(len(start) - 1), np.diff(start))


def strip_width(shape: Array) -> int:
    """Rows of bricks in a strip; all of them where a layer fits in the cache."""
    width = max(1, STRIP_BRICKS // int(shape[0]))
    return int(shape[1]) if shape[1] <= 1.5 * width else width


def row_places(bx: Array, by: Array, layer: Array, shape: Array, width: int) -> tuple[Array, Array, int]:
    """Where bricks leave their loads along y, where those of the row before lie, and how many places there are.

    A row inside a strip serves the next one at once; the last one of a strip is kept for the next strip, by layer.
    """
    nx = int(shape[0])
    if width >= shape[1]:
        return bx, bx, nx
    kept = nx + layer * nx + bx
    row = np.where(by % width == width - 1, kept, bx)
    row_behind = np.where(by % width == 0, kept, bx)
    return row, row_behind, nx + (int(layer.max()) + 1) * nx


def border_chunks(upper: Array, slab_count: int) -> dict[str, Array]:
    """Chunks of borders, see `Slabs`; upper (k,): the slab above each border, ascending."""
    first, stop = (np.searchsorted(upper, np.arange(slab_count), side=side) for side in ("left", "right"))
    starts = np.concatenate([np.arange(a, b, CHUNK) for a, b in zip(first, stop)])
    slab_chunks = np.searchsorted(upper[starts], np.arange(slab_count + 1))
    chunk_start = np.r_[starts, len(upper)].astype(np.int64)
    return {
        "chunk": np.repeat(np.arange(len(starts)), np.diff(chunk_start)),
        "chunk_start": chunk_start,
        "slab_chunks": np.r_[slab_chunks, len(starts)].astype(np.int64),
        "passed": aligned_zeros(2 * len(starts) * LINE, np.dtype(np.int64)),
    }
