"""The kernels that evaluations call, by name and types, so that all cores compile them before the first worker starts.

One list for each kind of arena, made of whole trials, so that what a robot needs late is in it. A list that is out of
date costs time, nothing else: a worker compiles what it misses. `python -m supple.design.population.kernels` makes them
anew.
"""

from __future__ import annotations

from pathlib import Path

from supple.algebra.compiling.ahead import Tell, WantedKernel, can_keep, compile_ahead, process_count, receipt_of
from supple.algebra.compiling.kernel_list import read_kernel_list
from supple.design.arena import Arena, ArenaLike
from supple.design.scenes.file_arena import FileArena
from supple.design.scenes.scene_arena import SceneArena
from supple.design.tasks.task import Task

KINDS = ("plain", "touching", "swimming", "task")


def listing(kind: str) -> Path:
    """The file of a list."""
    return Path(__file__).with_name(f"{kind}.json")


def kind_of(arena: ArenaLike) -> str | None:
    """Which list is nearest to an arena; None where none is near."""
    if isinstance(arena, Task):
        return "task"
    inner = arena.arena if isinstance(arena, FileArena | SceneArena) else arena
    if not isinstance(inner, Arena):
        return None
    if inner.fluid is not None:
        return "swimming"
    return "touching" if inner.self_contact else "plain"


def has_list(arena: ArenaLike) -> bool:
    """Whether a list names all kernels of trials in an arena; those of scene files, which may hold anything, of arenas
    with objects, and of robots whose voxels keep their sizes have none."""
    return isinstance(arena, Task) or (isinstance(arena, Arena) and not arena.objects and arena.amplitude != 0.0)


def kernels_of(arena: ArenaLike) -> list[WantedKernel]:
    """The kernels that the nearest list names; none where none is near."""
    kind = kind_of(arena)
    return [] if kind is None else read_kernel_list(listing(kind))


def compile_kernels_of(arena: ArenaLike, tell: Tell) -> bool:
    """Compile the kernels of an arena by one process a core, unless that was done before; whether it was done now.

    Where the cache cannot be written, workers compile for themselves.
    """
    wanted, processes = kernels_of(arena), process_count()
    if not wanted or processes == 1 or receipt_of(wanted).is_file() or not can_keep():
        return False
    try:
        compile_ahead(wanted, tell, processes=processes)
    except OSError:
        return False
    return True
