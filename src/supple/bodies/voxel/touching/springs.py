"""Springs between points of voxels and of the world, that the sweep of a lattice takes within its small steps.

See `spring_kernels` for how. A spring without a length may be of any stiffness. One of a length acts across itself by
k (1 - L0/L) at most, explicitly: `share` says how much of the stable step such springs ask for.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.brick_data import STATE
from supple.bodies.voxel.sweep.bricks import Layout
from supple.bodies.voxel.touching.spring_kernels import SpringRun

Array = np.ndarray
IN_WORLD = -1


class LatticeSprings(NamedTuple):
    """n springs. voxel (n, 2): of both ends, `IN_WORLD`: an end in the world; local (n, 2, 3) [m]: ends in the axes of
    their voxels, or places in the world. stiffness [N/m], damping [N s/m], rest [m], each (n,)."""

    voxel: Array
    local: Array
    stiffness: Array
    damping: Array
    rest: Array

    @classmethod
    def none(cls) -> LatticeSprings:
        """No springs."""
        return cls(np.zeros((0, 2), dtype=np.int64), np.zeros((0, 2, 3)), *np.zeros((3, 0)))

    def run(self, model: VoxelModel, is_held: Array, layout: Layout) -> SpringRun:
        """The springs in the axes and places of a layout, with workspace; is_held (n,): voxels that never move."""
        n, axes, on = len(self.rest), np.array(layout.axes), self.voxel >= 0
        place = layout.brick[self.voxel] * STATE * layout.lanes + layout.lane[self.voxel]
        return SpringRun(
            place=np.where(on, place, -1).astype(np.int64),
            local=np.ascontiguousarray(self.local[:, :, axes]),
            per=np.where((on & ~is_held[self.voxel])[:, :, None], 1.0 / _masses(model)[self.voxel], 0.0),
            stiffness=np.array(self.stiffness, dtype=float),
            damping=np.array(self.damping, dtype=float),
            rest=np.array(self.rest, dtype=float),
            lever=np.zeros((n, 2, 3)),
            apart=np.zeros((n, 3)),
            rate=np.zeros((n, 3)),
        )

    def share(self, model: VoxelModel, dt: float) -> float:
        """dt² K/m, at most, of what springs that have a length do to a voxel in steps of dt [s], of 4 at which a step
        is unstable."""
        sums = np.zeros(len(model.mass))
        levers = np.sum(self.local**2, axis=2)
        per = 1.0 / _masses(model)[self.voxel]
        stiffness = np.where(self.rest > 0, self.stiffness, 0.0)[:, None] * (per[:, :, 0] + levers * per[:, :, 1])
        on = self.voxel >= 0
        np.add.at(sums, self.voxel[on], 2.0 * stiffness[on])  # the other end may move as far
        return float(dt * dt * sums.max(initial=0.0))


def _masses(model: VoxelModel) -> Array:
    return np.stack([model.mass, model.inertia], axis=1)
