"""Links of a lattice that are inside out: a voxel has passed through its neighbour.

(R_1 e + R_2 e) . (x_2 - x_1) <= 0,      e: the link's axis, R: turns of its voxels
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.voxel.frame_kernels import find_inverted
from supple.bodies.voxel.links.link_laws import NEVER
from supple.bodies.voxel.model import VoxelModel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LinkInversion:
    """voxels (m, 2), axis (m,): of the links that cannot fail; what a failed one held is free."""

    voxels: Array
    axis: Array
    stays = False
    word = "links of voxels"

    @classmethod
    def of(cls, model: VoxelModel) -> LinkInversion:
        """Of a lattice."""
        holds = model.laws.failure >= NEVER
        return cls(model.link_voxels[holds], model.link_axis[holds])

    @property
    def count(self) -> int:
        """Of the links."""
        return len(self.voxels)

    def place(self, number: int) -> str:
        """Where a link is."""
        return "link of voxels {} and {}".format(*self.voxels[number])

    def inverted(self, x: Array) -> Array:
        """Numbers of the inverted links at frames x (n, 7)."""
        out = np.empty(self.count, dtype=np.int64)
        return out[: find_inverted(self.voxels, self.axis, np.ascontiguousarray(x, dtype=float), out)]
