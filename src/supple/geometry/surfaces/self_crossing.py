"""Whether a triangle surface cuts itself: an edge of one triangle passes through another that shares no corner with it.

Candidates are pairs of overlapping boxes, found by a sweep along the longest axis; each edge a-b is then tested against
the plane and the three sides of the other triangle, by signed volumes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from supple.geometry.meshes.region import FloatArray, IntArray

BoolArray = NDArray[np.bool_]
PIECE = 200_000
"""Pairs tested at a time."""


def crossing_pair(nodes: FloatArray, triangles: IntArray) -> tuple[int, int] | None:
    """The first two triangles (m, 3) of nodes (n, 3) [m] that cut each other, or None."""
    corners = np.asarray(nodes, dtype=float)[triangles]
    low, high = corners.min(axis=1), corners.max(axis=1)
    axis = int(np.argmax(high.max(axis=0) - low.min(axis=0)))
    order = np.argsort(low[:, axis], kind="stable")
    ends = np.searchsorted(low[order, axis], high[order, axis], side="right")
    counts = ends - np.arange(len(order)) - 1
    start = 0
    while start < len(order):
        total = np.cumsum(counts[start:])
        stop = start + max(1, int(np.searchsorted(total, PIECE, side="right")))
        many = counts[start:stop]
        a = np.repeat(np.arange(start, stop), many)
        b = a + 1 + np.arange(len(a)) - np.repeat(np.cumsum(many) - many, many)
        i, j = order[a], order[b]
        near = ((low[i] <= high[j]) & (low[j] <= high[i])).all(axis=1)
        i, j = i[near], j[near]
        apart = ~(triangles[i][:, :, None] == triangles[j][:, None, :]).any(axis=(1, 2))
        i, j = i[apart], j[apart]
        cuts = _cuts(corners[i], corners[j]) | _cuts(corners[j], corners[i])
        if cuts.any():
            k = int(np.argmax(cuts))
            return int(min(i[k], j[k])), int(max(i[k], j[k]))
        start = stop
    return None


def _cuts(P: FloatArray, Q: FloatArray) -> BoolArray:
    """Whether an edge of each triangle P (k, 3, 3) passes through Q, (k,)."""
    out = np.zeros(len(P), dtype=bool)
    q0, q1, q2 = Q[:, 0], Q[:, 1], Q[:, 2]
    for e in range(3):
        a, b = P[:, e], P[:, (e + 1) % 3]
        sides = _volume(a, q0, q1, q2) * _volume(b, q0, q1, q2) < 0.0
        s0, s1, s2 = _volume(a, b, q0, q1), _volume(a, b, q1, q2), _volume(a, b, q2, q0)
        through = ((s0 > 0) & (s1 > 0) & (s2 > 0)) | ((s0 < 0) & (s1 < 0) & (s2 < 0))
        out |= sides & through
    return out


def _volume(a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray) -> FloatArray:
    """Six times the signed volumes of tets (k,)."""
    return np.einsum("ki,ki->k", np.cross(b - a, c - a), d - a)
