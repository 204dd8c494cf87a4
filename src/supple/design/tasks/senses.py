"""Senses: what the cells of a robot observe, in single precision, on the grid of its task.

| numbers of a cell | |
|---|---|
| 0 | 1 where there is a cell |
| 1, 2, 3 | place relative to the robot's centre of mass, over the grid's longest edge |
| 4, 5, 6 | velocity [m/s] |
| 7 | mean strain of its links |
| 8 | 1 where it touches an obstacle |
| 9, 10 | sine and cosine of its clock: 2 Hz, at the cell's phase |
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from supple.algebra.dense.function_kernels import compute_sines
from supple.bodies.voxel.model import face_neighbours
from supple.design.tasks.palette import CELL, CLOCK, palette
from supple.design.tasks.score_kernels import CELL_STATE, SUMMARY, compute_cells, compute_summary
from supple.design.touching import touching
from supple.geometry import VoxelGrid
from supple.scene.scene import Scene

if TYPE_CHECKING:
    from supple.design.tasks.task import Task

Array = np.ndarray
CHANNELS = CELL_STATE + 2
"""Numbers that a cell observes."""
INPUTS = CHANNELS + 3
"""Numbers that a network gets of a cell: those and the goal."""
NEAR = 0.05  # part of a cell within which a voxel counts as touching an obstacle
NOWHERE = np.zeros(3)


class Senses:
    """Of a body with cells on a task's grid (nx, ny, nz), with clocks at their phases [periods], in a scene."""

    def __init__(self, task: Task, cells: Array, phase: Array, scene: Scene) -> None:
        self.task = task
        grid = VoxelGrid(cells.astype(np.int64), CELL)
        self._places = tuple(grid.voxels.T)
        self._links = np.ascontiguousarray(face_neighbours(grid)[0], dtype=np.int64)
        density = {number: material.density for number, material in palette().items()}
        self._mass = np.array([density[int(n)] for n in cells[self._places]]) * CELL**3
        self._obstacles = list(scene.obstacles.values())
        self._phase = phase[self._places]

    def observe(self, t: float, x: Array, v: Array, thing: Array | None = None) -> dict[str, Array]:
        """cells (nx, ny, nz, 11); goal (3,) [m]: from the robot's centre to the thing or the target, zero: none.

        t [s]; x (n, 7), v (n, 6): frames of the voxels and their velocities. thing (m, 7): those of the thing.
        """
        centre, out = centre_of(x, self._mass), np.full((len(x), CHANNELS), np.nan)
        touches = touching(self._obstacles, x[:, :3], (1 + 2 * NEAR) * CELL, t).astype(float)
        compute_cells(x, v, centre, CELL * max(self.task.grid), self._links, CELL, touches, out)
        for channel, quarter in ((CELL_STATE, 0.0), (CELL_STATE + 1, 0.25)):
            clock = np.empty(len(x))
            compute_sines(CLOCK * t + self._phase + quarter, clock)
            out[:, channel] = clock
        cells = np.zeros((*self.task.grid, CHANNELS), dtype=np.float32)
        cells[self._places] = out
        goal = np.zeros(3)
        if thing is not None:
            goal = centre_of(thing, np.ones(len(thing))) - centre
        elif self.task.target is not None:
            goal = np.array(self.task.target) - centre
        return {"cells": cells, "goal": goal.astype(np.float32)}


def inputs_of(seen: dict[str, Array]) -> Array:
    """What a network gets of each cell, (nx, ny, nz, 14), from an observation: its numbers and the goal."""
    goal = np.broadcast_to(seen["goal"], (*seen["cells"].shape[:3], 3))
    return np.concatenate([seen["cells"], goal], axis=-1).astype(float)


def centre_of(x: Array, mass: Array) -> Array:
    """Centre of mass (3,) [m] of frames x (n, 7) with masses (n,)."""
    out = np.full(SUMMARY, np.nan)
    compute_summary(x, mass, np.full(len(x), CELL), NOWHERE, out)
    return out[:3]
