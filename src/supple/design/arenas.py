"""Arenas by what a person names: an arena, a task by its name, a scene, a scene file."""

from __future__ import annotations

import difflib
import os
from pathlib import Path
from typing import Any

from supple.design.arena import ArenaLike
from supple.design.scenes.file_arena import FileArena
from supple.design.scenes.scene_arena import Placing, SceneArena
from supple.design.tasks.suite import find_task
from supple.errors import InputError
from supple.scene.scene import Scene

SUFFIXES = (".toml", ".json")
ArenaGiven = ArenaLike | Scene | str | os.PathLike[str]
"""What names an arena."""


def arena_of(given: ArenaGiven, placing: Placing | None = None) -> ArenaLike:
    """An arena as it is; a scene, in which designs are placed as `placing` says, see `SceneArena`; a scene file by its
    path, see `FileArena`; a task by its name.

    >>> from supple.design import Arena
    >>> from supple.material.voxel import VoxelMaterial
    >>> arena = Arena({1: VoxelMaterial(young=1e5, density=1000)}, 0.01, duration=1.0)
    >>> arena_of(arena) is arena
    True
    """
    found: Any = given
    told = dict(placing or {})
    _refuse_unknown(told)
    if isinstance(given, Scene):
        return _in_scene(given, told)
    if told:
        raise InputError("this is said of a scene alone", where="evaluation", value=next(iter(told)),
                         fix="Say it in the arena, the task or the file.")  # fmt: skip
    if isinstance(given, str | os.PathLike):
        is_file = not isinstance(given, str) or Path(given).suffix.lower() in SUFFIXES
        found = FileArena(given) if is_file else find_task(str(given))
    lacking = [name for name in ("body", "duration", "settle", "measures", "scene", "key") if not hasattr(found, name)]
    if lacking:
        raise InputError("this is not an arena", where="evaluation", value=type(given).__name__,
                         allowed="an Arena, a task or its name, a scene, a scene file")  # fmt: skip
    return found  # type: ignore[no-any-return]


def _refuse_unknown(told: dict[str, Any]) -> None:
    known = list(Placing.__annotations__)
    for name in told:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            raise InputError("an evaluation has no argument of this name", where="evaluation", value=name,
                             allowed=f"beside its own, of a scene: {', '.join(known)}",
                             fix=f"Did you mean {near[0]}?" if near else "")  # fmt: skip


def _in_scene(scene: Scene, told: dict[str, Any]) -> SceneArena:
    if "duration" not in told:
        raise InputError("nothing says how long designs run in the scene", where="evaluation, duration",
                         fix="Give duration=5.0 [s], or a SceneArena.")  # fmt: skip
    return SceneArena(scene, **told)
