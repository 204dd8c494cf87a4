"""VTK: an index with times (.pvd) and one unstructured grid (.vtu) a frame and body, which every version
reads.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from supple.errors import InputError
from supple.exports.fields import FIELDS, check_field
from supple.exports.obstacles import drawn_obstacles
from supple.record.files.vtkhdf import block_names
from supple.record.reader import Record, Trajectory


def save_vtk(
    trajectory: Trajectory,
    path: Path,
    frames: Sequence[int] | None = None,
    *,
    contacts: bool = False,
    colour: str | None = None,
) -> None:
    """The index at `path`, the grids in the folder of the same name beside it: bodies, obstacles, and on request points
    of contacts with their forces on the first body [N]. colour: a field of `supple.exports.fields`, as an array."""
    import meshio

    if colour is not None:
        check_field(colour)
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    root = ElementTree.Element("VTKFile", type="Collection", version="0.1")
    collection = ElementTree.SubElement(root, "Collection")
    names = block_names(trajectory.body_names)
    cells = {body: _cells(trajectory, body) for body in trajectory.body_names}
    for frame in range(len(trajectory.times)) if frames is None else frames:
        for part, (body, name) in enumerate(zip(trajectory.body_names, names)):
            file = folder / f"{name}_{frame:06d}.vtu"
            points = trajectory.points(body, frame)
            arrays = {} if colour is None else {colour: FIELDS[colour][1](trajectory, body, frame)}
            shown = cells[body] or [("vertex", np.arange(len(points))[:, None])]
            meshio.Mesh(points, shown, point_data=arrays).write(file)
            time = repr(float(trajectory.times[frame]))
            entry = {"timestep": time, "part": str(part), "name": body, "file": f"{folder.name}/{file.name}"}
            ElementTree.SubElement(collection, "DataSet", entry)
        beside = _obstacles(trajectory, frame)
        if contacts:
            touching = trajectory.contacts(frame)
            dots = [("vertex", np.arange(len(touching.place))[:, None])]
            beside["contacts"] = meshio.Mesh(touching.place, dots, point_data={"force": touching.force})
        for name, mesh in beside.items():
            file = folder / f"{_plain(name)}_{frame:06d}.vtu"
            mesh.write(file)
            entry = {"timestep": time, "part": str(len(names)), "name": name, "file": f"{folder.name}/{file.name}"}
            ElementTree.SubElement(collection, "DataSet", entry)
    ElementTree.indent(root)
    ElementTree.ElementTree(root).write(path, encoding="utf-8", xml_declaration=True)


def _obstacles(trajectory: Trajectory, frame: int) -> dict[str, Any]:
    """The obstacles at a frame; planes as squares somewhat larger than all bodies."""
    import meshio

    points = np.concatenate([trajectory.points(body, frame) for body in trajectory.body_names]).astype(float)
    low, high = points.min(axis=0), points.max(axis=0)
    size = 2.0 * float(np.linalg.norm(high - low)) or 1.0
    found = drawn_obstacles(trajectory, frame, (low + high) / 2, size)
    names = block_names([*trajectory.body_names, *found])[len(trajectory.body_names) :]
    return {name: meshio.Mesh(x, [("triangle", t)]) for name, (x, t) in zip(names, found.values())}


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name)


def save_record_copy(trajectory: Trajectory, path: Path, frames: Sequence[int] | None = None) -> None:
    """The record's own file, which ParaView 5.12 and later read."""
    if not isinstance(trajectory, Record):
        raise InputError("the run kept no record", where="export", fix="Run it with out= a folder.")
    if frames is not None:
        raise InputError("the record is copied as a whole", where="export", value=list(frames), allowed="frames=None")
    if path.resolve() != trajectory.path.resolve():
        shutil.copyfile(trajectory.path, path)


def _cells(trajectory: Trajectory, body: str) -> list[tuple[str, np.ndarray]]:
    kinds = (("triangle", trajectory.triangles(body)), ("line", trajectory.lines(body)))
    return [(kind, cells) for kind, cells in kinds if len(cells)]
