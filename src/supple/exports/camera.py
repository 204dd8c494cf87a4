"""Camera: a parallel view from above the ground, and the light that goes with it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Array = np.ndarray
UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Camera:
    """elevation: above the ground, azimuth: about z from the x axis [degrees]."""

    elevation: float = 22.0
    azimuth: float = -62.0

    @cached_property
    def eye(self) -> Array:
        """Unit vector from the scene to the eye, (3,)."""
        e, a = np.radians(self.elevation), np.radians(self.azimuth)
        return np.array([np.cos(e) * np.cos(a), np.cos(e) * np.sin(a), np.sin(e)])

    @cached_property
    def right(self) -> Array:
        """Unit vector to the right of the picture, (3,)."""
        right = np.cross(UP, self.eye)
        return right / np.linalg.norm(right)

    @cached_property
    def light(self) -> Array:
        """Unit vector to the light, above and left of the eye: tops are bright, fronts middling, sides dim."""
        light = 0.6 * self.eye - 0.5 * self.right + UP
        return light / np.linalg.norm(light)

    def project(self, points: Array) -> Array:
        """Points (..., 3) [m] in the plane of the picture, (..., 2) [m]."""
        return points @ np.stack([self.right, np.cross(self.eye, self.right)], axis=1)

    def depth(self, points: Array) -> Array:
        """How near points (..., 3) are to the eye [m]: the larger, the nearer."""
        return points @ self.eye
