"""Rigid bodies and obstacles with convex shapes, as one contact sees them: which pairs touch by shapes, and where.

Both sides of such a contact hang on frames alone. Each has a point of its frame, the core, and a way from there to the
contact that does not turn along: none where a corner or a face touches, the radius of a ball, which rolls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.algebra.dense import rotations
from supple.contact.manifolds import Manifolds
from supple.contact.surfaces import BodySurface
from supple.geometry.surfaces.convex import ConvexShape
from supple.interaction.obstacles import Box, Capsule, Plane, Sphere
from supple.scene.slots import Slot

if TYPE_CHECKING:
    from supple.contact.moving import MovingSides

Array = np.ndarray


class RigidPoints(NamedTuple):
    """k contacts of shapes. sides (k, 2): numbers of bodies and obstacles; carrier (k, 2): of bodies that carry a side,
    -1 where it stays in place; core (k, 2, 3) [m]: in the carrier's axes; shift (k, 2, 3) [m]: from there to the place,
    in the world's; feature (k,); normal, place (k, 3); gap (k,) [m]; area (k,) [m²]; speed (k,) [m/s]: how fast the gap
    grows."""

    sides: Array
    carrier: Array
    core: Array
    shift: Array
    feature: Array
    normal: Array
    place: Array
    gap: Array
    area: Array
    speed: Array


@dataclass(eq=False)
class RigidSides:
    """numbers (n,): of bodies, then obstacles, that have shapes; frames (n, 7), rates (n, 6): of obstacles, rows of
    bodies are filled anew; x_at (bodies, 7), v_at (bodies, 6): where their frames are in flat vectors. moving:
    obstacles that move; given (n, 7): frames of obstacles before they moved."""

    manifolds: Manifolds
    numbers: Array
    frames: Array
    x_at: Array
    v_at: Array
    moving: MovingSides
    given: Array
    rates: Array

    @classmethod
    def of(
        cls,
        surfaces: Sequence[BodySurface],
        slots: Sequence[Slot],
        obstacles: Sequence[Any],
        is_excluded: Array,
        margin: float,
        moving: MovingSides,
    ) -> RigidSides | None:
        """Of the bodies and obstacles of a contact that have shapes; None where no two of them can touch.

        is_excluded (bodies + obstacles, the same): pairs that never touch.
        """
        bodies = [k for k, s in enumerate(surfaces) if s.shape is not None]
        fixed = [(k, *placed) for k, o in enumerate(obstacles) if (placed := obstacle_shape(o)) is not None]
        if not bodies or len(bodies) + len(fixed) < 2:
            return None
        numbers = np.array(bodies + [len(surfaces) + k for k, _, _ in fixed])
        frames = np.zeros((len(numbers), 7))
        for row, (_, _, frame) in enumerate(fixed, start=len(bodies)):
            frames[row] = frame
        moves = np.arange(len(numbers)) < len(bodies)
        allowed = ~is_excluded[np.ix_(numbers, numbers)] & (moves[:, None] | moves[None, :])
        shapes = [surfaces[k].shape for k in bodies] + [shape for _, shape, _ in fixed]
        carriers = [slots[k].parents[0] for k in bodies]
        return cls(
            Manifolds(shapes, margin=margin, allowed=allowed),
            numbers,
            frames,
            np.array([slot.x_start + np.arange(7) for slot in carriers]),
            np.array([slot.v_start + np.arange(6) for slot in carriers]),
            moving,
            frames.copy(),
            np.zeros((len(numbers), 6)),
        )

    @property
    def body_count(self) -> int:
        """How many of the shapes are bodies'."""
        return len(self.x_at)

    def is_found(self, count: int) -> Array:
        """Which pairs of so many bodies and obstacles touch by their shapes, (count, count) bool."""
        known = np.zeros(count, dtype=bool)
        known[self.numbers] = True
        return known[:, None] & known[None, :]

    def shorten(self, flat_x: Array, flat_v: Array, h: float, way: Array) -> None:
        """Shorten, in place, the ways (velocities times h [s]) of bodies that would turn or be thrown through others.

        flat_x: positions at the start of the step; flat_v: velocities at its end.
        """
        n = self.body_count
        frames, v = self.frames.copy(), self.rates.copy()
        frames[:n], v[:n] = flat_x[self.x_at], flat_v[self.v_at]
        if h > 0 and np.isfinite(v).all():
            way[self.v_at] *= (self.manifolds.safe_times(frames, v, h)[:n] / h)[:, None]

    def find(self, flat_x: Array, flat_v: Array, h: float, t: float = 0.0) -> RigidPoints:
        """The contacts that may push during a step of h [s] from these flat positions and velocities at t [s]."""
        n = self.body_count
        self.frames[:n], self.rates[:n] = flat_x[self.x_at], flat_v[self.v_at]
        if self.moving:
            for row in range(n, len(self.numbers)):
                self.frames[row], self.rates[row] = self.moving.frame(t, int(self.numbers[row]), self.given[row])
        points = self.manifolds.find(self.frames, self.rates, h)
        moves = points.pair < n
        poses = self.manifolds.poses
        core = np.einsum("ksji,ksj->ksi", poses.R[points.pair], points.core - poses.x[points.pair])
        sides = self.numbers[points.pair]
        return RigidPoints(
            sides,
            np.where(moves, sides, -1),
            core,
            points.shift.copy(),
            points.feature.copy(),
            points.normal.copy(),
            points.place.copy(),
            points.gap.copy(),
            points.area.copy(),
            points.speed.copy(),
        )

    def relative(self, points: RigidPoints) -> Array:
        """Velocities (k, 3) [m/s] of the first sides less those of the second at contacts of the last `find`; those of
        obstacles count as zero."""
        row = np.where(points.carrier >= 0, np.searchsorted(self.numbers[: self.body_count], points.carrier), -1)
        spin = np.einsum("kij,kj->ki", self.manifolds.poses.R, self.rates[:, 3:])
        lever = points.place[:, None] - self.frames[row, :3]
        velocity = self.rates[row, :3] + np.cross(spin[row], lever)
        return np.asarray(
            (np.where(points.carrier >= 0, 1.0, 0.0)[..., None] * velocity * [[[1.0], [-1.0]]]).sum(axis=1)
        )


