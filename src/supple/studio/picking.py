"""Picking: which point of which body a ray from the camera meets first, by the simulation's own surfaces.

A place on a triangle is told by its corners, so that the same point of the body is known as it was at the start.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from supple.record.surfaces import Surface
from supple.scene.state import State
from supple.studio.picking_kernels import nearest_triangle

Array = np.ndarray
NEAR = 0.02
"""How near a ray must pass by a point where a body has no triangles, over the size of all points."""


class Picked(NamedTuple):
    """A point of a body. surface: number of the body; place, start (3,) [m]: where it is now, and was at the start."""

    surface: int
    place: Array
    start: Array


def pick(surfaces: Sequence[Surface], state: State, start: State, origin: Array, ray: Array) -> Picked | None:
    """What a ray (3,) from an origin (3,) [m] meets first at a state; start: the state of the start. None: nothing."""
    found, nearest = None, np.inf
    for number, surface in enumerate(surfaces):
        now, first = surface.points(state).astype(float), surface.points(start).astype(float)
        corners, weights, far = _on(surface, now, origin, ray)
        if far < nearest:
            nearest, found = far, Picked(number, weights @ now[corners], weights @ first[corners])
    return found


def _on(surface: Surface, points: Array, origin: Array, ray: Array) -> tuple[Array, Array, float]:
    """Numbers of the points that a ray meets between, their weights, and how far along it."""
    if len(surface.triangles):
        k, far, u, v = nearest_triangle(points, surface.triangles, origin, ray)
        return surface.triangles[k], np.array([1 - u - v, u, v]), far
    along = (points - origin) @ ray / (ray @ ray)
    beside = np.linalg.norm(points - origin - along[:, None] * ray, axis=1)
    beside[along <= 0] = np.inf
    k = int(np.argmin(beside))
    reach = NEAR * float(np.linalg.norm(np.ptp(points, axis=0)))
    return np.array([k]), np.ones(1), float(along[k]) if beside[k] <= reach else np.inf
