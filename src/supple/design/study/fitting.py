"""Whether the bodies of a study fit its arena: what every design would be refused for is an error of the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from supple.design.arena import FIELDS, Arena, ArenaLike, Judging
from supple.design.encodings import Bones, Encoding
from supple.design.scenes.file_arena import FileArena
from supple.design.scenes.scene_arena import SceneArena
from supple.design.tasks import bodies
from supple.design.tasks.palette import palette
from supple.design.tasks.task import Task
from supple.files.scenes.places import Place
from supple.material.voxel import VoxelMaterial


def check_bodies(encoding: Encoding[Any], arena: ArenaLike, place: Place) -> None:
    """Refuse an encoding with numbers of materials, fields or a grid that the arena does not know."""
    plan, at = encoding.plan, place.at("encoding")
    materials = materials_of(arena)
    numbers = (*plan.numbers, *(encoding.numbers if isinstance(encoding, Bones) else ()))
    lacking = sorted(set(numbers) - set(materials))
    if lacking:
        raise at.error("the arena has no material of this number", value=lacking[0],
                       allowed=", ".join(map(str, materials)))  # fmt: skip
    known = bodies.FIELDS if isinstance(arena, Task) else FIELDS
    unknown = sorted(set(plan.fields) - set(known))
    if unknown:
        raise at.error("the arena does not know this field", value=unknown[0], allowed=", ".join(known))
    if isinstance(arena, Task) and any(n > most for n, most in zip(plan.shape, arena.grid)):
        raise at.error("the bodies are larger than the grid of the task", value=tuple(plan.shape),
                       allowed=f"<= {arena.grid}")  # fmt: skip
    swings = isinstance(arena, Arena) and arena.amplitude != 0.0 and arena.frequency > 0.0
    if swings and not any(materials[number].expansion for number in plan.muscles):
        raise place.at("arena.materials").error(
            "no muscle swells, though the arena swings them", value=", ".join(map(str, plan.muscles)),
            fix="Give the material of the muscles an expansion, such as 0.01.",
        )  # fmt: skip


def check_score(names: Iterable[str], arena: ArenaLike, place: Place) -> None:
    """Refuse the measure "score" where the arena has none."""
    if "score" in names and not isinstance(arena, Judging):
        raise place.error("the arena has no score of its own", value="score", allowed="a task",
                          fix="Choose another measure, or give a task in place of the arena.")  # fmt: skip


def materials_of(arena: ArenaLike) -> dict[int, VoxelMaterial]:
    """The materials of an arena by number; none of one that is not ours."""
    if isinstance(arena, Task):
        return palette()
    if isinstance(arena, FileArena | SceneArena):
        arena = arena.arena
    return dict(arena.materials) if isinstance(arena, Arena) else {}
