"""Surfaces with fewer points: the vertices in each cell of a grid become one of them, and triangles follow [RB93].

Chosen vertices are vertices of the surface, so that whatever carries it carries them too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray


class Clustered(NamedTuple):
    """numbers (m,): the vertices that are left; triangles (t, 3) of these."""

    numbers: Array
    triangles: Array


def cluster_vertices(nodes: Array, triangles: Array, spacing: float) -> Clustered:
    """One vertex for each cell of a grid: the one nearest to the mean of those in it. nodes (n, 3), spacing [m].

    >>> square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.1, 0, 0]], dtype=float)
    >>> cluster_vertices(square, np.array([[0, 1, 2], [0, 4, 3]]), 0.5).numbers.tolist()
    [0, 3, 1, 2]
    """
    cells = np.floor((nodes - nodes.min(axis=0)) / spacing).astype(np.int64)
    _, cell = np.unique(cells, axis=0, return_inverse=True)
    cell = cell.ravel()
    count = np.bincount(cell)
    mean = np.stack([np.bincount(cell, nodes[:, k]) for k in range(3)], axis=1) / count[:, None]
    far = np.linalg.norm(nodes - mean[cell], axis=1)
    order = np.lexsort((far, cell))
    numbers = order[np.cumsum(count) - count]
    return Clustered(numbers, _distinct(cell[triangles]))


def _distinct(triangles: Array) -> Array:
    """Triangles with three corners, those with the same corners once."""
    a, b, c = triangles.T
    whole = triangles[(a != b) & (b != c) & (c != a)]
    _, first = np.unique(np.sort(whole, axis=1), axis=0, return_index=True)
    return np.asarray(whole[np.sort(first)], dtype=np.int64)
