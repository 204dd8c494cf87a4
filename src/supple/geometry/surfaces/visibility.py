"""Lines of sight inside a solid: which of its points see each other without leaving it.

A convex solid sees all of itself, so the share of pairs that do not see each other says how far parts are from forming
a convex one. The solid is filled with cells half as large as a typical element. A line counts as inside although it
leaves the cells for a short way, which forgives the steps of the cells at a slanted surface.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.geometry.grids.voxelize import voxelize
from supple.geometry.meshes.mesh import HexMesh, TetMesh
from supple.geometry.meshes.region import FloatArray, IntArray
from supple.geometry.surfaces.visibility_kernels import add_group_visibility, compute_point_visibility

MAX_CELLS = 4_000_000
TOLERANCE = 2.0
"""Cells of length that a line may be outside."""


@dataclass(frozen=True, eq=False)
class Sightlines:
    """filled: cells inside, (nx, ny, nz). cell: edge [m]. origin [m], (3,)."""

    filled: np.ndarray
    cell: float
    origin: FloatArray

    def between_groups(self, points: FloatArray, groups: IntArray, group_count: int) -> tuple[FloatArray, FloatArray]:
        """Pairs of points (p, 3) [m] that see each other, and all pairs, by groups (p,): (g, g) each."""
        seen = np.zeros((group_count, group_count))
        add_group_visibility(self.filled, self._in_cells(points), groups, TOLERANCE, seen)
        sizes = np.bincount(groups, minlength=group_count).astype(float)
        return seen, np.outer(sizes, sizes) - np.diag(sizes)

    def share_seen(self, points: FloatArray, targets: FloatArray) -> FloatArray:
        """Share of the targets (t, 3) [m] that each point (p, 3) [m] sees, (p,)."""
        out = np.empty(len(points))
        compute_point_visibility(self.filled, self._in_cells(points), self._in_cells(targets), TOLERANCE, out)
        return out

    def _in_cells(self, points: FloatArray) -> FloatArray:
        return np.ascontiguousarray((points - self.origin) / self.cell)


def sightlines(mesh: TetMesh | HexMesh) -> Sightlines:
    """The lines of sight inside a solid mesh.

    >>> from supple.geometry import box_tets
    >>> lines = sightlines(box_tets((1, 0.1, 0.1), (10, 1, 1)))
    >>> lines.share_seen(np.array([[0.1, 0.0, 0.0]]), np.array([[0.9, 0.01, 0.0]])).tolist()
    [1.0]
    """
    extent = mesh.bounds[1] - mesh.bounds[0]
    cell = max(0.5 * float(np.median(mesh.volumes)) ** (1 / 3), float((extent.prod() / MAX_CELLS) ** (1 / 3)))
    grid = voxelize(mesh.boundary.surface, cell, rule="parity")
    filled = np.ascontiguousarray(grid.materials > 0).astype(np.uint8)
    centres = mesh.nodes[mesh.elements].mean(axis=1)  # thin elements must not fall between the cells' centres
    at = np.clip(((centres - grid.origin) / cell).astype(np.int64), 0, np.array(filled.shape) - 1)
    filled[at[:, 0], at[:, 1], at[:, 2]] = 1
    return Sightlines(filled, cell, np.array(grid.origin))
