"""Vibration modes for other programs and for looking at: shapes in VTK, a picture of one, a table of frequencies.

A point of a surface moves by u = J d in a mode d; J d is taken as the central difference of its positions along d.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from supple.errors import InputError
from supple.exports import video
from supple.exports.camera import Camera
from supple.exports.canvas import reduced
from supple.exports.layers import Place, Sheet, save_png
from supple.exports.picture import SIZE, VIEW_ALONE, draw_moments, draw_titles
from supple.exports.table import write_csv, write_markdown
from supple.exports.video import FPS, SHORTEST, Film, draw_film, framed, writer_of
from supple.exports.view import View
from supple.record.files.obstacles import obstacles_of, poses_of
from supple.record.files.vtkhdf import block_names
from supple.record.ground import ground_of
from supple.record.surfaces import make_surfaces
from supple.solvers.methods.modes import Modes

Array = np.ndarray
SMALL = 1e-6
"""Largest change of a coordinate, over the size of the scene, along which positions are differenced."""
SWING = 0.08
"""Largest motion of a point in a picture, over the size of the scene."""
RIGID = 1e-3
"""Frequency of a mode, over that of the highest one, below which it is taken for a rigid motion."""


class SwingingBodies:
    """The bodies in a mode at moments, each given by its displacement: 0 at rest, -1 and 1 at the turning points."""

    def __init__(self, modes: Modes, number: int, moments: Sequence[float] = (-1.0, 0.0, 1.0)) -> None:
        self.moments = moments
        system, state = modes.system, modes.state
        self.surfaces = {s.name: s for s in make_surfaces(system)}
        self.rest = {name: s.shown.skin.positions(s.slot.view_x(state.x)) for name, s in self.surfaces.items()}
        self.moved = point_motions(modes, number)
        self.obstacles, self.ground = obstacles_of(system), ground_of(system)
        self._poses = poses_of(system, state.t)
        largest = max(float(np.linalg.norm(u, axis=1).max(initial=0.0)) for u in self.moved.values())
        self.scale = SWING * _size(list(self.rest.values())) / (largest or 1.0)

    @property
    def body_names(self) -> list[str]:
        """Names of the bodies."""
        return list(self.surfaces)

    def points(self, body: str, frame: int) -> Array:
        """Surface points of a body (n, 3) [m] at a moment."""
        return self.rest[body] + self.moments[frame] * self.scale * self.moved[body]

    def poses(self, frame: int) -> Array:
        """Where the obstacles are, (n, 7)."""
        return self._poses

    def triangles(self, body: str) -> Array:
        """Surface triangles of a body, (k, 3)."""
        return self.surfaces[body].triangles

    def lines(self, body: str) -> Array:
        """Lines of a body, (l, 2)."""
        return self.surfaces[body].lines

    def colours(self, body: str) -> Array | None:
        """Of its triangles (k, 3) or of all (1, 3)."""
        return self.surfaces[body].colours


def point_motions(modes: Modes, number: int) -> dict[str, Array]:
    """How the surface points of each body move in a mode, (n, 3) [1/kg^1/2]."""
    system, x, d = modes.system, modes.state.x, modes.shapes[number]
    skins = {slot.name: (slot, slot.body.render_surface().skin) for slot in system.bodies}
    rest = [skin.positions(slot.view_x(x)) for slot, skin in skins.values()]
    step = SMALL * _size(rest) / (float(np.abs(d).max()) or 1.0)
    ends = system.retract(x, -step * d), system.retract(x, step * d)
    found = {}
    for name, (slot, skin) in skins.items():
        before, after = (skin.positions(slot.view_x(end)) for end in ends)
        found[name] = (after - before) / (2 * step)
    return found


def save_modes_vtk(modes: Modes, path: Path, chosen: Sequence[int] | None = None) -> None:
    """An index at `path` and a .vtu file a body in the folder of the same name, with an array of point motions a mode,
    named after its number from 1 on and its frequency."""
    import meshio

    numbers = list(range(len(modes.frequencies)) if chosen is None else chosen)
    moved = {number: point_motions(modes, number) for number in numbers}
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    root = ElementTree.Element("VTKFile", type="Collection", version="0.1")
    collection = ElementTree.SubElement(root, "Collection")
    surfaces = make_surfaces(modes.system)
    for part, (surface, name) in enumerate(zip(surfaces, block_names([s.name for s in surfaces]))):
        kinds = ("triangle", surface.triangles), ("line", surface.lines)
        points = surface.shown.skin.positions(surface.slot.view_x(modes.state.x))
        cells = [(kind, found) for kind, found in kinds if len(found)]
        arrays = {f"mode_{k + 1:03d}_{modes.frequencies[k]:.4g}_Hz": moved[k][surface.name] for k in numbers}
        mesh = meshio.Mesh(points, cells or [("vertex", np.arange(len(points))[:, None])], point_data=arrays)
        mesh.write(folder / f"{name}.vtu")
        entry = {"timestep": "0", "part": str(part), "name": surface.name, "file": f"{folder.name}/{name}.vtu"}
        ElementTree.SubElement(collection, "DataSet", entry)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def save_mode_picture(modes: Modes, path: Path, chosen: Sequence[int] | None = None) -> None:
    """A PNG of one mode at its turning points, by default of the lowest that is no rigid motion."""
    number = one_mode(modes, chosen)
    view = View(SwingingBodies(modes, number), (0, 1, 2), Camera())
    base = Sheet(SIZE, background="white")
    draw_titles(base.figure, modes.system.name, mode_title(modes, number), view)
    save_png(reduced(draw_moments(view, base, Place.of(SIZE, VIEW_ALONE))), path)


def save_mode_video(
    modes: Modes,
    path: Path,
    chosen: Sequence[int] | None = None,
    *,
    fps: float = FPS,
    size: tuple[int, int] = video.SIZE,
    length: float = SHORTEST,
) -> None:
    """One mode that swings once to and fro, as .gif or .mp4; chosen: as in pictures. See `video.Film`."""
    film, write, number = Film(fps, size, length), writer_of(path), one_mode(modes, chosen)
    count = max(4, round(length * fps))
    swing = SwingingBodies(modes, number, np.sin(2 * np.pi * np.arange(count) / count).tolist())
    view = View(swing, framed(range(count)), Camera())
    moments = [(k, mode_title(modes, number)) for k in range(count)]
    write(draw_film(view, film.size, modes.system.name, moments), path, count / length)


def one_mode(modes: Modes, chosen: Sequence[int] | None) -> int:
    """The number of the mode that is shown."""
    if chosen is not None and len(chosen) != 1:
        raise InputError(
            "a picture shows one mode", where="export", value=list(chosen), fix="Give frames=[number], a file each."
        )
    return lowest_swing(modes) if chosen is None else chosen[0]


def mode_title(modes: Modes, number: int) -> str:
    """Which mode, and its frequency."""
    grows = modes.growth[number]
    told = f"grows as exp({grows:.3g} t)" if grows else f"{modes.frequencies[number]:.4g} Hz"
    return f"mode {number + 1} of {len(modes.frequencies)}: {told}"


def lowest_swing(modes: Modes) -> int:
    """The number of the lowest mode that is no rigid motion; of one that grows where there is one."""
    swings = (modes.frequencies > RIGID * modes.frequencies.max()) | (modes.growth > 0)
    return int(np.argmax(swings))


def save_modes_csv(modes: Modes, path: Path, chosen: Sequence[int] | None = None) -> None:
    """Numbers from 1 on, frequencies and growth, comma-separated; numbers that read back exactly."""
    write_csv(path, *_table(modes, chosen))


def save_modes_markdown(modes: Modes, path: Path, chosen: Sequence[int] | None = None) -> None:
    """The same with six digits."""
    write_markdown(path, *_table(modes, chosen))


def _table(modes: Modes, chosen: Sequence[int] | None) -> tuple[list[str], Array]:
    rows = list(range(len(modes.frequencies)) if chosen is None else chosen)
    values = np.column_stack([np.arange(len(modes.frequencies)) + 1.0, modes.frequencies, modes.growth])
    return ["mode", "frequency [Hz]", "growth [1/s]"], values[rows]


def _size(parts: list[Array]) -> float:
    """Of all points [m]."""
    points = np.concatenate(parts)
    return float(np.linalg.norm(np.ptp(points, axis=0))) or 1.0
