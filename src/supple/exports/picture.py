"""Pictures: a shaded view of all bodies and obstacles at a few moments, with the energies beneath; needs no display
and no GL.

Earlier moments are faint and stand behind, the last one is solid and casts a shadow straight down on the
grid, which lies on the ground that the bodies stand on, or under the lowest point that is seen. What is under
the ground is not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from supple.exports.camera import Camera
from supple.exports.facets import Facets, discs, lit_surface, ribbons
from supple.exports.layers import Sheet, lay
from supple.exports.obstacles import drawn_obstacles, is_plane
from supple.exports.seen import Seen
from supple.record.files.contacts import Contacts
from supple.record.reader import Trajectory

Array = np.ndarray
COLOURS = ("#5b8fd0", "#ee9a4d", "#62b37c", "#c76a9c", "#9a8bd8", "#d4b548", "#66b6c4", "#b98267")
INK, FAINT_INK, GRID, SHADOW = "#33373d", "#8a9099", "#d5d9de", "#e6e9ed"
STONE, WALL, ARROW = "#b9b4ac", "#eef0f3", "#c0392b"
ARROWS = {"arrowstyle": "-|>", "color": ARROW, "linewidth": 1.4, "mutation_scale": 9, "shrinkA": 0, "shrinkB": 0}
LONGEST = 0.12  # arrow of the largest force, over the size of all that is seen
FARTHEST = (
    1.5  # distance of an obstacle's nodes from the bodies' middle, over their size, up to which all of it is seen
)
MOMENTS = 4
MAX_LOOKED_AT = 200  # frames, when moments are chosen
FAINTEST, FAINTER = 0.16, 0.42  # opacities of the first moment and of the last but one
SEAM = 0.2  # points: facets are this much wider, so that no gaps show between them
Place = tuple[float, float, float, float]
VIEW, VIEW_ALONE = (0.03, 0.30, 0.94, 0.60), (0.03, 0.03, 0.94, 0.87)
PLOT = (0.085, 0.075, 0.785, 0.185)


def save_picture(
    trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None, *, contacts: bool = False
) -> None:
    """A PNG of the given frames, or of a few moments from the first to the last; with forces of contacts on request."""
    chosen = choose_moments(trajectory) if frames is None else sorted(set(frames))
    has_energies = len(trajectory.times) > 1
    place = VIEW if has_energies else VIEW_ALONE
    view = View(trajectory, tuple(chosen), Camera())
    base, *moments = view.sheets(place)
    times = ", ".join(f"{trajectory.times[k]:.3g}" for k in chosen)
    draw_titles(base.figure, trajectory.name, f"t = {times} s", trajectory.body_names)
    if has_energies:
        draw_energies(base.figure.add_axes(PLOT), trajectory, chosen)
    if contacts:
        sheet, touching = Sheet(), trajectory.contacts(chosen[-1])
        largest = view.draw_contacts(touching, sheet.plane(place, *view.bounds))
        if largest:
            base.figure.text(0.04, 0.905, f"contact forces up to {largest:.3g} N", fontsize=9.5, color=ARROW, va="top")
        moments.append(sheet)
    lay(view.layers(base, *moments), path)


def choose_moments(trajectory: Trajectory) -> list[int]:
    """First, last and a few frames between, evenly along the way that the points go."""
    last = len(trajectory.times) - 1
    looked_at = np.unique(np.linspace(0, last, min(last + 1, MAX_LOOKED_AT)).astype(int))
    way = np.zeros(len(looked_at))
    before: Array | None = None
    for k, frame in enumerate(looked_at):
        points = np.concatenate([trajectory.points(body, int(frame)) for body in trajectory.body_names])
        if before is not None:
            way[k] = way[k - 1] + float(np.sqrt(np.mean((points - before) ** 2)))
        before = points
    if way[-1] == 0:
        way = trajectory.times[looked_at]
    wanted = np.linspace(way[0], way[-1], MOMENTS)
    nearest = {int(looked_at[np.argmin(np.abs(way - w))]) for w in wanted}
    return sorted(nearest | {0, last})


@dataclass(frozen=True, eq=False)
class View:
    """What the camera sees of the bodies at some frames."""

    trajectory: Seen
    frames: tuple[int, ...]
    camera: Camera

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Lowest and highest corner of all that is seen, (3,) each [m]."""
        bodies = self.trajectory.body_names
        points = np.concatenate([self.trajectory.points(b, k) for b in bodies for k in self.frames]).astype(float)
        near = near_obstacles(self.trajectory, self.frames[-1], points)
        points = np.concatenate([points, *near])
        return points.min(axis=0), points.max(axis=0)

    @cached_property
    def ground(self) -> tuple[Array, float]:
        """Normal (3,) and offset [m] of the ground, n . x = offset."""
        known = self.trajectory.ground
        if known is None:
            return np.array([0.0, 0.0, 1.0]), float(self.box[0][2])
        return np.array(known[:3]), float(known[3])

    def on_ground(self, points: Array) -> Array:
        """Points (..., 3) [m] moved up or down to the ground."""
        (n, d), fallen = self.ground, points.copy()
        fallen[..., 2] = (d - points[..., :2] @ n[:2]) / n[2]
        return fallen

    @cached_property
    def extent(self) -> float:
        """Size of all that is seen [m]."""
        return float(np.linalg.norm(self.box[1] - self.box[0])) or 1.0

    @cached_property
    def ticks(self) -> tuple[Array, Array, float]:
        """Lines of the grid along x and y, at round distances that are returned too [m]."""
        (low, high), margin = self.box, 0.05 * self.extent
        raw = (self.extent + 2 * margin) / 8
        unit = 10.0 ** np.floor(np.log10(raw))
        spacing = unit * min((1, 2, 5, 10), key=lambda k: abs(k * unit - raw))
        first, last = np.floor((low - margin) / spacing), np.ceil((high + margin) / spacing)
        x, y = (np.arange(first[i], last[i] + 1) * spacing for i in range(2))
        return x, y, float(spacing)

    @cached_property
    def bounds(self) -> tuple[Array, Array]:
        """Lowest and highest corner of the picture's plane, (2,) each [m]."""
        (low, high), (x, y, _) = self.box, self.ticks
        ground = self.on_ground(np.array([(a, b, 0.0) for a in (x[0], x[-1]) for b in (y[0], y[-1])]))
        corners = [(a, b, c) for a in (low[0], high[0]) for b in (low[1], high[1]) for c in (low[2], high[2])]
        seen = self.camera.project(np.concatenate([ground, corners]))
        margin = 0.02 * self.extent
        return seen.min(axis=0) - margin, seen.max(axis=0) + margin

    def facets(self, frame: int) -> Facets:
        """All bodies at a frame."""
        parts = []
        for index, body in enumerate(self.trajectory.body_names):
            colour = _rgb(COLOURS[index % len(COLOURS)])
            points = self.trajectory.points(body, frame)
            triangles, lines = self.trajectory.triangles(body), self.trajectory.lines(body)
            if len(triangles):
                parts.append(lit_surface(points, triangles, self.camera, colour, self.extent / 40))
                continue
            if len(lines):
                width, longest = 0.004 * self.extent, self.extent / 40
                parts.append(ribbons(points, lines, self.camera, 0.8 * colour, width, longest))
            parts.append(discs(points, self.camera, colour, 0.008 * self.extent))
        parts += self._obstacles(frame)
        found, (n, d) = Facets.join(parts), self.ground
        return found.chosen(found.corners.mean(axis=1) @ n >= d - 1e-3 * self.extent)

    def _obstacles(self, frame: int) -> list[Facets]:
        """Obstacles that have an end; those that stay are drawn with the last moment alone."""
        moving, last = trajectory_moves(self.trajectory), frame == self.frames[-1]
        shown = {o.name for o, moves in zip(self.trajectory.obstacles, moving) if not is_plane(o) and (last or moves)}
        surfaces = self._surfaces(frame)
        parts = [surfaces[name] for name in surfaces if name in shown]
        return [lit_surface(x, t, self.camera, _rgb(STONE), self.extent / 40) for x, t in parts]

    def _surfaces(self, frame: int) -> dict[str, tuple[Array, Array]]:
        low, high = self.box
        return drawn_obstacles(self.trajectory, frame, (low + high) / 2, 1.2 * self.extent)

    def draw_walls(self, axes: Any) -> None:
        """Planes but the ground, as squares behind all else."""
        from matplotlib.collections import PolyCollection

        (n, d), surfaces = self.ground, self._surfaces(self.frames[-1])
        for obstacle in self.trajectory.obstacles:
            x, _ = surfaces[obstacle.name]
            if is_plane(obstacle) and not np.allclose(x @ n, d, atol=1e-6 * self.extent):
                above = x.copy()
                above[:, 2] = np.maximum(x[:, 2], self.on_ground(x)[:, 2])
                axes.add_collection(
                    PolyCollection([self.camera.project(above)], facecolors=WALL, edgecolors=GRID, linewidths=0.8),
                    autolim=False,
                )

    def sheets(self, place: Place) -> list[Sheet]:
        """The ground with what stands still, then the moments, each on a sheet of its own."""
        base = Sheet(background="white")
        ground = base.plane(place, *self.bounds)
        self.draw_walls(ground)
        self.draw_ground(ground)
        moments = [Sheet() for _ in self.frames]
        for sheet, frame in zip(moments, self.frames):
            self.draw_moment(sheet.plane(place, *self.bounds), frame)
        return [base, *moments]

    def layers(self, base: Sheet, *more: Sheet) -> list[tuple[Sheet, float]]:
        """Sheets with their opacities: all moments but the last are faint."""
        last = len(self.frames) - 1
        faint = [FAINTEST + (FAINTER - FAINTEST) * order / max(last - 1, 1) for order in range(last)]
        return [(base, 1.0), *zip(more, [*faint, *[1.0] * (len(more) - last)])]

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

    def draw_moment(self, axes: Any, frame: int) -> None:
        """All bodies at a frame, the farthest facets first."""
        from matplotlib.collections import PolyCollection

        corners, colours = self.facets(frame).painted(self.camera)
        axes.add_collection(
            PolyCollection(list(corners), facecolors=colours, edgecolors=colours, linewidths=SEAM),
            autolim=False,
        )

    def draw_ground(self, axes: Any) -> None:
        """The shadow of the last moment, and the grid with its spacing."""
        from matplotlib.collections import LineCollection, PolyCollection

        shadow = list(self.camera.project(self.on_ground(self.facets(self.frames[-1]).corners)))
        axes.add_collection(
            PolyCollection(shadow, facecolors=SHADOW, edgecolors=SHADOW, linewidths=SEAM), autolim=False
        )
        x, y, spacing = self.ticks
        lines = [[(a, y[0], 0.0), (a, y[-1], 0.0)] for a in x] + [[(x[0], b, 0.0), (x[-1], b, 0.0)] for b in y]
        flat = list(self.camera.project(self.on_ground(np.array(lines))))
        axes.add_collection(LineCollection(flat, colors=GRID, linewidths=0.6), autolim=False)
        corner = self.camera.project(self.on_ground(np.array([x[-1], y[0], 0.0])))
        axes.text(*corner, f"  grid {spacing:g} m", color=FAINT_INK, fontsize=8, ha="left", va="center")


