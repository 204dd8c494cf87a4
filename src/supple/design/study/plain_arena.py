"""plain_arena: tasks and scene files as an `Arena`, for files that can hold nothing else.

A task asks its waves 20 times a second and holds what they say; an arena swings as a sine.
"""

from __future__ import annotations

import numpy as np

from supple.design.arena import Arena, ArenaLike, Object
from supple.design.designs import Design
from supple.design.file_arena import FileArena
from supple.design.tasks.palette import CELL, CLOCK, palette
from supple.design.tasks.task import Task
from supple.errors import InputError
from supple.scene.scene import Scene

WHERE = "plain_arena"


def plain_arena(arena: ArenaLike, design: Design) -> Arena:
    """The arena in which a design moves as in the given one; an InputError where an `Arena` cannot be so.

    >>> import numpy as np
    >>> from supple.design.tasks import find_task
    >>> plain_arena(find_task("walk-v1"), Design(np.full((2, 2, 2), 3))).frequency
    2.0
    """
    if isinstance(arena, Arena):
        return arena
    if isinstance(arena, FileArena):
        return _with_world(arena.arena, arena.scene(design), arena.body)
    if isinstance(arena, Task):
        waves = Arena(palette(), CELL, duration=arena.duration, amplitude=1.0, frequency=CLOCK)
        return _with_world(waves, arena.scene(design), arena.body)
    raise InputError("this is no Arena, task or scene file", where=WHERE, value=type(arena).__name__)


def _with_world(arena: Arena, scene: Scene, robot: str) -> Arena:
    """An arena with the world and the other bodies of a scene."""
    placed = scene.node(robot).placement
    lacking = {
        "joints": scene.joints, "forces": scene.forces, "filters": scene.filters, "masses on points": scene.masses,
        "wind": scene.winds, "events": scene.events,
        "a robot that is turned": not np.array_equal(placed.axes, np.eye(3)),
        "a robot that spins": placed.spin.any(),
    }  # fmt: skip
    for what, there in lacking.items():
        if there:
            raise InputError(f"an Arena has no such thing: {what}", where=WHERE)
    objects = tuple(
        Object(node.name, node.body, node.placement.at) for node in scene.nodes if node.name != robot and node.body
    )
    return arena.with_(
        gravity=scene.gravity, fluid=scene.fluid, obstacles=tuple(scene.obstacles.values()), objects=objects,
        place=np.asarray(arena.place) + placed.at, velocity=placed.velocity, self_contact=bool(scene.contacts),
    )  # fmt: skip
