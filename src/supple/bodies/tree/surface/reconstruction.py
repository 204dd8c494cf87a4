"""`Reconstruction`: all deformed points of a tree in the world, from its coordinates and frames, to look at.

    x = o + s R (X + U q),    then the mean over points that were one before the cut

Copies of a class share X and U; U is read once a call however many there are. In float32 that is 12 r bytes a point of
a class. The physics (pulls, contact) goes through `DomainPoints`, which stay in double.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.tree.domains.welds import weld_groups
from supple.bodies.tree.kinematics import TreeMotion
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface import reconstruction_kernels as kernels
from supple.errors import InputError

Array = np.ndarray
TILE_BYTES = 16_384
"""Of U that an item of work holds."""
MAX_COPIES = 64
"""Of an item of work."""
MANY_POINTS = 20_000
"""From which threads pay."""


class PointArrays(NamedTuple):
    """Classes as of `reconstruction_kernels`, flat, with starts; items (k, 5): class, blocks and copies from-to.

    copies: domains, class by class. kind (d,): their classes; first, q_start (d,): where points and coordinates of a
    domain begin.
    """

    X: Array
    U: Array
    X_start: Array
    U_start: Array
    r: Array
    total: Array
    items: Array
    copies: Array
    kind: Array
    first: Array
    q_start: Array


@dataclass(frozen=True, eq=False)
class Reconstruction:
    """Points of a model in the order of its domains. seams, group_start: as of `TreeSkin`.

    >>> from supple.examples.shapes import flower
    >>> Reconstruction.volume(TreeModel.of(flower())).count > 2000
    True
    """

    model: TreeModel
    arrays: PointArrays
    seams: Array
    group_start: Array

    @classmethod
    def of(
        cls,
        model: TreeModel,
        classes: Sequence[tuple[Array, Array]],
        *,
        seams: Array,
        group_start: Array,
        dtype: Any = np.float64,
    ) -> Reconstruction:
        """Of X (m, 3) and U (m, 3, r) of each class. dtype: float32 or float64, of U and of the positions."""
        if np.dtype(dtype) not in (np.float32, np.float64):
            raise InputError("points are in single or double precision", value=dtype, allowed="float32, float64")
        return cls(model, _pack(model, classes, np.dtype(dtype)), seams, group_start)

    @classmethod
    def volume(cls, model: TreeModel, *, dtype: Any = np.float64) -> Reconstruction:
        """Of all nodes of all domains' meshes."""
        classes = [(c.nodes, c.U.reshape(len(c.nodes), 3, c.count)) for c in model.classes]
        rows = [{k: k for k in range(len(c.nodes))} for c in model.classes]
        counts = np.array([len(c.nodes) for c in model.classes])[model.domain_class]
        seams, group_start = weld_groups(model, rows, np.concatenate([[0], np.cumsum(counts)]))
        return cls.of(model, classes, seams=seams, group_start=group_start, dtype=dtype)

    @property
    def count(self) -> int:
        """Number of points."""
        return int(self.arrays.first[-1])

    @property
    def bytes_read(self) -> int:
        """X and U of all classes [B]: what a call reads from memory, besides coordinates and frames."""
        return int(self.arrays.X.nbytes + self.arrays.U.nbytes)

    def positions(self, motion: TreeMotion, out: Array | None = None) -> Array:
        """World positions (count, 3) [m] at the coordinates and frames of a motion. out: scratch to write them to."""
        return self.place(motion.q, motion.R, motion.o, out)

    def place(self, q: Array, R: Array, o: Array, out: Array | None = None) -> Array:
        """World positions (count, 3) [m] from q (n,), rotations R (d, 3, 3) and origins o (d, 3) [m] of all domains."""
        dtype, d = self.arrays.U.dtype, self.model.domain_count
        if q.shape != (self.model.coordinate_count,) or R.shape != (d, 3, 3) or o.shape != (d, 3):
            raise InputError("the state does not fit the tree", where="Reconstruction", value=(q.shape, R.shape))
        out = np.empty((self.count, 3), dtype) if out is None else out
        if out.shape != (self.count, 3) or out.dtype != dtype or not out.flags.c_contiguous:
            raise InputError(
                "the scratch does not fit the points", value=(out.shape, out.dtype), allowed=f"({self.count}, 3)"
            )
        turn = (R * self.model.scale[:, None, None]).astype(dtype).ravel()
        threaded = numba.get_num_threads() > 1 and self.count >= MANY_POINTS
        work = kernels.place_points_parallel if threaded else kernels.place_points
        flat = out.reshape(-1)
        work(self.arrays, q.astype(dtype), turn, o.astype(dtype).ravel(), lane_count(dtype), flat)
        kernels.project_seams(self.seams, self.group_start, flat)
        return out

    def seen(self, q: Array, R: Array, o: Array) -> Array:
        """World positions in single precision, (count, 3) [m], from q (n,), rotations R (d, 9) and origins o (d, 3) [m]
        of all domains, in double precision as what places them."""
        out = np.empty((self.count, 3), dtype=np.float32)
        kernels.place_seen(self._handed, q, R, self.model.scale, o, lane_count(np.float64), out.reshape(-1))
        return out

    @cached_property
    def _handed(self) -> ByAddress:
        return ByAddress(self.arrays)


def _pack(model: TreeModel, classes: Sequence[tuple[Array, Array]], dtype: np.dtype) -> PointArrays:
    width = lane_count(dtype)
    flat_X, flat_U, items, r_of, counts = [], [], [], [], []
    copies: list[Array] = []
    for number, (X, U) in enumerate(classes):
        m, r = len(X), U.shape[2]
        blocks = -(-m // width)
        padded_X, padded_U = np.zeros((blocks * width, 3), dtype), np.zeros((blocks * width, 3, r), dtype)
        padded_X[:m], padded_U[:m] = X, U
        flat_X.append(padded_X.reshape(blocks, width, 3).swapaxes(1, 2).ravel())
        flat_U.append(padded_U.reshape(blocks, width, 3, r).transpose(0, 3, 2, 1).ravel())
        tile = max(1, TILE_BYTES // max(1, 3 * r * width * dtype.itemsize))
        members, done = model.members(number), sum(len(c) for c in copies)
        for block in range(0, blocks, tile):
            for copy in range(0, len(members), MAX_COPIES):
                last = min(copy + MAX_COPIES, len(members))
                items.append((number, block, min(block + tile, blocks), done + copy, done + last))
        copies.append(members)
        r_of.append(r)
        counts.append(m)
    points = np.array(counts, dtype=np.int64)
    return PointArrays(
        np.concatenate(flat_X),
        np.concatenate(flat_U),
        _starts([len(x) for x in flat_X]),
        _starts([len(u) for u in flat_U]),
        np.array(r_of, dtype=np.int64),
        points,
        np.array(items, dtype=np.int64).reshape(-1, 5),
        np.concatenate(copies).astype(np.int64),
        np.asarray(model.domain_class, dtype=np.int64),
        _starts(points[model.domain_class]),
        model.q_starts.astype(np.int64),
    )


def _starts(sizes: Any) -> Array:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
