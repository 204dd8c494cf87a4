"""Arenas by what a person names: an arena, a task by its name, a scene file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from supple.design.arena import ArenaLike
from supple.design.file_arena import FileArena
from supple.design.tasks.suite import find_task
from supple.errors import InputError
from supple.scene.scene import Scene

SUFFIXES = (".toml", ".json")


def arena_of(given: ArenaLike | str | os.PathLike[str]) -> ArenaLike:
    """An arena as it is; a scene file by its path, see `FileArena`; a task by its name.

    >>> from supple.design import Arena
    >>> from supple.material.voxel import VoxelMaterial
    >>> arena = Arena({1: VoxelMaterial(young=1e5, density=1000)}, 0.01, duration=1.0)
    >>> arena_of(arena) is arena
    True
    """
    found: Any = given
    if isinstance(given, str | os.PathLike):
        is_file = not isinstance(given, str) or Path(given).suffix.lower() in SUFFIXES
        found = FileArena(given) if is_file else find_task(str(given))
    if isinstance(found, Scene):
        raise InputError(
            "a scene is no arena: nothing says which body designs take the place of, and how long they run",
            where="evaluation", value="Scene", allowed="an Arena, a task or its name, a scene file",
            fix="Save it with a voxel body named 'robot': supple.save(scene, 'world.toml', "
                "run=supple.files.RunSettings(until=5.0)), and give 'world.toml'; or make an Arena with its obstacles "
                "and objects.",
        )  # fmt: skip
    lacking = [name for name in ("body", "duration", "settle", "measures", "scene", "key") if not hasattr(found, name)]
    if lacking:
        raise InputError("this is not an arena", where="evaluation", value=type(given).__name__,
                         allowed="an Arena, a task or its name, a scene file")  # fmt: skip
    return found  # type: ignore[no-any-return]
