"""ContactPairs: what detection hands to forces, as a structure of arrays.

    d = sum_m weights[m] x[points[m]],   gap = normal . d - radii,   d gap / d x[points[m]] = weights[m] normal

The gradient is exact where the normal comes from d itself, since a unit vector is orthogonal to its own change.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

Array = np.ndarray

VERTEX_TRIANGLE, EDGE_EDGE, POINT_POINT, BALL_TRIANGLE = 0, 1, 2, 3
"""Kinds of contacts."""


class ContactPairs(NamedTuple):
    """k contacts, each array contiguous. Points are numbered over all vertices of a joined surface.

    points: up to four points, (k, 4), -1 where unused. weights: (k, 4), zero where unused. Vertex against triangle:
    (v, a, b, c) with (1, -wa, -wb, -wc), only v and two where an edge of the triangle is nearest, v and one where a
    corner is. Edge against edge: (a, b, c, d) with (1 - s, s, -(1 - t), -t). Point against point: (v, a) with (1, -1).
    normal: unit, from the second side to the first, (k, 3); the first is pushed along it. gap: distance along the
    normal less the radii of both sides [m], (k,), negative where they penetrate. kind: (k,) int8, `VERTEX_TRIANGLE`,
    `EDGE_EDGE`, `POINT_POINT`, or `BALL_TRIANGLE` of a ball beside its nearest triangle. area: the share of the surface
    at rest that the contact stands for [m²], (k,).

    >>> ContactPairs.empty().size
    0
    """

    points: Array
    weights: Array
    normal: Array
    gap: Array
    kind: Array
    area: Array

    @property
    def size(self) -> int:
        """Number of contacts."""
        return len(self.gap)

    @classmethod
    def empty(cls, count: int = 0) -> ContactPairs:
        """Arrays for so many contacts, filled with what cannot be mistaken for one."""
        return cls(
            np.full((count, 4), -1, np.int64),
            np.full((count, 4), np.nan),
            np.full((count, 3), np.nan),
            np.full(count, np.nan),
            np.full(count, -1, np.int8),
            np.full(count, np.nan),
        )

    def separation(self, x: Array) -> Array:
        """The vector d of each contact at positions x (n, 3) [m], (k, 3) [m]."""
        return np.einsum("km,kma->ka", self.weights, x[self.points])
