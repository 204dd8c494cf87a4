"""FileArena: a scene file in which designs take the place of one voxel body, the robot."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from supple.bodies.voxel import VoxelBody
from supple.design.arena import Arena
from supple.design.content import content_key
from supple.design.designs import Design
from supple.design.scenes.robot_body import find_robot, given_of, with_transverse
from supple.errors import FileFormatError, InputError, check_instance, check_path
from supple.files.scenes.scene_files import RunSettings, SceneFile, load_scene_file
from supple.files.scenes.syntax import read_data
from supple.scene.scene import Scene

RECORD_EVERY = 1 / 30  # [s]


@dataclass(frozen=True, eq=False)
class FileArena:
    """A scene file of TOML or JSON whose voxel body named `body` is replaced by each design.

    The design has the body's materials by number, its voxel size, and its sine, if it has one; the middle of its
    underside is where that of the body is, and it is turned and moves as the body does. Everything else stays; what
    acts on regions or places of the robot acts on those of the design, a place on its nearest voxel. The file's [run]
    table says how long and how fine: until, dt, record_every [s]. settle: the part of it that is not measured [s], in
    which the sine grows. Workers read the file: on other machines it must be under the same path.
    """

    path: str | os.PathLike[str]
    body: str = "robot"
    settle: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", str(check_path(self.path, where="FileArena").absolute()))
        check_instance(self.body, str, "a name", where="FileArena, body")
        _ = self.arena

    @property
    def measures(self) -> tuple[str, ...]:
        """Those that are taken where none are asked for."""
        return self.arena.measures

    @property
    def duration(self) -> float:
        """Time that is measured [s]."""
        return self.arena.duration

    @property
    def dt(self) -> float | None:
        """Step [s]; None: the solver's own."""
        return self._times.dt

    @property
    def record_every(self) -> float:
        """Time between frames [s]."""
        return self._times.record_every or RECORD_EVERY

    @cached_property
    def _times(self) -> RunSettings:
        return self._loaded().run

    @cached_property
    def arena(self) -> Arena:
        """What makes the bodies: an arena with the robot's materials, voxel size, place and sine."""
        file = self._loaded()
        robot = self._robot(file.scene)
        self._loaded({self.body: robot})  # an error where no other body could take its place
        end = file.run.until
        if end is None or end <= self.settle:
            raise InputError("the file does not say how long to run", where=f"{self.path}, run.until", value=end,
                             allowed=f"> {self.settle:g} s")  # fmt: skip
        return Arena(
            **given_of(robot, str(self.path)),
            duration=end - self.settle,
            settle=self.settle,
            obstacles=tuple(file.scene.obstacles.values()),
        )

    def key(self) -> str:
        """SHA-256 of the file and of the files that it names."""
        path = Path(self.path)
        named = {name: _digest(path.parent / name) for name in sorted(set(_texts(read_data(path))))}
        files = {name: digest for name, digest in named.items() if digest}
        return content_key("file arena", path.read_bytes(), files, self.body, float(self.settle))

    def scene(self, design: Design, seed: int = 0) -> Scene:
        """The file's scene with the design in the robot's place. seed: nothing in a file is left to chance."""
        body = with_transverse(self.arena.body_of(design), self._transverse)
        try:
            return self._loaded({self.body: body}).scene
        except FileFormatError as error:  # the file was read before, with its own robot
            raise InputError(f"the design does not fit what acts on the robot: {error.what}", where=error.where,
                             value=error.value, allowed=error.allowed, fix=error.fix) from error  # fmt: skip

    def _loaded(self, stand_ins: Mapping[str, VoxelBody] | None = None) -> SceneFile:
        return load_scene_file(str(self.path), stand_ins=stand_ins)

    @cached_property
    def _transverse(self) -> Any:
        return self._robot(self._loaded().scene).transverse

    def _robot(self, scene: Scene) -> VoxelBody:
        return find_robot(scene, self.body, str(self.path))


def _texts(data: Any) -> Iterator[str]:
    """All text in plain data."""
    if isinstance(data, str):
        yield data
    elif isinstance(data, Mapping):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)


def _digest(path: Path) -> str:
    """Of a file's content, or of all files in a folder; "" where there is none."""
    try:
        if path.is_file():
            return content_key(path.read_bytes())
        if path.is_dir():
            return content_key({str(p.relative_to(path)): p.read_bytes() for p in path.rglob("*") if p.is_file()})
    except (OSError, ValueError):
        pass
    return ""
