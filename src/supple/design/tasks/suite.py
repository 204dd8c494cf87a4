"""The suite: all tasks by name."""

from __future__ import annotations

import difflib

from supple.design.tasks.task import Task
from supple.errors import InputError

_ALL = (
    Task("walk-v1", "walk forward on a flat floor", "travel", "floor.toml"),
    Task("rough-v1", "run over rough ground", "travel", "rough.toml"),
    Task("stairs-v1", "climb stairs with bevelled steps of a quarter of a cell", "travel", "stairs.toml"),
    Task("slope-v1", "climb a slope of ten degrees", "travel", "slope.toml", rise=0.1763),
    Task("gap-v1", "push through a gap three cells wide", "travel", "gap.toml"),
    Task("swim-v1", "swim forward in water, without gravity", "travel", "water.toml"),
    Task("jump-v1", "jump: the greatest height of the lowest voxel", "jump", "floor.toml", duration=4.0),
    Task("stand-v1", "stand up from lying on a side", "upright", "floor.toml", unit="-", lies=True),
    Task("reach-v1", "reach for a point above", "reach", "floor.toml", duration=4.0, target=(0.125, 0.0, 0.45)),
    Task("carry-v1", "carry a plate forward and do not drop it", "carry", "carry.toml", thing="object"),
    Task("throw-v1", "throw a block forward, away from oneself", "throw", "throw.toml", duration=4.0, thing="object"),
    Task("push-v1", "push a block along the floor", "push", "push.toml", thing="object"),
)

LENGTH = 0.25
"""Of the grid of all tasks [m]."""
ENOUGH: dict[str, tuple[float, str]] = {
    "walk-v1": (LENGTH, "a length of the grid"),
    "rough-v1": (LENGTH, "a length of the grid"),
    "stairs-v1": (0.26, "from behind the first stair's edge, all of the body past it"),
    "slope-v1": (LENGTH, "a length of the grid, 4.4 cm up"),
    "gap-v1": (0.47, "from before the walls, all of the body past them"),
    "swim-v1": (LENGTH, "a length of the grid"),
    "jump-v1": (0.05, "a cell's edge above the floor"),
    "stand-v1": (0.9, "within 26 degrees of upright"),
    "reach-v1": (0.125, "half of the way of 25 cm to the point"),
    "carry-v1": (LENGTH, "a length of the grid"),
    "throw-v1": (LENGTH, "a length of the grid beyond its own way"),
    "push-v1": (LENGTH, "a length of the grid"),
}
"""The score from which on a robot does a task, and what that means."""


def tasks() -> dict[str, Task]:
    """All tasks by name."""
    return {task.name: task for task in _ALL}


def find_task(name: str | Task) -> Task:
    """A task by its name, such as "walk-v1"."""
    if isinstance(name, Task):
        return name
    known = tasks()
    if not isinstance(name, str) or name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        raise InputError(
            "no task of this name", where="find_task", value=name, allowed=", ".join(known),
            fix=f"Did you mean {near[0]}?" if near else "",
        )  # fmt: skip
    return known[name]
