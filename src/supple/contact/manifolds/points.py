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
    or the centre of what is round there; shift (m, 2, 3) [m]: from there to the place, which does not turn along; area
    (m,) [m²] that the point stands for. speed (m,) [m/s]: how fast the gap grows at the start of the step.

    time (m,) [s]: after which shapes that are fast for their width meet, 0: near now. Normal, place and shift of such
    points are those of the meeting; core and gap are where they begin.
    """

    pair: np.ndarray
    feature: np.ndarray
    normal: np.ndarray
    gap: np.ndarray
    place: np.ndarray
    core: np.ndarray
    shift: np.ndarray
    area: np.ndarray
    speed: np.ndarray
    time: np.ndarray


def make_points(count: int) -> ContactPoints:
    """Room for so many points, filled with what cannot be mistaken for one."""
    return ContactPoints(
        np.full((count, 2), -1, np.int64),
        np.full(count, -1, np.int64),
        np.full((count, 3), np.nan),
        np.full(count, np.nan),
        np.full((count, 3), np.nan),
        np.full((count, 2, 3), np.nan),
        np.full((count, 2, 3), np.nan),
        np.full(count, np.nan),
        np.full(count, np.nan),
        np.full(count, np.nan),
    )


@compiled(inline=True)
def emit(points, k, a, b, feature, normal, gap, place, area):
    """Write point k, with its place as the cores of both shapes."""
    points.pair[k, 0], points.pair[k, 1], points.feature[k] = a, b, feature
    points.gap[k], points.area[k], points.time[k] = gap, area, 0.0
    for c in range(3):
        points.normal[k, c] = normal[c]
        points.place[k, c] = points.core[k, 0, c] = points.core[k, 1, c] = place[c]
        points.shift[k, 0, c] = points.shift[k, 1, c] = 0.0


@compiled(inline=True)
def set_core(points, k, side, core):
    """Set the core of one side of point k."""
    for c in range(3):
        points.core[k, side, c], points.shift[k, side, c] = core[c], points.place[k, c] - core[c]
