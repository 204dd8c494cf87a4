"""Obstacles that move, as one contact sees them: where they are at the start of a step, and how fast in it.

    drift = (x(t + h) - x(t)) / h        of the obstacle's material at a contact: its way in the step is exact

Nothing that touches them moves them, so that the velocity of their side is given: relative velocities of the law are
those of the bodies less the drift.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from supple.algebra.dense import rotations
from supple.contact.sweeping import swept_distance
from supple.interaction.motion import Motion
from supple.interaction.obstacles import Obstacle

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class MovingSides:
    """Motions of obstacles by their numbers among all names of a contact; starts: first vertices of the surfaces, among
    which are those of meshes. t, h [s]: start and length of the step."""

    motions: Mapping[int, Motion]
    starts: Array

    @classmethod
    def of(cls, names: Sequence[str], obstacles: Mapping[str, Obstacle], starts: Array) -> MovingSides:
        """Of the obstacles with a motion."""
        motions = {k: obstacles[name].motion for k, name in enumerate(names) if name in obstacles}
        return cls({k: motion for k, motion in motions.items() if motion is not None}, starts)

    def __bool__(self) -> bool:
        return bool(self.motions)

    def place_meshes(self, t: float, h: float, x: Array) -> Array:
        """Move the vertices of meshes among all (n, 3) [m], in place, to where they are at t [s]; their mean velocities
        within h [s], (n, 3) [m/s]."""
        v = np.zeros_like(x)
        for k, motion in self.motions.items():
            if k < len(self.starts) - 1:
                rows, pose = slice(self.starts[k], self.starts[k + 1]), motion.pose(t)
                x[rows] = pose[:3] + rotations.rotate(pose[3:], x[rows])
                v[rows] = motion.displacement(t, h, x[rows]) / h
        return v

    def drift(self, t: float, h: float, number: int, x: Array) -> Array:
        """Mean velocity (k, 3) [m/s] within h [s] of an obstacle's material at x (k, 3) [m]."""
        motion = self.motions.get(number)
        return np.zeros_like(x) if motion is None or h <= 0 else motion.displacement(t, h, x) / h

    def distance(
        self, obstacle: Obstacle, t: float, h: float, x: Array, v: Array, radius: Array
    ) -> tuple[Array, Array, Array]:
        """Gap, normal and drift of balls at x (n, 3) with velocities v (n, 3), see `swept_distance`."""
        if obstacle.motion is None:
            return *swept_distance(obstacle, x, v, h, radius), np.zeros_like(x)
        drift, pose = obstacle.motion.displacement(t, h, x) / h, obstacle.motion.pose(t)
        place, speed = (rotations.rotate_inverse(pose[3:], u) for u in (x - pose[:3], v - drift))
        gap, normal = swept_distance(obstacle, place, speed, h, radius)
        return gap, np.asarray(rotations.rotate(pose[3:], normal)), drift

    def frame(self, t: float, number: int, frame: Array) -> tuple[Array, Array]:
        """Where the frame (7,) of an obstacle's shape is at t [s], and its velocities (6,), angular in body axes."""
        motion = self.motions.get(number)
        if motion is None:
            return frame, np.zeros(6)
        pose = motion.pose(t)
        x, q = pose[:3] + rotations.rotate(pose[3:], frame[:3]), rotations.multiply(pose[3:], frame[3:])
        spin = rotations.rotate_inverse(q, motion.spin_at(t))
        return np.concatenate([x, q]), np.concatenate([motion.velocity_at(t, x)[0], spin])
