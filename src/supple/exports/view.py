"""View: what the camera sees of bodies and obstacles at some frames, and where the ground is.

The picture is framed by the bodies, near obstacles and their shadows. The grid lies on the ground that the bodies stand
on, or under the lowest point that is seen, and fades out around them. What is under the ground is not seen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.exports import solids
from supple.exports.camera import Camera
from supple.exports.canvas import Canvas, Solid, Window, darken, lay
from supple.exports.layers import Place
from supple.exports.obstacles import drawn_obstacles, is_plane
from supple.exports.seen import Seen
from supple.material.colour import PALETTE, rgb
from supple.record.files.contacts import Contacts

Array = np.ndarray
INK, FAINT_INK, GRID = "#33373d", "#8a9099", "#c3c9d1"
STONE, WALL, ARROW = "#b9b4ac", "#eef0f3", "#c0392b"
SHADOW, SOFTNESS = 0.13, 0.005
"""Darkness of shadows, and their blur over the height of the picture."""
ARROWS = {"arrowstyle": "-|>", "color": ARROW, "linewidth": 1.4, "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
LONGEST = 0.12
"""Arrow of the largest force, over the size of all that is seen."""
FARTHEST = 1.5
"""Distance of an obstacle's nodes from the bodies' middle, over their size, up to which all of it is seen."""
MARGIN = 0.03
ENOUGH = 20_000
"""Points of a body by which a picture is framed."""
SPRING, PARTICLE = 0.0022, 0.008
"""Radii of springs and particles, over the size of all that is seen."""
Tint = Callable[[str, int], Array | None]
"""Colours (n, 3) of the points of a body at a frame; None: its own."""


@dataclass(frozen=True, eq=False)
class View:
    """What the camera sees. frames: those that are to be seen whole. tint: other colours than the bodies' own."""

    seen: Seen
    frames: tuple[int, ...]
    camera: Camera
    tint: Tint | None = None

    @cached_property
    def _points(self) -> Array:
        """Points that are to be seen, (n, 3) [m]: of large bodies some, and those that are farthest along each axis."""
        parts = [_some(self.seen.points(b, k)) for b in self.seen.body_names for k in self.frames]
        points = np.concatenate(parts).astype(float)
        return np.concatenate([points, *near_obstacles(self.seen, self.frames[-1], points)])

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Lowest and highest corner of all that is seen, (3,) each [m]."""
        return self._points.min(axis=0), self._points.max(axis=0)

    @cached_property
    def ground(self) -> tuple[Array, float]:
        """Normal (3,) and offset [m] of the ground, n . x = offset."""
        known = self.seen.ground
        if known is None:
            lowest = float(self.box[0][2])
            loose = [b for b in self.seen.body_names if not len(self.seen.triangles(b))]
            balls = [self.seen.points(b, k)[:, 2].min() for b in loose for k in self.frames]
            return np.array([0.0, 0.0, 1.0]), min([lowest, *(z - PARTICLE * self.extent for z in balls)])
        return np.array(known[:3]), float(known[3])

    def on_ground(self, points: Array) -> Array:
        """Points (..., 3) [m] moved up or down to the ground."""
        (n, d), fallen = self.ground, np.array(points, dtype=float)
        fallen[..., 2] = (d - fallen[..., :2] @ n[:2]) / n[2]
        return fallen

    @cached_property
    def extent(self) -> float:
        """Size of all that is seen [m]."""
        return float(np.linalg.norm(self.box[1] - self.box[0])) or 1.0

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest corner of the picture's plane, (2,) each [m]; only what is above the ground counts."""
        (n, d), points = self.ground, self._points
        above = points[points @ n >= d - 1e-3 * self.extent]
        points = above if len(above) else points
        seen = self.camera.project(np.concatenate([points, self.on_ground(points)]))
        low, high = seen.min(axis=0), seen.max(axis=0)
        margin = MARGIN * (float((high - low).max()) or self.extent)
        return low - margin, high + margin

    def window(self, place: Place) -> Window:
        """The view at a place of a picture."""
        return Window(self.camera, (place.width, place.height), *self.bounds, self.ground)

    @cached_property
    def _bodies(self) -> list[tuple[str, Array, Array, Array, Array]]:
        """Name, triangles, lines, own colours and the number of these at each triangle's corners, of each body."""
        found = []
        for body, own in body_colours(self.seen).items():
            triangles = self.seen.triangles(body)
            kinds, kind = (own, np.zeros(1, dtype=int)) if len(own) == 1 else solids.distinct(own)
            corners = np.broadcast_to(kind.reshape(-1, 1), triangles.shape).astype(np.int64)
            found.append((body, triangles, self.seen.lines(body), kinds, corners))
        return found

    @property
    def main_colours(self) -> dict[str, Array]:
        """The colour that most of a body has, (3,), by name."""
        return {
            body: own[np.bincount(corners[:, 0], minlength=1).argmax()] for body, _, _, own, corners in self._bodies
        }

    def bodies(self, frame: int) -> list[Solid]:
        """All bodies at a frame."""
        found = []
        for body, triangles, lines, own, corners in self._bodies:
            points, tint = self.seen.points(body, frame), None if self.tint is None else self.tint(body, frame)
            if len(triangles) and tint is not None:
                found.append(Solid.of_points(points, triangles, tint))
            elif len(triangles):
                found.append(Solid(points, triangles, own, corners))
            else:
                colours = own if tint is None else tint
                if len(lines):
                    found.append(solids.tubes(points, lines, 0.8 * colours, SPRING * self.extent))
                found.append(solids.balls(points, colours, PARTICLE * self.extent))
        return found

    def obstacles(self, frame: int, *, moving_only: bool) -> list[Solid]:
        """Obstacles that have an end."""
        surfaces = self._surfaces(frame)
        shown = [
            o.name
            for o, moves in zip(self.seen.obstacles, obstacles_move(self.seen))
            if not is_plane(o) and (moves or not moving_only)
        ]
        return [Solid.plain(*surfaces[name], rgb(STONE)) for name in shown]

    def _surfaces(self, frame: int) -> dict[str, tuple[Array, Array]]:
        low, high = self.box
        return drawn_obstacles(self.seen, frame, (low + high) / 2, 1.2 * self.extent)

    def lay_moment(self, picture: Array, frame: int, *, opacity: float = 1.0) -> None:
        """Lay bodies and obstacles upon a picture (height, width, 3) of the view, with their shadow where they are not
        faint; obstacles that stay are not drawn with faint moments."""
        window = Window(self.camera, (picture.shape[1], picture.shape[0]), *self.bounds, self.ground)
        solid = [*self.bodies(frame), *self.obstacles(frame, moving_only=opacity < 1)]
        if opacity == 1:
            half = Window(self.camera, (window.size[0] // 2, window.size[1] // 2), *self.bounds, self.ground)
            shadow = Canvas(half)  # it is blurred: half the pixels do
            for part in solid:
                shadow.cover(self.on_ground(part.points), part.triangles)
            darken(picture, shadow.seen, SHADOW, max(1, round(SOFTNESS * len(picture))))
        canvas = Canvas(window)
        for part in solid:
            canvas.draw(part)
        lay(picture, canvas, opacity)

    def draw_walls(self, axes: Any) -> None:
        """Planes but the ground, as squares behind all else."""
        from matplotlib.collections import PolyCollection

        (n, d), surfaces = self.ground, self._surfaces(self.frames[-1])
        for obstacle in self.seen.obstacles:
            x, _ = surfaces[obstacle.name]
            if is_plane(obstacle) and not np.allclose(x @ n, d, atol=1e-6 * self.extent):
                above = x.copy()
                above[:, 2] = np.maximum(x[:, 2], self.on_ground(x)[:, 2])
                square = PolyCollection([self.camera.project(above)], facecolors=WALL, edgecolors=GRID, linewidths=0.8)
                axes.add_collection(square, autolim=False)

    @cached_property
    def spacing(self) -> float:
        """A round distance between lines of the grid [m]."""
        raw = self.extent / 8
        unit = 10.0 ** np.floor(np.log10(raw))
        return float(unit * min((1, 2, 5, 10), key=lambda k: abs(k * unit - raw)))

    def draw_ground(self, axes: Any) -> None:
        """The grid, which fades out, and its spacing."""
        from matplotlib.collections import LineCollection
        from matplotlib.colors import to_rgba

        (low, high), step = self.box, self.spacing
        middle, reach = (low + high) / 2, 0.5 * float(np.linalg.norm((high - low)[:2])) + 2.5 * step
        pieces = np.arange(np.floor(-reach / step) * 4, np.ceil(reach / step) * 4 + 1) * (step / 4)
        lines = []
        for axis in (0, 1):
            for place in np.arange(np.ceil((middle[axis] - reach) / step), (middle[axis] + reach) / step) * step:
                path = np.zeros((len(pieces), 3))
                path[:, axis], path[:, 1 - axis] = place, middle[1 - axis] + pieces
                lines.append(np.stack([path[:-1], path[1:]], axis=1))
        segments = self.on_ground(np.concatenate(lines))
        distance = np.linalg.norm((segments.mean(axis=1) - middle)[:, :2], axis=1) / reach
        colours = np.tile(to_rgba(GRID), (len(segments), 1))
        colours[:, 3] = np.clip(2.0 * (1 - distance), 0, 1)
        collection = LineCollection(list(self.camera.project(segments)), colors=colours, linewidths=0.6)
        axes.add_collection(collection, autolim=False)
        text = {"color": FAINT_INK, "fontsize": 8, "ha": "right", "va": "bottom", "transform": axes.transAxes}
        axes.text(0.995, 0.005, f"grid {step:g} m", **text)

    def draw_contacts(self, touching: Contacts, axes: Any) -> float:
        """The force between each two that touch, on the first, as an arrow where it acts; returns the largest [N]."""
        pairs = np.array([f"{one}\0{other}" for one, other in touching.pairs])
        places, forces = [], []
        for pair in np.unique(pairs):
            own = pairs == pair
            weight = np.linalg.norm(touching.force[own], axis=1)
            if weight.any():
                places.append(weight @ touching.place[own] / weight.sum())
                forces.append(touching.force[own].sum(axis=0))
        largest = float(np.linalg.norm(forces, axis=1).max()) if forces else 0.0
        if largest:
            tips = np.array(places) + np.array(forces) * (LONGEST * self.extent / largest)
            for start, tip in zip(self.camera.project(np.array(places)), self.camera.project(tips)):
                axes.annotate("", xy=tip, xytext=start, arrowprops=ARROWS, annotation_clip=False)
        return largest


def _some(points: Array) -> Array:
    """At most some 20,000 of points (n, 3), the extreme ones among them."""
    if len(points) <= ENOUGH:
        return points
    ends = np.concatenate([points.argmin(axis=0), points.argmax(axis=0)])
    return points[np.concatenate([ends, np.arange(0, len(points), len(points) // ENOUGH)])]


def body_colours(seen: Seen) -> dict[str, Array]:
    """Colours of the bodies by name: of each triangle (k, 3) or of all (1, 3); one of `PALETTE` where a body has
    none."""
    given = {body: seen.colours(body) for body in seen.body_names}
    return {
        body: rgb(PALETTE[k % len(PALETTE)])[None] if colours is None else colours
        for k, (body, colours) in enumerate(given.items())
    }


def obstacles_move(seen: Seen) -> list[bool]:
    """Which obstacles move."""
    return [bool(moves) for moves in np.any(seen.poses(0) != seen.poses(-1), axis=1)]


def near_obstacles(seen: Seen, frame: int, points: Array) -> list[Array]:
    """Nodes of obstacles that are not much larger than all bodies (n, 3) and not far from them: they are to be seen."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent, middle = float(np.linalg.norm(high - low)) or 1.0, (low + high) / 2
    found = []
    surfaces = drawn_obstacles(seen, frame, middle, extent)
    for obstacle in seen.obstacles:
        x, _ = surfaces[obstacle.name]
        if not is_plane(obstacle) and np.linalg.norm(x - middle, axis=1).max() <= FARTHEST * extent:
            found.append(x)
    return found
