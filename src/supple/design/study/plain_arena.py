"""plain_arena: tasks, scenes and scene files as an `Arena`, for files that can hold nothing else.

A task asks its waves 20 times a second and holds what they say; an arena swings as a sine.
"""

from __future__ import annotations

import numpy as np

from supple.design.arena import Arena, ArenaLike, Object
from supple.design.designs import Design
from supple.design.scenes.file_arena import FileArena
from supple.design.scenes.scene_arena import SceneArena
from supple.design.tasks.palette import CELL, CLOCK, palette
from supple.design.tasks.task import Task
from supple.errors import InputError
from supple.scene.scene import Scene

WHERE = "plain_arena"


def plain_arena(arena: ArenaLike, design: Design) -> tuple[Arena, list[str]]:
    """The arena in which a design moves as in the given one, and what of that an `Arena` cannot have.

    >>> import numpy as np
    >>> from supple.design.tasks import find_task
    >>> plain, lost = plain_arena(find_task("stand-v1"), Design(np.full((2, 2, 2), 3)))
    >>> plain.frequency, lost
    (2.0, ['how the robot is turned'])
    """
    if isinstance(arena, Arena):
        return arena, []
    if isinstance(arena, FileArena | SceneArena):
        return _with_world(arena.arena, arena.scene(design), arena.body)
    if isinstance(arena, Task):
        waves = Arena(palette(), CELL, duration=arena.duration, amplitude=1.0, frequency=CLOCK)
        return _with_world(waves, arena.scene(design), arena.body)
    raise InputError("this is no Arena, task, scene or scene file", where=WHERE, value=type(arena).__name__)


def _with_world(arena: Arena, scene: Scene, robot: str) -> tuple[Arena, list[str]]:
    """An arena with the world and the other bodies of a scene."""
    placed = scene.node(robot).placement
    lacking = {
        "joints": scene.joints, "forces": scene.forces, "filters": scene.filters, "masses on points": scene.masses,
        "wind": scene.winds, "events": scene.events,
        "how the robot is turned": not np.array_equal(placed.axes, np.eye(3)),
        "how the robot spins": placed.spin.any(),
    }  # fmt: skip
    objects = tuple(
        Object(node.name, node.body, node.placement.at) for node in scene.nodes if node.name != robot and node.body
    )
    plain = arena.with_(
        gravity=scene.gravity, fluid=scene.fluid, obstacles=tuple(scene.obstacles.values()), objects=objects,
        place=np.asarray(arena.place) + placed.at, velocity=placed.velocity, self_contact=bool(scene.contacts),
    )  # fmt: skip
    return plain, [what for what, there in lacking.items() if there]
