"""Task: what a robot is to do, as data: a scene, a grid that the body must fit in, a score and how long it takes.

It is an arena (`supple.design.arena.ArenaLike`): `try_design(design, find_task("walk-v1"))` gives a design's score.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any, ClassVar

from supple.design.content import content_key
from supple.design.designs import Design
from supple.design.tasks.bodies import fit
from supple.design.tasks.driving import action_of
from supple.design.tasks.palette import CONTROL_RATE, ROBOT, palette
from supple.design.tasks.placing import add_robot, empty_scene
from supple.design.tasks.scores import Judge
from supple.design.tasks.senses import Senses
from supple.scene.scene import Scene


@dataclass(frozen=True)
class Task:
    """name: with its version; a change of any number in it or its scene makes a new version.

    grid: cells (nx, ny, nz) that a body fits in. duration [s]. score: its name in `scores`. scene_name: a file of the
    package without the robot. lies: the robot starts on its side. rise: of the ground under the robot along x [m/m];
    the robot starts inclined with it. thing: what is carried, thrown or pushed, a body of the scene. target [m]: a
    place to be reached.
    """

    name: str
    summary: str
    score: str
    scene_name: str
    unit: str = "m"
    grid: tuple[int, int, int] = (5, 5, 5)
    duration: float = 8.0
    lies: bool = False
    rise: float = 0.0
    thing: str | None = None
    target: tuple[float, float, float] | None = None
    body: ClassVar[str] = ROBOT
    settle: ClassVar[float] = 0.0
    dt: ClassVar[float | None] = None
    record_every: ClassVar[float] = 1 / CONTROL_RATE
    measures: ClassVar[tuple[str, ...]] = ("score",)

    @property
    def steps(self) -> int:
        """Control steps of an episode."""
        return round(self.duration * CONTROL_RATE)

    @property
    def environment(self) -> str:
        """Its name in Gymnasium."""
        name, version = self.name.rsplit("-", 1)
        return f"supple/{''.join(word.capitalize() for word in name.split('-'))}-{version}"

    def scene_file(self) -> Traversable:
        """The scene file, in the package."""
        return files("supple.design.tasks") / "scenes" / self.scene_name

    def key(self) -> str:
        """SHA-256 of the task's numbers, its scene file and what is given of the materials of robots."""
        numbers = {one.name: getattr(self, one.name) for one in fields(self)}
        materials = {number: _given(material) for number, material in palette().items()}
        return content_key("task", numbers, self.scene_file().read_text(encoding="utf-8"), materials)

    def scene(self, design: Design, seed: int = 0) -> Scene:
        """The scene of a design, driven by its network or its waves. seed: nothing in a task is left to chance."""
        fitted, scene = fit(self, design), empty_scene(self)
        senses = Senses(self, fitted.cells, fitted.phase, scene)
        add_robot(scene, self, fitted.cells, action_of(fitted, senses))
        return scene

    def judge(self) -> Judge:
        """Scores one run."""
        return Judge(self)

    def to_row(self) -> Mapping[str, Any]:
        """For listings."""
        return {"name": self.name, "environment": self.environment, "summary": self.summary, "unit": self.unit}


def _given(material: Any) -> dict[str, Any]:
    """Fields of a dataclass that are not as they are by default."""
    return {one.name: value for one in fields(material) if (value := getattr(material, one.name)) != one.default}
