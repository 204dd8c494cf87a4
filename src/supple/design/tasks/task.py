"""Task: what a robot is to do, as data: a scene, a grid that the body must fit in, a score and how long it takes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from supple.material.voxel import VoxelMaterial

CELL = 0.05  # edge of a cell [m]
CONTROL_RATE = 20.0  # [Hz]
EMPTY, FIRM, SOFT, MUSCLE = 0, 1, 2, 3
"""Numbers of cells."""
STRAIN = 0.15  # of a muscle's edge at an action of 1


def palette() -> dict[int, VoxelMaterial]:
    """Materials of robots by number: firm, soft, muscle."""

    def made(name: str, young: float, expansion: float, colour: tuple[float, float, float, float]) -> VoxelMaterial:
        return VoxelMaterial(
            young, 1000.0, expansion=expansion, bond_damping=0.3, ground_damping=1e-3, contact_damping=0.8,
            static_friction=1.0, kinetic_friction=0.8, colour=colour, name=name,
        )  # fmt: skip

    return {
        FIRM: made("firm", 4e5, 0.0, (0.45, 0.5, 0.58, 1.0)),
        SOFT: made("soft", 1e5, 0.0, (0.55, 0.75, 0.85, 1.0)),
        MUSCLE: made("muscle", 2e5, STRAIN, (0.88, 0.45, 0.36, 1.0)),
    }


@dataclass(frozen=True)
class Task:
    """name: with its version; a change of any number in it or its scene makes a new version.

    grid: cells (nx, ny, nz) that a body fits in. duration [s]. score: its name in `scores`. scene: a file of the
    package without the robot. height [m] at which the grid's filled part begins; lies: the robot starts on its side.
    rise: of the ground under the robot along x [m/m]; the robot starts inclined with it.
    body: what is carried, thrown or pushed, a body of the scene. target [m]: a place to be reached.
    """

    name: str
    summary: str
    score: str
    scene: str
    unit: str = "m"
    grid: tuple[int, int, int] = (5, 5, 5)
    duration: float = 8.0
    height: float = 0.0
    lies: bool = False
    rise: float = 0.0
    body: str | None = None
    target: tuple[float, float, float] | None = None

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
        return files("supple.design.tasks") / "scenes" / self.scene

    def to_row(self) -> Mapping[str, Any]:
        """For listings."""
        return {"name": self.name, "environment": self.environment, "summary": self.summary, "unit": self.unit}
