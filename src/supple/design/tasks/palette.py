"""What all tasks share: the size of a cell, how often actions change, the materials of robots by number."""

from __future__ import annotations

from supple.material.voxel import VoxelMaterial

CELL = 0.05  # edge of a cell [m]
CONTROL_RATE = 20.0  # [Hz]
CLOCK = 2.0  # of the waves and of what a controller knows of the time [Hz]
EMPTY, FIRM, SOFT, MUSCLE = 0, 1, 2, 3
"""Numbers of cells."""
STRAIN = 0.15  # of a muscle's edge at an action of 1
ROBOT = "robot"
"""The name of the robot in its scene."""


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