def obstacle_shape(obstacle: Any) -> tuple[ConvexShape | None, Array] | None:
    """Shape and frame (7,) of an obstacle; None for the half-space of a plane; nothing where it is not convex."""
    if isinstance(obstacle, Plane):
        normal = np.asarray(obstacle.normal)
        return None, np.concatenate([float(obstacle.offset) * normal, _turned_up(normal)])
    if isinstance(obstacle, Sphere):
        return ConvexShape.ball(float(obstacle.radius)), np.concatenate(
            [np.asarray(obstacle.centre), [1.0, 0.0, 0.0, 0.0]]
        )
    if isinstance(obstacle, Capsule):
        start, end = np.asarray(obstacle.start), np.asarray(obstacle.end)
        middle = (start + end) / 2
        shape = ConvexShape.capsule(start - middle, end - middle, float(obstacle.radius))
        return shape, np.array([*middle, 1.0, 0.0, 0.0, 0.0])
    if isinstance(obstacle, Box):
        return ConvexShape.box(obstacle.edges), np.concatenate([obstacle.centre, obstacle.rotation])
    return None


def _turned_up(normal: Array) -> Array:
    """The quaternion that turns z into a unit vector."""
    axis = np.array([-normal[1], normal[0], 0.0])
    sine = float(np.linalg.norm(axis))
    if sine < 1e-15:
        return np.array([1.0, 0.0, 0.0, 0.0]) if normal[2] > 0 else np.array([0.0, 1.0, 0.0, 0.0])
    return np.asarray(rotations.exp(axis / sine * np.arctan2(sine, normal[2])))
