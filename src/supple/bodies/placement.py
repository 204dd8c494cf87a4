"""Where a body stands in the world when time starts: a rigid motion of its rest shape, and a rigid velocity."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from supple.algebra.dense import rotations
from supple.errors import check_instance

Array = np.ndarray


@dataclass(frozen=True)
class Placement:
    """x = at + R(rotation) X, with velocity + spin × (x - at); spin in world axes [rad/s]."""

    at: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.array([1.0, 0, 0, 0]))
    velocity: Array = field(default_factory=lambda: np.zeros(3))
    spin: Array = field(default_factory=lambda: np.zeros(3))

    def apply(self, X: Array) -> Array:
        """World positions of rest positions X (n, 3) [m]."""
        return self.at + X @ self.axes.T

    @property
    def axes(self) -> Array:
        """Rotation matrix of the body's axes in the world, (3, 3)."""
        return rotations.to_matrix(self.rotation)

    def point_velocities(self, x: Array) -> Array:
        """Velocities of world points x (n, 3) [m/s]."""
        return self.velocity + np.cross(self.spin, x - self.at)


def placement_of(given: Placement | None, where: str) -> Placement:
    """The placement that was given, or the one in which a body's axes are those of the world."""
    if given is None:
        return Placement()
    check_instance(given, Placement, "a placement", where=where)
    return given
