"""Whether the bodies of a study fit its arena: what every design would be refused for is an error of the file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from supple.design.arena import FIELDS, Arena, ArenaLike, Judging
from supple.design.encodings import BodyPlan, Bones, Encoding
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
    if isinstance(arena, Arena) and arena.amplitude != 0.0 and arena.frequency > 0.0:
        _check_strains([arena.amplitude * materials[number].expansion for number in plan.muscles], plan, place)


def _check_strains(strains: list[float], plan: BodyPlan, place: Place) -> None:
    """Refuse an arena that swings muscles by nothing, or, where no field scales it, until they vanish."""
    at, numbers = place.at("arena.materials"), ", ".join(map(str, plan.muscles))
    if not any(strains):
        raise at.error("no muscle swells, though the arena swings them", value=numbers,
                       fix="Give the material of the muscles an expansion, such as 0.01.")  # fmt: skip
    if "gain" not in plan.fields and min(map(abs, strains)) >= 1:
        raise at.error("the swing makes every muscle vanish", value=min(map(abs, strains)),
                       allowed="expansion times amplitude < 1")  # fmt: skip


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
