"""Staging: the shapes that the canvas draws of a run, and their rows at a frame.

A body that frames carry is sent as these; one whose points keep their distances as one frame, in the axes of an earlier
body of the same shape where there is one, so that copies share their points; any other as its points.
Obstacles are frames as well. The plane on which bodies stand is drawn by the canvas itself.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.carried import Carriers
from supple.canvas.shapes import CarriedShape, PointsShape, Shape, rigid_shape
from supple.errors import InputError
from supple.exports.obstacles import is_plane, obstacle_surface
from supple.exports.view import STONE, body_colours
from supple.material.colour import rgb
from supple.record.files.obstacles import RecordedObstacle
from supple.record.reader import Trajectory

Array = np.ndarray
Rows = Callable[[int], Array]
RIGID = 1e-5
"""How far points may be from those of a rigid motion, over the size of all of them."""
AROUND = np.array([way for way in product((-1, 0, 1), repeat=3) if any(way)], dtype=np.float32).T
"""Directions in which the outermost points are looked for, (3, 26)."""
LOOKS = 5
"""Frames by which the picture is framed."""


class Staging:
    """shapes: bodies in their order, then obstacles. outline (n, 3) [m]: points of the bodies at a few frames that are
    outermost along some directions; box (2, 3) [m]: around all."""

    def __init__(self, trajectory: Trajectory, frames: list[int]) -> None:
        """frames: numbers of those that will be asked for."""
        self.trajectory, self.frames = trajectory, frames
        self._rigid: list[CarriedShape] = []
        colours = body_colours(trajectory)
        found = [self._body(name, colours[name]) for name in trajectory.body_names]
        self.outline = self._outline()
        self.box = seen_box(self.outline)
        for number, obstacle in enumerate(trajectory.obstacles):
            if not is_ground(obstacle, trajectory.ground):
                found.append(self._obstacle(number, obstacle))
        self.shapes: list[Shape] = [shape for shape, _ in found]
        self._rows = [rows for _, rows in found]

    def rows(self, frame: int) -> list[Array]:
        """Of each shape its numbers at a frame."""
        found = [rows(frame) for rows in self._rows]
        for shape, row in zip(self.shapes, found):
            if not np.isfinite(row).all():
                raise InputError(
                    f"'{shape.name}' has positions that are not finite",
                    where="export to html",
                    value=f"frame {frame}",
                    fix="Leave such frames out with frames=.",
                )
        return found

    def _body(self, name: str, colours: Array) -> tuple[Shape, Rows]:
        seen = self.trajectory
        carriers = seen.carriers(name)
        if carriers is not None and (len(colours) == 1 or len(carriers.kind) > 1):
            tint = colours if len(colours) == 1 else domain_colours(carriers, colours)
            return CarriedShape(name, "body", carriers, tint), lambda frame: seen.carriage(name, frame)
        triangles, lines = seen.triangles(name), seen.lines(name)
        turns = self._rigid_rows(name) if len(triangles) and len(colours) == 1 else None
        if turns is not None:
            return self._rigid_body(name, triangles, colours, turns)
        is_balls = not len(triangles)
        count = len(seen.points(name, self.frames[0]))
        shape = PointsShape(name, "body", count, colours, triangles, lines, is_balls)
        return shape, lambda frame: seen.points(name, frame)

    def _rigid_body(self, name: str, triangles: Array, colours: Array, turns: dict[int, Array]) -> tuple[Shape, Rows]:
        """A body that moves as one. turns: of each frame, since the first one."""
        first = self.trajectory.points(name, self.frames[0]).astype(float)
        for other in self._rigid:
            X, _, same = other.carriers.kinds[0]
            if len(X) == len(first) and np.array_equal(same, triangles) and (start := rigid_row(X, first)) is not None:
                return (
                    CarriedShape(name, "body", other.carriers, colours),
                    {frame: composed(row, start) for frame, row in turns.items()}.__getitem__,
                )
        self._rigid.append(rigid_shape(name, "body", first, triangles, colours))
        return self._rigid[-1], turns.__getitem__

    def _rigid_rows(self, name: str) -> dict[int, Array] | None:
        """Of each frame the motion of all points since the first one; None where it is not rigid."""
        first, found = self.trajectory.points(name, self.frames[0]).astype(float), {}
        for frame in sorted(self.frames, key=lambda k: (k not in _some(self.frames), k)):
            row = rigid_row(first, self.trajectory.points(name, frame).astype(float))
            if row is None:
                return None
            found[frame] = row
        return found

    def _obstacle(self, number: int, obstacle: RecordedObstacle) -> tuple[Shape, Rows]:
        low, high = self.box
        nodes, triangles = obstacle_surface(obstacle, (low + high) / 2, float(np.linalg.norm(high - low)))

        def rows(frame: int) -> Array:
            return pose_row(self.trajectory.poses(frame)[number])

        return rigid_shape(obstacle.name, "obstacle", nodes, triangles, rgb(STONE)[None]), rows

    def _outline(self) -> Array:
        seen, found = self.trajectory, [np.zeros((0, 3))]
        for body in seen.body_names:
            for frame in _some(self.frames):
                x = seen.points(body, frame)
                found.append(x[np.unique((x @ AROUND).argmax(axis=0))].astype(float))
        return np.concatenate(found)


def seen_box(points: Array) -> Array:
    """Lowest and highest corner, (2, 3) [m], of some points (n, 3); a unit cube of none."""
    return np.stack([points.min(axis=0), points.max(axis=0)]) if len(points) else np.array([[0.0] * 3, [1.0] * 3])


def pose_row(pose: Array) -> Array:
    """The frame (12,) of a pose (7,), place [m] and quaternion, as `Carriers` take it."""
    return np.concatenate([pose[:3], rotations.to_matrix(pose[3:]).ravel()])


def rigid_row(first: Array, x: Array) -> Array | None:
    """The frame (12,) that carries points (n, 3) as they were first to where they are; None where none does [Kabsch].

    >>> first = np.array([(0.0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)])
    >>> rigid_row(first, first + 2.0)[:3]
    array([2., 2., 2.])
    """
    a, b = first - first.mean(axis=0), x - x.mean(axis=0)
    U, _, Vt = np.linalg.svd(b.T @ a)
    R = (U * [1.0, 1.0, np.sign(np.linalg.det(U @ Vt)) or 1.0]) @ Vt
    if np.abs(b - a @ R.T).max(initial=0.0) > RIGID * np.abs(a).max(initial=0.0):
        return None
    return np.concatenate([x.mean(axis=0) - R @ first.mean(axis=0), R.ravel()])


def composed(after: Array, before: Array) -> Array:
    """The frame (12,) of two, one after the other."""
    R, S = after[3:].reshape(3, 3), before[3:].reshape(3, 3)
    return np.concatenate([after[:3] + R @ before[:3], (R @ S).ravel()])


def domain_colours(carriers: Carriers, colours: Array) -> Array:
    """Colours of the domains (d, 3) from those of the triangles that are shown, (t, 3): of each domain the one that
    most of its triangles have; at seams a triangle may be another domain's."""
    out, d = np.zeros((len(carriers.kind), 3)), len(carriers.kind)
    tints, tint = np.unique(colours, axis=0, return_inverse=True)
    domain = np.searchsorted(carriers.starts, carriers.triangles[:, 0], side="right") - 1
    votes = np.bincount(domain * len(tints) + tint.ravel(), minlength=d * len(tints)).reshape(d, len(tints))
    has_any = votes.any(axis=1)
    out[has_any] = tints[votes.argmax(axis=1)[has_any]]
    return out


def _some(frames: list[int]) -> list[int]:
    return [frames[k] for k in sorted({round(k) for k in np.linspace(0, len(frames) - 1, LOOKS)})]


def is_ground(obstacle: RecordedObstacle, ground: list[float] | None) -> bool:
    """Whether an obstacle is the plane on which bodies stand."""
    if ground is None or not is_plane(obstacle):
        return False
    given = [*obstacle.shape["normal"], float(obstacle.shape["offset"])]
    return bool(np.allclose(given, ground))
