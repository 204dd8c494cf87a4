"""Canvas: pixels that triangles of a scene are filled into, seen by a camera; and how they are laid upon each other.

All is drawn at twice the size and reduced.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.exports.camera import Camera
from supple.exports.raster_kernels import Drawn, Projection, add_normals, paint

Array = np.ndarray
FINER = 2
BURIED = 1e-3
"""How deep in the ground something is still seen, over the size of the picture."""


@dataclass(frozen=True, eq=False)
class Solid:
    """points (n, 3) [m], triangles (k, 3) of them; colours (m, 3), 0 to 1, and corner_colour (k, 3): rows of them."""

    points: Array
    triangles: Array
    colours: Array
    corner_colour: Array

    @classmethod
    def plain(cls, points: Array, triangles: Array, colour: Array) -> Solid:
        """In one colour (3,)."""
        return cls(points, triangles, np.reshape(colour, (1, 3)), np.zeros(np.shape(triangles), dtype=np.int64))

    @classmethod
    def of_points(cls, points: Array, triangles: Array, colours: Array) -> Solid:
        """In a colour a point (n, 3)."""
        return cls(points, triangles, colours, triangles)


@dataclass(frozen=True, eq=False)
class Window:
    """What is seen: size in pixels (width, height), and the plane of the picture from low to high, (2,) each [m];
    ground: normal (3,) and offset [m]."""

    camera: Camera
    size: tuple[int, int]
    low: Array
    high: Array
    ground: tuple[Array, float]

    @property
    def scale(self) -> float:
        """Pixels a metre."""
        return float(min(np.array(self.size) / (self.high - self.low)))

    @property
    def projection(self) -> Projection:
        """For the kernels."""
        camera, scale, rows = self.camera, self.scale, np.zeros((4, 4))
        middle = (self.low + self.high) / 2
        rows[0] = [*scale * camera.right, self.size[0] / 2 - scale * middle[0]]
        rows[1] = [*-scale * np.cross(camera.eye, camera.right), self.size[1] / 2 + scale * middle[1]]
        rows[2, :3] = camera.eye
        rows[3] = [*self.ground[0], -self.ground[1]]
        lowest = -BURIED * float(np.linalg.norm(self.high - self.low))
        return Projection(rows, camera.eye, camera.light, lowest)

    def pixels_of(self, points: Array) -> Array:
        """Columns and rows of points (..., 3) [m]."""
        rows = self.projection.rows[:2]
        return points @ rows[:, :3].T + rows[:, 3]


class Canvas:
    """colours (height, width, 3), 0 to 1, of what is seen; depth (height, width) [m]: -inf where nothing is."""

    def __init__(self, window: Window) -> None:
        width, height = window.size
        self.window = window
        self.depth = np.full((height, width), -np.inf)
        self.colours = np.zeros((height, width, 3), dtype=np.float32)

    def draw(self, solid: Solid) -> None:
        """Fill a solid in, in front of what is farther."""
        points = np.ascontiguousarray(solid.points, dtype=float)
        normals = np.zeros((len(points), 4))
        add_normals(points, np.ascontiguousarray(solid.triangles, dtype=np.int64), normals)
        self._paint(solid, points, normals)

    def cover(self, points: Array, triangles: Array) -> None:
        """Fill triangles in without colour: only where they are is asked for."""
        solid = Solid.plain(points, triangles, np.zeros(3))
        self._paint(solid, np.ascontiguousarray(points, dtype=float), np.ones((len(points), 4)))

    def _paint(self, solid: Solid, points: Array, normals: Array) -> None:
        numbers = (np.ascontiguousarray(a, dtype=np.int64) for a in (solid.triangles, solid.corner_colour))
        triangles, corner = numbers
        drawn = Drawn(points, normals, triangles, np.ascontiguousarray(solid.colours, dtype=float), corner)
        paint(drawn, self.window.projection, self.depth, self.colours)

    @property
    def seen(self) -> Array:
        """Where something is, (height, width)."""
        return np.isfinite(self.depth)


def lay(picture: Array, canvas: Canvas, opacity: float = 1.0) -> None:
    """Lay what a canvas shows upon a picture (height, width, 3), in place."""
    seen = canvas.seen
    picture[seen] += opacity * (canvas.colours[seen] - picture[seen])


def darken(picture: Array, seen: Array, strength: float, blur: int) -> None:
    """Lay a soft shadow upon a picture, of its size or of half of it, rounded down; blur: radius of the softness in
    pixels."""
    height, width = picture.shape[:2]
    if seen.shape != (height, width):
        seen = np.pad(seen.repeat(2, axis=0).repeat(2, axis=1), ((0, height % 2), (0, width % 2)), mode="edge")
    soft = _blurred(_blurred(seen.astype(np.float32), blur).T, blur).T
    picture *= (1.0 - strength * soft)[..., None]


def _blurred(values: Array, radius: int) -> Array:
    """Means over 2 radius + 1 rows."""
    padded = np.concatenate([np.zeros((radius + 1, values.shape[1])), values, np.zeros((radius, values.shape[1]))])
    total = np.cumsum(padded, axis=0)
    return np.asarray((total[2 * radius + 1 :] - total[: -2 * radius - 1]) / (2 * radius + 1), dtype=np.float32)


def reduced(picture: Array) -> Array:
    """The picture at its own size, (height, width, 3) of bytes."""
    height, width = picture.shape[0] // FINER, picture.shape[1] // FINER
    means = picture[: height * FINER, : width * FINER].reshape(height, FINER, width, FINER, 3).mean(axis=(1, 3))
    return np.asarray(np.clip(255 * means + 0.5, 0, 255), dtype=np.uint8)
