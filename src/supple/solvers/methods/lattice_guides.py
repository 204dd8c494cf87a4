"""Voxels that the filters of a scene hold or lead while a lattice is swept: see `LatticeSweep.set_guides`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.algebra.dense import rotations
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Guides:
    """held: voxels that never move. voxels (k,): those with some freedom or a given motion, entries (k, 2) of the
    system's filter for place and orientation, -1 where that is free."""

    held: Array
    voxels: Array
    entries: Array

    @classmethod
    def of(cls, system: System) -> Guides:
        """Sort the voxels that filters act on."""
        f = system.filter
        entries: dict[int, list[int]] = {}
        for entry, block in enumerate(f.blocks.tolist()):
            entries.setdefault(block // 2, [-1, -1])[block % 2] = entry
        moving = {k for m in f.moving for k in range(m.start, m.stop)}
        moving |= {int(k) for h in f.held if h.orientation is not None for k in h.k}

        def stays(place: int, turn: int) -> bool:
            return place >= 0 and turn >= 0 and not f.projectors[place].any() and not {place, turn} & moving

        held = [voxel for voxel, (place, turn) in entries.items() if stays(place, turn)]
        others = [voxel for voxel, (place, turn) in entries.items() if not stays(place, turn)]
        pairs = np.array([entries[voxel] for voxel in others], dtype=np.int64).reshape(-1, 2)
        return cls(np.array(sorted(held), dtype=np.int64), np.array(others, dtype=np.int64), pairs)

    @property
    def moves(self) -> bool:
        """Whether any voxel is guided."""
        return len(self.voxels) > 0

    def at(self, system: System, state: State, duration: float) -> tuple[Array, Array, Array, Array, Array]:
        """What `LatticeSweep.set_guides` takes, so that the voxels are where they must be after the duration [s]."""
        f, count = system.filter, len(self.voxels)
        rates = f.increment(state.x, state.t + duration) / duration
        place, turn = self.entries.T
        free = np.broadcast_to(np.eye(3), (count, 3, 3)).copy()
        free[place >= 0] = f.projectors[place[place >= 0]]
        v, w = np.zeros((count, 3)), np.zeros((count, 3))
        v[place >= 0] = rates[place[place >= 0]]
        q = state.x.reshape(-1, 7)[self.voxels, 3:]
        w[turn >= 0] = rotations.rotate(q[turn >= 0], rates[turn[turn >= 0]])
        return self.voxels, free, np.where(turn >= 0, 0.0, 1.0), v, w
