"""Parts: what other programs are given of a run, each a surface that a frame carries as it is, or one that deforms.

A rigid part is points of a prototype (n, 3) in a frame that moves, x = o + R X. Parts of one shape share a prototype,
however they lie at the start. A deforming part has its points at each frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Literal

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.carried import Carriers
from supple.exports.obstacles import obstacle_surface
from supple.exports.staging import rigid_row
from supple.exports.view import PARTICLE, SPRING, STONE, body_colours
from supple.material.colour import rgb
from supple.record.files.obstacles import RecordedObstacle
from supple.record.reader import Trajectory

Array = np.ndarray
PLANE = 3.0
"""Edge of the square that stands for a plane, over the size of all bodies."""
SAME = 1e-6
"""How far a frame may move, over the size of all bodies, and still be taken to rest."""


@dataclass(frozen=True, eq=False)
class Prototype:
    """Points X (n, 3) [m] and triangles (t, 3) of them. is_shared: whether several parts may have it."""

    number: int
    X: Array
    triangles: Array
    is_shared: bool = False


@dataclass(frozen=True, eq=False)
class Volume:
    """Tets (m, 4) of a body: numbers of its points, then of its inner points. nodes: all of them at a frame, in this
    order, (n, 3) float32 [m]."""

    tets: Array
    nodes: Callable[[int], Array]


@dataclass(frozen=True, eq=False)
class Part:
    """A body or an obstacle. colours: red, green, blue, 0 to 1, of each triangle (t, 3) or of all (1, 3). points: at a
    frame, (n, 3) float32 [m]. carriers: of points that frames of domains carry; rows: their numbers at a frame.
    motion: of a rigid part, place [m] and quaternion (w, x, y, z) at each chosen frame (frames, 7), one row where it
    rests, with the prototype that it carries; None: it deforms. volume: the tets behind its surface, where they are
    recorded."""

    name: str
    kind: Literal["body", "obstacle"]
    triangles: Array
    lines: Array
    colours: Array
    points: Callable[[int], Array]
    prototype: Prototype | None = None
    motion: Array | None = None
    carriers: Carriers | None = None
    rows: Callable[[int], Array] | None = None
    volume: Volume | None = None


@dataclass(eq=False)
class Stage:
    """All parts of a run at chosen frames. size: diagonal of the box around all bodies [m]."""

    trajectory: Trajectory
    frames: list[int]
    parts: list[Part] = field(default_factory=list)
    prototypes: list[Prototype] = field(default_factory=list)
    size: float = 1.0

    @classmethod
    def of(cls, trajectory: Trajectory, frames: Sequence[int]) -> Stage:
        """Bodies in their order, then obstacles; frames: numbers of those that will be asked for."""
        stage, colours = cls(trajectory, list(frames)), {b: _few(c) for b, c in body_colours(trajectory).items()}
        low, high = stage._box()
        stage.size = float(np.linalg.norm(high - low)) or 1.0
        for name in trajectory.body_names:
            stage.parts.append(stage._body(name, colours[name]))
        for number, obstacle in enumerate(trajectory.obstacles):
            stage.parts.append(stage._obstacle(number, obstacle, (low + high) / 2))
        return stage

    @property
    def times(self) -> Array:
        """Of the chosen frames, (frames,) [s]."""
        return np.asarray(self.trajectory.times, dtype=float)[self.frames]

    @property
    def spring_radius(self) -> float:
        """Of lines, as they are drawn [m]."""
        return SPRING * self.size

    @property
    def particle_radius(self) -> float:
        """Of points that no triangle or line holds [m]."""
        return PARTICLE * self.size

    def _body(self, name: str, colours: Array) -> Part:
        seen = self.trajectory
        carriers, triangles, lines = seen.carriers(name), seen.triangles(name), seen.lines(name)
        points = points_of(seen, name, carriers)
        if not len(triangles) or (carriers is not None and any(k.U.shape[2] for k in carriers.kinds)):
            volume = volume_of(seen, name, points)
            rows = None if carriers is None else partial(seen.carriage, name)
            return Part(name, "body", triangles, lines, colours, points, carriers=carriers, rows=rows, volume=volume)
        prototype, motion = self._rigid(points, triangles, len(colours) == 1) or (None, None)
        volume = volume_of(seen, name, points)
        return Part(name, "body", triangles, lines, colours, points, prototype, motion, volume=volume)

    def _rigid(
        self, points: Callable[[int], Array], triangles: Array, has_one_colour: bool
    ) -> tuple[Prototype, Array] | None:
        """The prototype of a part and how it moves; None where it deforms. One of several colours shares none."""
        first = points(self.frames[0]).astype(float)
        own = Prototype(len(self.prototypes), first - first.mean(axis=0), triangles, has_one_colour)
        alike = (p for p in self.prototypes if p.is_shared and own.is_shared and _is_alike(p, own))
        prototype = next((p for p in alike if rigid_row(p.X, first) is not None), own)
        rows = []
        for frame in self.frames:
            row = rigid_row(prototype.X, points(frame).astype(float))
            if row is None:
                return None
            rows.append(row)
        if prototype is own:
            self.prototypes.append(own)
        return prototype, self._moving(np.array(rows))

    def _moving(self, rows: Array) -> Array:
        """Places and quaternions of frames (f, 12); one where all are the same."""
        motion = poses_of_rows(rows)
        return motion if np.abs(motion - motion[0]).max() > SAME * min(self.size, 1.0) else motion[:1]

    def _obstacle(self, number: int, obstacle: RecordedObstacle, middle: Array) -> Part:
        seen = self.trajectory
        poses = np.array([seen.poses(frame)[number] for frame in self.frames])
        R = rotations.to_matrix(poses[0, 3:])
        nodes, triangles = obstacle_surface(obstacle, (middle - poses[0, :3]) @ R, PLANE * self.size)
        nodes = np.asarray(nodes, dtype=float)
        rows = np.concatenate([poses[:, :3], rotations.to_matrix(poses[:, 3:]).reshape(-1, 9)], axis=1)

        def points(frame: int) -> Array:
            pose = seen.poses(frame)[number]
            return (pose[:3] + nodes @ rotations.to_matrix(pose[3:]).T).astype(np.float32)

        prototype = Prototype(len(self.prototypes), nodes, np.asarray(triangles))
        self.prototypes.append(prototype)
        lines, colours = np.zeros((0, 2), dtype=np.int64), rgb(STONE)[None]
        return Part(
            obstacle.name, "obstacle", prototype.triangles, lines, colours, points, prototype, self._moving(rows)
        )

    def _box(self) -> tuple[Array, Array]:
        """Lowest and highest corner of the bodies in the first and the last frame, (3,) each [m]."""
        seen = self.trajectory
        corners = [np.zeros((0, 3))]
        for name in seen.body_names:
            for frame in dict.fromkeys((self.frames[0], self.frames[-1])):
                x = seen.points(name, frame)
                corners.append(np.stack([x.min(axis=0), x.max(axis=0)]))
        ends = np.concatenate(corners)
        return (ends.min(axis=0), ends.max(axis=0)) if len(ends) else (np.zeros(3), np.ones(3))


def points_of(seen: Trajectory, name: str, carriers: Carriers | None) -> Callable[[int], Array]:
    """The points of a body at a frame, (n, 3) float32; what carries them is read once."""
    if carriers is None:
        return lambda frame: np.asarray(seen.points(name, frame), dtype=np.float32)
    return lambda frame: carriers.positions(seen.carriage(name, frame)).astype(np.float32)


def volume_of(seen: Trajectory, name: str, points: Callable[[int], Array]) -> Volume | None:
    """The tets of a body whose surface points at a frame are given; None where they are not recorded."""
    tets = seen.tets(name)
    if tets is None:
        return None
    return Volume(tets, lambda frame: np.concatenate([points(frame), seen.inner_points(name, frame)]))


def poses_of_rows(rows: Array) -> Array:
    """Places [m] and quaternions (f, ..., 7) of frames (f, ..., 12), the quaternions without jumps of their sign.

    >>> row = np.array([1.0, 2, 3, *np.eye(3).ravel()])
    >>> poses_of_rows(row[None])
    array([[1., 2., 3., 1., 0., 0., 0.]])
    """
    q = rotations.from_matrix(rows[..., 3:].reshape(*rows.shape[:-1], 3, 3))
    return np.concatenate([rows[..., :3], without_jumps(q)], axis=-1)


def without_jumps(q: Array) -> Array:
    """Quaternions (f, ..., 4) of turns over time, each of the sign that is nearer to the one before."""
    flips = np.where(np.sum(q[1:] * q[:-1], axis=-1, keepdims=True) < 0, -1.0, 1.0)
    return q * np.concatenate([np.ones_like(q[:1, ..., :1]), np.cumprod(flips, axis=0)])


def unique_names(names: Sequence[str], made: Callable[[str], str]) -> Iterator[str]:
    """Names as a format allows them, made by `made`, each once."""
    taken: set[str] = set()
    for name in names:
        plain = made(name) or "part"
        found, number = plain, 1
        while found in taken:
            number += 1
            found = f"{plain}_{number}"
        taken.add(found)
        yield found


def linear(colour: Array) -> Array:
    """Light of red, green, blue as screens show it, 0 to 1, in proportion to its power (sRGB, IEC 61966-2-1).

    >>> linear(np.array([0.0, 0.5, 1.0])).round(4).tolist()
    [0.0, 0.214, 1.0]
    """
    c = np.asarray(colour, dtype=float)
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def _few(colours: Array) -> Array:
    """One colour (1, 3) where all are the same."""
    return colours[:1] if (colours == colours[:1]).all() else colours


def _is_alike(one: Prototype, other: Prototype) -> bool:
    return one.X.shape == other.X.shape and np.array_equal(one.triangles, other.triangles)
