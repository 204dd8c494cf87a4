"""SceneArena: an arena whose world is a scene file. The robot joins the bodies, obstacles and contacts of the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from supple.design.arena import Arena
from supple.design.content import content_key
from supple.design.designs import Design
from supple.errors import InputError, check_instance
from supple.files.scenes.scene_files import load
from supple.scene.scene import Scene


@dataclass(frozen=True, eq=False)
class SceneArena:
    """The world of a scene file. robot: an arena that says how robots are made, placed and driven, and for how long;
    its own gravity, obstacles, objects, fluid and self-contact count for nothing. file: .toml or .json; it is read for
    every design, so keep it as it is while a search runs. Files that it names are not part of the key.
    """

    robot: Arena
    file: str

    def __post_init__(self) -> None:
        check_instance(self.robot, Arena, "an Arena", where="SceneArena")
        object.__setattr__(self, "file", str(self.file))
        names = [node.name for node in self._world().nodes]
        if self.body in names:
            raise InputError("the scene has a body of the robot's name", where=self.file, value=self.body,
                             fix="Give it another name.")  # fmt: skip

    @property
    def body(self) -> str:
        """The name of the design's node."""
        return self.robot.body

    @property
    def measures(self) -> tuple[str, ...]:
        """Those that are taken where none are asked for."""
        return self.robot.measures

    @property
    def duration(self) -> float:
        """Of what is measured [s]."""
        return self.robot.duration

    @property
    def settle(self) -> float:
        """Before it is measured [s]."""
        return self.robot.settle

    @property
    def dt(self) -> float | None:
        """Step [s], None: the solver's own."""
        return self.robot.dt

    @property
    def record_every(self) -> float:
        """Time between frames [s]."""
        return self.robot.record_every

    def _world(self) -> Scene:
        return load(self.file)

    def scene(self, design: Design, seed: int = 0) -> Scene:
        """The scene of the file with the robot in it."""
        scene = self._world()
        scene.add(self.robot.body_of(design), name=self.body, velocity=self.robot.velocity)
        return scene

    def key(self) -> str:
        """SHA-256 of the robot's arena and the text of the file."""
        return content_key("scene arena", self.robot.key(), Path(self.file).read_bytes())

    def with_(self, **changes: Any) -> SceneArena:
        """The same world with robots that are made otherwise."""
        return SceneArena(self.robot.with_(**changes), self.file)
