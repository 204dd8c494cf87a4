"""The scene of a task with a robot in it.

An action of a cell in [-1, 1], a number in single precision, sets the rest size of its muscle to cell edge
(1 + 0.15 action) for one control step of 1/20 s; all small steps of it are one compiled call.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from importlib.resources import as_file
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.bodies.voxel import Commands, VoxelBody
from supple.contact import Contact
from supple.design.tasks.palette import CELL, CONTROL_RATE, MUSCLE, ROBOT, palette
from supple.errors import InputError
from supple.files.scenes.scene_files import load
from supple.geometry import VoxelGrid
from supple.scene.scene import Scene
from supple.solvers import LatticeSolver

if TYPE_CHECKING:
    from supple.design.tasks.task import Task

Array = np.ndarray
Act = Callable[..., Array]
"""(t, state of the robot, state of the thing where there is one) -> actions (nx, ny, nz)."""
HALF = math.sqrt(0.5)
LYING = (HALF, 0.0, HALF, 0.0)


def empty_scene(task: Task) -> Scene:
    """The task's scene without a robot, with its solver."""
    with as_file(task.scene_file()) as path:
        scene = load(path)
    scene.name = task.name
    scene.solver = LatticeSolver(1 / CONTROL_RATE, bend_limit=None)
    return scene


def add_robot(scene: Scene, task: Task, cells: Array, act: Act) -> None:
    """Put a body with cells on the task's grid (nx, ny, nz) on the ground, and ask `act` for its actions."""
    grid = VoxelGrid(cells.astype(np.int64), CELL)
    places = tuple(grid.voxels.T)
    muscles = np.flatnonzero(cells[places] == MUSCLE)

    def asked(t: float, *states: Any) -> Array:
        return checked_action(act(t, *states), task.grid, f"task {task.name}, t = {t:g} s")[places][muscles]

    gains = np.zeros((len(muscles), grid.voxel_count))
    gains[np.arange(len(muscles)), muscles] = 1.0
    sees = () if task.thing is None else (task.thing,)
    commands = Commands(asked, rate=CONTROL_RATE, count=len(muscles), gain=gains, sees=sees)
    at, rotation = _pose(task, cells)
    scene.add(VoxelBody(grid, palette(), actuation=commands), name=ROBOT, at=at, rotation=rotation)
    scene.add(Contact(self_contact=True))


def checked_action(action: Any, grid: tuple[int, int, int], where: str) -> Array:
    """Actions (nx, ny, nz) within [-1, 1], rounded to single precision, in double."""
    given = np.asarray(action)
    if given.shape != grid:
        raise InputError("the actions do not fit the grid", where=where, value=given.shape, allowed=str(grid))
    rounded = given.astype(np.float32).astype(np.float64)
    if not np.isfinite(rounded).all():
        raise InputError("an action is not finite", where=where)
    return np.clip(rounded, -1.0, 1.0)


def _pose(task: Task, cells: Array) -> tuple[tuple[float, float, float], tuple[float, float, float, float]]:
    """Where the grid's corner is [m] and how it is turned, so that the body touches the ground."""
    filled = np.argwhere(cells)
    low, high = filled.min(axis=0), filled.max(axis=0) + 1
    side = -0.5 * CELL * task.grid[1]
    if task.lies:  # x of the grid points down, z forward
        return (0.0, side, CELL * float(high[0])), LYING
    down, cosine = CELL * float(low[2]), 1 / math.sqrt(1 + task.rise**2)
    turned = (math.sqrt((1 + cosine) / 2), 0.0, -math.sqrt((1 - cosine) / 2), 0.0)
    return (cosine * task.rise * down, side, -cosine * down), turned
