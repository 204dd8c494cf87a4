"""SCENE on the command line: a built-in name, a .toml or .json scene, a VoxCAD file, or a .py file."""

from __future__ import annotations

import runpy
import sys
import traceback
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from supple.cli.names import unknown
from supple.errors import FileFormatError, InputError, SuppleError

SUFFIXES = (".toml", ".json", ".vxa", ".vxc", ".vxd", ".py")


@dataclass(frozen=True)
class Chosen:
    """A scene to run. settings: what its maker says about until, dt, record_every [s]. notes: what a person should know
    first. voxcad: the record of the file, where it is one of VoxCAD's. arena: in which its robot is measured, where the
    file says so.
    """

    name: str
    scene: Any
    settings: dict[str, Any] = field(default_factory=dict)
    example: Any = None
    notes: tuple[str, ...] = ()
    voxcad: Any = None
    arena: Any = None


def find_scene(given: str, *, base: Path | None = None) -> Chosen:
    """The scene a person means. base: the file that a .vxd file changes."""
    path = Path(given)
    if base is not None and path.suffix.lower() != ".vxd":
        raise InputError("only .vxd files have a base", where=given, fix="Leave out --base.")
    if path.suffix.lower() in SUFFIXES or path.is_file():
        if not path.is_file():
            raise InputError("there is no such file", value=given)
        if path.suffix.lower().startswith(".vx"):
            return _from_voxcad(path, base)
        return _from_python(path) if path.suffix.lower() == ".py" else _from_data(path)
    from supple.examples import registry
    from supple.examples.designs import studies

    known = registry()
    if given not in known:
        if given in studies():
            raise InputError(f"'{given}' is a search, not a scene", fix=f"Search with it: supple design {given}")
        fix = f"Built-in scenes: {', '.join(known)}; files end in {', '.join(SUFFIXES)}."
        raise unknown("built-in scene", given, known, fix=fix)
    example = known[given]
    settings = {"until": example.until, "record_every": example.record_every}
    return Chosen(given, make_example(given), settings, example)


def make_example(name: str) -> Any:
    """The built-in scene of a name."""
    from supple.examples import registry

    known = registry()
    if name not in known:
        raise unknown("built-in scene", name, known, fix=f"Built-in scenes: {', '.join(known)}.")
    scene = known[name].make()
    scene.example = name
    return scene


def _from_data(path: Path) -> Chosen:
    from supple.files import load_scene_file

    loaded = load_scene_file(path, make_example=make_example)
    return Chosen(path.stem, loaded.scene, {k: v for k, v in vars(loaded.run).items() if v is not None})


def _from_voxcad(path: Path, base: Path | None) -> Chosen:
    from supple.files.voxcad.load import load_voxcad, voxcad_notes, voxcad_scene, voxcad_settings

    file = load_voxcad(path, base=base)
    scene = voxcad_scene(file, name=path.stem)
    return Chosen(path.stem, scene, voxcad_settings(file), notes=tuple(voxcad_notes(file)), voxcad=file)


def _from_python(path: Path) -> Chosen:
    """Run a file of the person's own, which must leave `scene` or `make_scene()`."""
    sys.path.insert(0, str(path.resolve().parent))
    try:
        names = runpy.run_path(str(path))
        scene = names["make_scene"]() if "make_scene" in names else names.get("scene")
    except (SuppleError, KeyboardInterrupt):
        raise
    except (Exception, SystemExit) as error:
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(path)]
        line = getattr(error, "lineno", None) if isinstance(error, SyntaxError) else None
        line = line or (frames[-1].lineno if frames else None)
        reason = " ".join(str(error).split())[:200]
        where = f"{path.name}, line {line}" if line else path.name
        raise FileFormatError(f"{type(error).__name__}: {reason}".rstrip(": "), where=where) from error
    from supple.scene import Scene

    if not isinstance(scene, Scene):
        what = "the file defines neither a Scene called `scene` nor make_scene() that returns one"
        raise InputError(what, where=path.name)
    until = names.get("until")
    arena = names.get("arena", names.get("task"))
    return Chosen(path.stem, scene, {} if until is None else {"until": until}, arena=arena)
