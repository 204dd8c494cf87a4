"""SavedScene: a scene as data, the files that `supple.save` writes of it: it has a key and goes to other processes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from supple.bodies.voxel import VoxelBody
from supple.design.content import content_key
from supple.errors import InputError, check_instance
from supple.files.scenes.scene_files import load, save
from supple.scene.scene import Scene

NAME = "scene.json"
FIX = (
    "Say it as data: a signal as SineInTime, TableInTime or Samples, a controller as arena.controller = "
    "'module:function'; or make a class with `scene(design, seed)` and `key()` of your own, see "
    "supple.design.arena.ArenaLike."
)


@dataclass(frozen=True, eq=False)
class SavedScene:
    """files: contents by name, below one folder.

    >>> import supple as sp
    >>> scene = sp.Scene(gravity=(0, 0, -9.81))
    >>> floor = scene.add(sp.Floor())
    >>> one, two = saved_scene(scene), saved_scene(scene)
    >>> one.key() == two.key(), list(one.load().obstacles)
    (True, ['floor'])
    """

    files: Mapping[str, bytes]

    def key(self) -> str:
        """SHA-256 of the content of all files."""
        return content_key("saved scene", self.files)

    def load(self, stand_ins: Mapping[str, VoxelBody] | None = None) -> Scene:
        """The scene. stand_ins: bodies that are taken for those of these names."""
        from supple.files.scenes.scene_files import load_scene_file

        with TemporaryDirectory(prefix="supple-scene-") as folder:
            for name, content in self.files.items():
                path = Path(folder) / name
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(content)
            return load_scene_file(Path(folder) / NAME, stand_ins=stand_ins).scene


def saved_scene(scene: Scene) -> SavedScene:
    """A scene as it is now; an InputError where it holds what is no data."""
    check_instance(scene, Scene, "a scene", where="evaluation")
    with TemporaryDirectory(prefix="supple-scene-") as folder:
        try:
            save(scene, Path(folder) / NAME)
            load(Path(folder) / NAME)
        except InputError as error:
            raise InputError(
                f"the scene holds what other processes cannot make again: {error.what}",
                where=error.where or "evaluation", value=error.value, fix=error.fix or FIX,
            ) from error  # fmt: skip
        paths = [path for path in sorted(Path(folder).rglob("*")) if path.is_file()]
        return SavedScene({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})


def as_saved(world: Any) -> SavedScene:
    """What was saved, as it is; a scene saved."""
    return world if isinstance(world, SavedScene) else saved_scene(world)
