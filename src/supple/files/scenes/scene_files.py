"""Load and save scenes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from supple.errors import InputError, check_instance, check_path
from supple.files.scenes.complaints import as_format_error
from supple.files.scenes.places import Place
from supple.files.scenes.schema.scene import Document
from supple.files.scenes.syntax import VOXCAD_SUFFIXES, check_suffix, read_data, write_data
from supple.scene import Scene


@dataclass(frozen=True)
class RunSettings:
    """What a scene file says about running it, None where it does not: until, dt, record_every [s]."""

    until: float | None = None
    dt: float | None = None
    record_every: float | None = None


@dataclass(frozen=True)
class SceneFile:
    """A scene and how its file wants it run."""

    scene: Scene
    run: RunSettings


def load(path: str | Path, *, outside: bool = False) -> Scene:
    """The scene of a .toml or .json file, or of a VoxCAD file (.vxa, .vxc, .vxd).

    A VoxCAD file's gravity, floor, temperature and held voxels are in its scene. Its stop condition is not:
    `voxcad_settings` of `supple.files.voxcad.load` has it. Its body is the scene's only one, for a scene of your own:
    `load("robot.vxa").nodes[0].body`.

    outside: let a scene file name others outside its own folder, by absolute paths or "..".
    """
    return load_scene_file(path, outside=outside).scene


def load_scene_file(
    path: str | Path,
    *,
    outside: bool = False,
    make_example: Callable[[str], Scene] | None = None,
    stand_ins: Mapping[str, Any] | None = None,
) -> SceneFile:
    """As `load`, with the file's [run] table, or a VoxCAD file's time to stop. make_example: makes the built-in scene
    of a name, for files that hold what was changed in one. stand_ins: bodies that are taken for those of these names,
    before what acts on them is read."""
    from supple.files.scenes.reading.events import build_events
    from supple.files.scenes.reading.scene import build_scene

    path = check_path(path, where="load")
    if path.suffix.lower() in VOXCAD_SUFFIXES:
        return _load_voxcad(path)
    document = _checked(read_data(path), path)
    place = Place(path, outside=outside)
    scene = (
        build_scene(document, place, stand_ins or {})
        if document.example is None
        else _example(document.example, place, make_example)
    )
    if document.name is None and document.example is None:
        scene.name = path.stem
    scene.events = build_events(document.events, scene, place)
    return SceneFile(scene, RunSettings(**dict(document.run)))


def _example(name: str, place: Place, make: Callable[[str], Scene] | None) -> Scene:
    if make is None:
        raise place.at("example").error(
            "the file holds what was changed in a built-in scene", value=name,
            fix="Run it by `supple run FILE`, or load it by supple.cli.scenes.find_scene(path).scene.",
        )  # fmt: skip
    with place.at("example").guarded():
        return make(name)


def _load_voxcad(path: Path) -> SceneFile:
    from supple.files.voxcad.load import load_voxcad, voxcad_scene, voxcad_settings

    file = load_voxcad(path)
    settings = voxcad_settings(file)
    times = RunSettings(until=settings.get("until"), record_every=settings["record_every"])
    return SceneFile(voxcad_scene(file, name=path.stem), times)


def save(scene: Scene, path: str | Path, *, run: RunSettings | None = None, example: str | None = None) -> None:
    """Write a scene as .toml or .json; meshes too large to stand in it are written beside it as .vtu files.

    Trees of domains are written as folders beside it, shapes and matrices of floating bodies as .npz files. Its events
    are written too. example: the name of the built-in scene that it is; the file names it then, with its events alone.

    A scene that holds functions of Python or forces of your own cannot be saved; the error says which.
    """
    from supple.files.scenes.schema.scene import VERSION
    from supple.files.scenes.writing.events import describe_events
    from supple.files.scenes.writing.scene import describe_scene

    check_instance(scene, Scene, "a scene", where="save")
    path = check_path(path, where="save")
    if run is not None:
        check_instance(run, RunSettings, "settings of a run", where="save, run")
    if example is not None:
        check_instance(example, str, "the name of an example", where="save, example")
    check_suffix(path)
    data, meshes = ({"supple": VERSION, "example": example}, {}) if example else describe_scene(scene, path)
    settings = {k: v for k, v in vars(run or RunSettings()).items() if v is not None}
    if settings:
        data["run"] = settings
    if scene.events:
        data["events"] = describe_events(scene.events)
    _checked(data, path)
    if not path.parent.is_dir():
        raise InputError("the folder does not exist", where=str(path.parent))
    for file, mesh in meshes.items():
        _save_mesh(file, mesh)
    write_data(path, data)


def _save_mesh(path: Path, mesh: Any) -> None:
    from supple.bodies.tree import DomainTree
    from supple.decompose import save_domain_tree
    from supple.errors import RecordError
    from supple.geometry import save_mesh

    try:
        if isinstance(mesh, dict):
            np.savez(path, allow_pickle=False, **mesh)
        elif isinstance(mesh, DomainTree):
            save_domain_tree(path, mesh)
        else:
            save_mesh(path, mesh)
    except OSError as error:
        raise RecordError(f"the mesh cannot be written: {error.strerror}", where=str(path)) from error


def _checked(data: Any, path: Path) -> Document:
    try:
        return Document.model_validate(data)
    except ValidationError as error:
        raise as_format_error(error, path.name) from error