def trajectory_moves(trajectory: Seen) -> list[bool]:
    """Which obstacles move."""
    return [bool(moves) for moves in np.any(trajectory.poses(0) != trajectory.poses(-1), axis=1)]


def near_obstacles(trajectory: Seen, frame: int, points: Array) -> list[Array]:
    """Nodes of obstacles that are not much larger than all bodies (n, 3) and not far from them: they are to be seen."""
    low, high = points.min(axis=0), points.max(axis=0)
    extent, middle = float(np.linalg.norm(high - low)) or 1.0, (low + high) / 2
    found = []
    surfaces = drawn_obstacles(trajectory, frame, middle, extent)
    for obstacle in trajectory.obstacles:
        x, _ = surfaces[obstacle.name]
        if not is_plane(obstacle) and np.linalg.norm(x - middle, axis=1).max() <= FARTHEST * extent:
            found.append(x)
    return found


def draw_energies(axes: Any, trajectory: Trajectory, frames: Sequence[int]) -> None:
    """Kinetic and potential energy over time, the latter from its start, their sum, and the moments of the
    view.
    """
    columns, t = trajectory.columns, trajectory.times
    kinetic, potential = columns["kinetic"], columns["potential"] - columns["potential"][0]
    for k in frames:
        axes.axvline(t[k], color=GRID, linewidth=1.0, zorder=0)
    series = (("kinetic", kinetic, COLOURS[1], 1.6), ("potential", potential, COLOURS[0], 1.6))
    for label, values, colour, width in (*series, ("total", kinetic + potential, INK, 1.8)):
        axes.plot(t, values, color=colour, linewidth=width, label=label, solid_capstyle="round")
    axes.set_xlim(t[0], t[-1])
    axes.set_xlabel("time [s]", fontsize=9, color=INK)
    axes.set_title("energy [J], the potential from its start", fontsize=9, color=INK, loc="left")
    axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize=9, labelcolor=INK)
    axes.tick_params(labelsize=8, colors=INK, length=3)
    axes.grid(axis="y", color="#eceef1", linewidth=0.7)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def draw_titles(figure: Any, title: str, moments: str, names: Sequence[str]) -> None:
    """Name and moments at the top left, the bodies in their colours at the top right."""
    figure.text(0.04, 0.965, title, fontsize=14, color=INK, weight="bold", va="top")
    figure.text(0.04, 0.93, moments, fontsize=9.5, color=FAINT_INK, va="top")
    for index, name in enumerate(names[: len(COLOURS)]):
        y = 0.962 - 0.026 * index
        figure.text(0.945, y, name, fontsize=9.5, color=INK, ha="right", va="top")
        figure.text(0.953, y, "\u25cf", fontsize=11, color=COLOURS[index], ha="left", va="top")
    if len(names) > len(COLOURS):
        more = f"and {len(names) - len(COLOURS)} more"
        figure.text(0.945, 0.962 - 0.026 * len(COLOURS), more, fontsize=9, color=FAINT_INK, ha="right", va="top")


def _rgb(colour: str) -> Array:
    from matplotlib.colors import to_rgb

    return np.array(to_rgb(colour))
