"""Designs as VoxCAD files, for VoxCAD, evosoro and voxcraft: the robot is written whatever its world is, and what such
a file cannot say is told by name. The file can be tried in turn, see `WrittenArena`.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np

from supple.contact import Floor
from supple.design.arena import Arena, ArenaLike
from supple.design.content import content_key
from supple.design.designs import Design
from supple.design.study.plain_arena import plain_arena
from supple.design.tasks.task import Task
from supple.errors import ExportNotice
from supple.files.voxcad.load import load_voxcad
from supple.files.voxcad.record import StopKind, VoxcadEnvironment, VoxcadFile, VoxcadSimulator
from supple.files.voxcad.scene import BODY, voxcad_scene
from supple.files.voxcad.writer import save_voxcad
from supple.geometry import VoxelGrid
from supple.scene.scene import Scene


@dataclass(frozen=True)
class WrittenArena:
    """What a written .vxa file says, as an arena of its own robot: whatever design is tried in it, the file is run, and
    measured as long as the design was. path: of the file; settle, duration: as of an `Arena` [s]."""

    path: Path
    settle: float
    duration: float
    record_every: float = 1 / 30
    body: ClassVar[str] = BODY
    dt: ClassVar[float | None] = None
    measures: ClassVar[tuple[str, ...]] = ("travel",)

    def scene(self, design: Design, seed: int = 0) -> Scene:
        """The scene of the file."""
        return voxcad_scene(load_voxcad(self.path))

    def key(self) -> str:
        """SHA-256 of the file and the times."""
        return content_key("written arena", self.path.read_bytes(), self.settle, self.duration, self.record_every)


def voxcad_of(design: Design, arena: ArenaLike) -> VoxcadFile:
    """A design in its arena, at its task or in its scene file as a VoxCAD scene, as far as such a file can say it; what
    it cannot say is told by `lost_in_voxcad`.

    The robot swings from the start there: files have no time in which an actuation grows. It swings as a sine, where a
    task holds what its waves say for 1/20 s. One with a controller of its own stands still.
    """
    arena, _ = plain_arena(arena, design)
    filled = np.argwhere(design.cells)
    box = tuple(slice(a, b) for a, b in zip(filled.min(axis=0), filled.max(axis=0) + 1))
    numbers = np.unique(design.cells[design.cells > 0]).tolist()
    cells = np.zeros(design.cells.shape, dtype=np.uint8)
    young = np.zeros(design.cells.shape)
    for k, number in enumerate(numbers, start=1):
        cells[design.cells == number] = k
        young[design.cells == number] = arena.materials[number].young
    fields = {}
    if "phase" in design.fields:
        fields["PhaseOffset"] = design.fields["phase"][box]
    if "stiffness" in design.fields:
        fields["Stiffness"] = (young * design.fields["stiffness"])[box]
    gravity = float(np.asarray(arena.gravity)[2])
    swings = _swings(arena) and not arena.has_controller(design)
    return VoxcadFile(
        VoxelGrid(cells[box], arena.voxel_size),
        tuple(arena.materials[number] for number in numbers),
        voxel_fields=fields,
        simulator=VoxcadSimulator(
            self_collision=arena.self_contact,
            stop_kind=StopKind.TIME,
            stop_value=arena.settle + arena.duration,
            measured_from=arena.settle,
        ),
        environment=VoxcadEnvironment(
            gravity_enabled=gravity != 0.0,
            gravity_acceleration=gravity,
            floor_enabled=bool(arena.obstacles),
            temperature_enabled=swings,
            temperature_amplitude=arena.amplitude if swings else 0.0,
            temperature_varies=swings,
            temperature_period=1.0 / arena.frequency if swings else 0.1,
        ),
    )


def save_design(design: Design, arena: ArenaLike, path: str | Path) -> list[str]:
    """Write a design in its arena as a .vxa file. What the file lacks is returned, and told by an `ExportNotice`."""
    save_voxcad(voxcad_of(design, arena), path)
    lost = lost_in_voxcad(design, arena)
    if lost:
        warnings.warn(f"the .vxa file lacks {', '.join(lost)}", ExportNotice, stacklevel=2)
    return lost


def lost_in_voxcad(design: Design, given: ArenaLike) -> list[str]:
    """What a .vxa file cannot say of a design in its arena, in words.

    >>> from supple.design.tasks import find_task
    >>> lost_in_voxcad(Design(np.full((2, 2, 2), 3)), find_task("swim-v1"))
    ['the fluid', 'that each action is held for 1/20 s']
    """
    arena, lost = plain_arena(given, design)
    own = ("friction", "static_friction", "restitution", "motion")
    floors = [
        one
        for one in arena.obstacles
        if isinstance(one, Floor) and one.offset == 0.0 and all(getattr(one, name) is None for name in own)
    ]
    lacking = {
        "the controller": arena.has_controller(design),
        "rigid cells": any(arena.materials[n].rigid for n in np.unique(design.cells[design.cells > 0]).tolist()),
        "the field 'gain'": "gain" in design.fields,
        "the field 'density'": "density" in design.fields,
        "the fluid": arena.fluid is not None,
        "objects": bool(arena.objects),
        "obstacles other than one plain floor at z = 0": len(floors) < len(arena.obstacles) or len(floors) > 1,
        "gravity that is not along z": bool(np.asarray(arena.gravity)[:2].any()),
        "the velocity at the start": bool(np.any(arena.velocity)),
        "that each action is held for 1/20 s": isinstance(given, Task),
        "that the swing grows within `settle`": arena.settle > 0.0 and _swings(arena),
    }
    return [*lost, *(what for what, there in lacking.items() if there)]


def _swings(arena: Arena) -> bool:
    return arena.amplitude != 0.0 and arena.frequency > 0.0
