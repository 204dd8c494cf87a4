"""Designs as VoxCAD files, for VoxCAD, evosoro and voxcraft."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from supple.contact import Floor
from supple.design.arena import Arena, ArenaLike
from supple.design.designs import Design
from supple.design.study.plain_arena import plain_arena
from supple.design.tasks.task import Task
from supple.errors import ExportNotice, InputError
from supple.files.voxcad.record import StopKind, VoxcadEnvironment, VoxcadFile, VoxcadSimulator
from supple.files.voxcad.writer import save_voxcad
from supple.geometry import VoxelGrid

WHERE = "save_design"


def voxcad_of(design: Design, arena: ArenaLike) -> VoxcadFile:
    """A design in its arena, at its task or in its scene file as a VoxCAD scene; an InputError where such a file cannot
    say it.

    The robot swings from the start there: files have no time in which an actuation grows. It swings as a sine, where a
    task holds what its waves say for 1/20 s.
    """
    arena = plain_arena(arena, design)
    _check(design, arena)
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
    swings = arena.amplitude != 0.0 and arena.frequency > 0.0
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


def save_design(design: Design, arena: ArenaLike, path: str | Path) -> None:
    """Write a design in its arena as a .vxa file."""
    file = voxcad_of(design, arena)
    if isinstance(arena, Task):
        notice = "the .vxa file swings as a sine; the task holds each action for 1/20 s"
        warnings.warn(notice, ExportNotice, stacklevel=2)
    elif arena.settle > 0.0:
        notice = "the .vxa file swings in full from the start; the arena lets its actuation grow within `settle`"
        warnings.warn(notice, ExportNotice, stacklevel=2)
    save_voxcad(file, path)


def _check(design: Design, arena: Arena) -> None:
    own = ("friction", "static_friction", "restitution", "motion")
    floors = [
        one
        for one in arena.obstacles
        if isinstance(one, Floor) and one.offset == 0.0 and all(getattr(one, name) is None for name in own)
    ]
    lacking = {
        "a controller": design.controller is not None,
        "the field 'gain'": "gain" in design.fields,
        "the field 'density'": "density" in design.fields,
        "a fluid": arena.fluid is not None,
        "objects": bool(arena.objects),
        "obstacles other than one plain floor at z = 0": len(floors) < len(arena.obstacles) or len(floors) > 1,
        "gravity that is not along z": bool(np.asarray(arena.gravity)[:2].any()),
        "a velocity at the start": bool(np.any(arena.velocity)),
    }
    for what, there in lacking.items():
        if there:
            raise InputError(f"a .vxa file cannot hold {what}", where=WHERE, fix="Write a scene file: supple.save.")
