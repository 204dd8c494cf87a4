"""The skin of a voxel body: corners of its surface, each the mean of where the voxels around it carry it.

x_c = sum_v w (x_v + R_v r),    r: the corner seen from the centre of voxel v, w: one over the number of voxels
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sparse

from supple.bodies.voxel.frame_kernels import compute_corners
from supple.geometry import VoxelGrid

Array = np.ndarray
CORNERS = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)])


@dataclass(frozen=True, eq=False)
class VoxelSkin:
    """triangles (t, 3) of the corners, outward; corner k is row k of weights (k, m) over m points on voxels.

    voxel (m,): which voxel carries a point; local (m, 3): where, in the voxel's axes [m].
    """

    triangles: Array
    weights: sparse.csr_array
    voxel: Array
    local: Array

    @classmethod
    def of(cls, grid: VoxelGrid) -> VoxelSkin:
        """The faces between filled and empty cells."""
        boundary = grid.to_hexes().boundary
        nodes, triangles = np.unique(boundary.triangles, return_inverse=True)
        place = np.rint((grid.to_hexes().nodes[nodes] - grid.origin) / grid.voxel_size).astype(np.int64)
        shape = np.array(grid.shape) + 1
        number = np.full(shape, -1)
        number[tuple(place.T)] = np.arange(len(place))
        corners = grid.voxels[:, None, :] + CORNERS
        at = number[tuple(np.moveaxis(corners, -1, 0))]
        voxel, corner = np.nonzero(at >= 0)
        point = at[voxel, corner]
        share = 1.0 / np.bincount(point, minlength=len(place))[point]
        weights = sparse.csr_array((share, (point, np.arange(len(point)))), shape=(len(place), len(point)))
        return cls(triangles.reshape(-1, 3), weights, voxel, grid.voxel_size * (CORNERS[corner] - 0.5))

    @property
    def count(self) -> int:
        """Number of corners."""
        return int(self.weights.shape[0])

    def positions(self, x: Array) -> Array:
        """World positions of the corners at frames x (n, 7), (count, 3) [m]."""
        out = np.empty((self.count, 3))
        compute_corners(*self._carried, np.ascontiguousarray(x, dtype=float), out)
        return out

    @cached_property
    def _carried(self) -> tuple[Array, Array, Array]:
        """Where the points of each corner begin, (k + 1,), their voxels and places, one corner after another."""
        order = self.weights.indices
        return self.weights.indptr.astype(np.int64), self.voxel[order].astype(np.int64), self.local[order]
