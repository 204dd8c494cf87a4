"""`ContactPoints`: what the narrow phase writes, and the kernel that writes one point."""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled

LEAST = 0.05
"""Part of a face's area that a point of it stands for at least, however steeply the face stands on what it touches."""


class ContactPoints(NamedTuple):
    """m points, at most nine a pair. pair (m, 2): shapes; feature (m,): by which a point of a pair is known again.

    normal (m, 3): unit, from the second shape to the first; gap (m,) [m] along it, negative where they overlap; place
    (m, 3) [m]: in the middle of the gap; core (m, 2, 3) [m]: the points of both shapes that carry it: the place itself,
    or the centre of what is round there; area (m,) [m²] that the point stands for.
    """

    pair: np.ndarray
    feature: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    place: np.ndarray
    core: np.ndarray
    area: np.ndarray


def make_points(count: int) -> ContactPoints:
    """Room for so many points, filled with what cannot be mistaken for one."""
    return ContactPoints(
        np.full((count, 2), -1, np.int64),
        np.full(count, -1, np.int64),
        np.full((count, 3), np.nan),
        np.full(count, np.nan),
        np.full((count, 3), np.nan),
        np.full((count, 2, 3), np.nan),
        np.full(count, np.nan),
    )


@compiled(inline=True)
def emit(points, k, a, b, feature, normal, gap, place, area):
    """Write point k, with its place as the cores of both shapes."""
    points.pair[k, 0], points.pair[k, 1], points.feature[k] = a, b, feature
    points.gap[k], points.area[k] = gap, area
    for c in range(3):
        points.normal[k, c] = normal[c]
        points.place[k, c] = points.core[k, 0, c] = points.core[k, 1, c] = place[c]


@compiled(inline=True)
def set_core(points, k, side, core):
    """Set the core of one side of point k."""
    points.core[k, side, 0], points.core[k, side, 1], points.core[k, side, 2] = core
