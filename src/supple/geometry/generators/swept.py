"""Hexes swept along curves and joined at common nodes: stems, leaves and branches as grids of nodes.

A grid of node numbers (layers, rows, columns) stands for the hexes between its neighbours. A sweep starts from nodes
that are there already, a patch of another sweep's side or end, so that both fit together. `HexSketch.to_tets` splits
all hexes so that neighbours conform.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError
from supple.geometry.meshes.conforming_split import split_hexes
from supple.geometry.meshes.element_shapes import tet_volumes
from supple.geometry.meshes.mesh import TetMesh
from supple.geometry.meshes.region import FloatArray, IntArray


class HexSketch:
    """Nodes and labelled hexes, gathered piece by piece."""

    def __init__(self) -> None:
        self._points: list[FloatArray] = []
        self._hexes: list[IntArray] = []
        self._labels: list[IntArray] = []
        self._count = 0

    @property
    def nodes(self) -> FloatArray:
        """All nodes so far [m], (n, 3)."""
        return np.concatenate(self._points)

    def add_nodes(self, points: ArrayLike) -> IntArray:
        """New nodes at points (..., 3) [m]; their numbers (...)."""
        given = np.asarray(points, dtype=float)
        numbers = self._count + np.arange(given[..., 0].size).reshape(given.shape[:-1])
        self._points.append(given.reshape(-1, 3))
        self._count += numbers.size
        return numbers

    def add_hexes(self, grid: IntArray, label: int) -> None:
        """The hexes of a grid of node numbers (l, a, b), with a label."""
        if grid.ndim != 3 or min(grid.shape) < 2:
            raise InputError("a grid of hexes needs two nodes along each axis", value=grid.shape)
        low, high = grid[:-1], grid[1:]
        ring = [(slice(None, -1), slice(None, -1)), (slice(1, None), slice(None, -1))]
        ring += [(slice(1, None), slice(1, None)), (slice(None, -1), slice(1, None))]
        corners = [side[:, a, b] for side in (low, high) for a, b in ring]
        hexes = np.stack(corners, axis=-1).reshape(-1, 8)
        self._hexes.append(hexes)
        self._labels.append(np.full(len(hexes), label))

    def sweep(self, base: IntArray, sections: FloatArray, label: int) -> IntArray:
        """Hexes from base nodes (a, b) over sections (l, a, b, 3) [m]; the grid of nodes, (l + 1, a, b)."""
        grid = np.concatenate([base[None], self.add_nodes(sections)])
        self.add_hexes(grid, label)
        return grid

    def to_tets(self) -> tuple[TetMesh, IntArray]:
        """Six tets a hex, and the label of each tet (m,). Nodes without a hex are left out, so numbers may change."""
        hexes = np.concatenate(self._hexes)
        signs = np.sign(tet_volumes(self.nodes, split_hexes(hexes))).reshape(-1, 6)
        folded = np.flatnonzero(np.abs(signs.sum(axis=1)) != 6)
        if folded.size:
            label = int(np.concatenate(self._labels)[folded[0]])
            raise InputError("a swept hex is folded", where=f"label {label}", value=f"{folded.size} hexes")
        mesh = TetMesh(self.nodes, split_hexes(hexes), isolated="drop")
        return mesh, np.repeat(np.concatenate(self._labels), 6)


def transported_frames(curve: FloatArray, across: ArrayLike, tangent: ArrayLike | None = None) -> FloatArray:
    """Frames along a curve (n, 3) [m] that turn no more than it bends: rows across, over, along; (n, 3, 3).

    across: direction of the first row at the start, made square to the curve. tangent: of the curve at its start.
    """
    steps = np.gradient(np.asarray(curve, dtype=float), axis=0)
    if tangent is not None:
        steps[0] = np.asarray(tangent, dtype=float)
    along = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    frames = np.empty((len(curve), 3, 3))
    u = np.asarray(across, dtype=float)
    for k, t in enumerate(along):
        u = u - (u @ t) * t
        u = u / np.linalg.norm(u)
        frames[k] = u, np.cross(t, u), t
    return frames


def placed_sections(curve: FloatArray, frames: FloatArray, profiles: FloatArray) -> FloatArray:
    """Profiles (n, a, b, 2) or (n, a, b, 3) [m] in the frames along a curve: points (n, a, b, 3) [m]."""
    width = profiles.shape[-1]
    return curve[:, None, None] + np.einsum("nabk,nkx->nabx", profiles, frames[:, :width])


def round_profile(cells: int, roundness: float = 0.8) -> FloatArray:
    """A square of cells² cells pressed towards the unit disc, (cells + 1, cells + 1, 2); roundness 0: a square."""
    side = np.linspace(-1.0, 1.0, cells + 1)
    p = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1)
    s = np.abs(p).max(axis=-1, keepdims=True)
    norm = np.linalg.norm(p, axis=-1, keepdims=True)
    disc = p * s / np.maximum(norm, 1e-300)
    return disc * roundness + p * (1 - roundness) * np.sqrt(0.75)


def bezier(points: ArrayLike, parameters: ArrayLike) -> FloatArray:
    """A Bézier curve over its control points (m, 3) [m] at parameters (n,) in 0 to 1, (n, 3)."""
    p = np.asarray(points, dtype=float)
    t = np.asarray(parameters, dtype=float)[:, None]
    rows = [np.broadcast_to(row, (len(t), p.shape[1])) for row in p]
    while len(rows) > 1:
        rows = [a + t * (b - a) for a, b in pairwise(rows)]
    return rows[0]
