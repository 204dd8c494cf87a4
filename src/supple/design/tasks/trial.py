"""Trial: one body at one task, stepped by actions of its cells; what environments and baselines are made of.

An action of a cell in [-1, 1] sets the rest size of its muscle, cell edge (1 + 0.15 action), for one control step of
1/20 s; all small steps of it are one compiled call. Actions of cells that are not muscle are ignored.
"""

from __future__ import annotations

import math
from importlib.resources import as_file
from typing import Any

import numpy as np

from supple.bodies.voxel import Commands, VoxelBody
from supple.contact import Contact
from supple.design.controllers.function_kernels import compute_sines
from supple.design.tasks.bodies import check_cells
from supple.design.tasks.score_kernels import SUMMARY, compute_cells, compute_summary
from supple.design.tasks.scores import SCORES, Moment, is_dropped
from supple.design.tasks.suite import find_task
from supple.design.tasks.task import CELL, CONTROL_RATE, MUSCLE, Task, palette
from supple.errors import DivergenceError, InputError
from supple.files.scenes.scene_files import load
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import distance
from supple.scene.scene import Scene
from supple.solvers import LatticeSolver

Array = np.ndarray
CHANNELS = 9
"""Numbers that a cell observes; see `compute_cells`."""
INPUTS = CHANNELS + 3 + 2
"""Numbers that a controller gets of a cell: those, the goal, sine and cosine of a clock of 2 Hz."""
CLOCK = 2.0  # [Hz]
NEAR = 0.05  # part of a cell within which a voxel counts as touching an obstacle
LYING = (float(np.sqrt(0.5)), 0.0, float(np.sqrt(0.5)), 0.0)
ROBOT = "robot"


class Trial:
    """task: by its name; design: cells, or what has `cells`. `reset` begins anew.

    >>> trial = Trial("walk-v1", np.full((3, 2, 2), 3))
    >>> trial.step(np.zeros(trial.task.grid))
    >>> round(trial.t, 3), abs(trial.score) < 0.01
    (0.05, True)
    """

    def __init__(self, task: str | Task, design: Any) -> None:
        self.task = find_task(task)
        self.cells = check_cells(self.task, design)
        grid = VoxelGrid(self.cells.astype(np.int64), CELL)
        place = tuple(grid.voxels.T)
        self.mask = self.cells == MUSCLE
        self._places = place
        self._muscles = np.flatnonzero(self.mask[place])
        self._commands = np.zeros(len(self._muscles))
        gains = np.zeros((len(self._muscles), len(grid.voxels)))
        gains[np.arange(len(self._muscles)), self._muscles] = 1.0
        commands = Commands(lambda t, state: self._commands, rate=CONTROL_RATE, count=len(self._muscles), gain=gains)
        self.body = VoxelBody(grid, palette(), actuation=commands)
        self.scene = self._make_scene()
        self.system = self.scene.compile()
        self._links = np.ascontiguousarray(self.body.model.link_voxels, dtype=np.int64)
        self._target = np.array(self.task.target or (0.0, 0.0, 0.0))
        self.reset()

    def _make_scene(self) -> Scene:
        """The task's scene with the robot in it, on the ground."""
        with as_file(self.task.scene_file()) as path:
            scene = load(path)
        scene.name = self.task.name
        filled = np.argwhere(self.cells)
        low, high = filled.min(axis=0), filled.max(axis=0) + 1
        side = -0.5 * CELL * self.task.grid[1]
        if self.task.lies:  # x of the grid points down, z forward
            scene.add(self.body, name=ROBOT, at=(0.0, side, CELL * float(high[0])), rotation=LYING)
        else:
            up, cosine = self.task.height - CELL * float(low[2]), 1 / math.sqrt(1 + self.task.rise**2)
            half = (math.sqrt((1 + cosine) / 2), 0.0, -math.sqrt((1 - cosine) / 2), 0.0)
            scene.add(self.body, name=ROBOT, at=(-cosine * self.task.rise * up, side, cosine * up), rotation=half)
        if self.task.body is not None:
            scene.add(Contact(self_contact=True))
        return scene

    def reset(self) -> None:
        """To the start."""
        self.solver = LatticeSolver(1 / CONTROL_RATE, bend_limit=None)
        self.solver.prepare(self.system)
        self.state = self.system.initial_state()
        self.steps, self.failure = 0, ""
        self._commands[:] = 0.0
        self._start = self.moment()
        self.score = SCORES[self.task.score](self._start, self._start, -np.inf)

    @property
    def t(self) -> float:
        """Time [s]."""
        return self.steps / CONTROL_RATE

    @property
    def is_over(self) -> bool:
        """Whether the task ended before its time: the lattice diverged, or what is carried was dropped."""
        return bool(self.failure) or (self.task.score == "carry" and is_dropped(self.moment()))

    @property
    def is_finished(self) -> bool:
        """Whether its time is up."""
        return self.steps >= self.task.steps

    def step(self, action: Array) -> None:
        """One control step with actions (nx, ny, nz) in [-1, 1]."""
        given = np.asarray(action, dtype=float)
        where = f"task {self.task.name}, t = {self.t:g} s"
        if given.shape != self.task.grid:
            raise InputError(
                "the actions do not fit the grid", where=where, value=given.shape, allowed=str(self.task.grid)
            )
        if not np.isfinite(given).all():
            raise InputError("an action is not finite", where=where)
        self._commands = np.clip(given[self._places][self._muscles], -1.0, 1.0)
        try:
            self.solver.step(self.system, self.state)
        except DivergenceError as error:
            self.failure = str(error)
        self.steps += 1
        if not self.failure:
            self.score = SCORES[self.task.score](self._start, self.moment(), self.score)

    def moment(self) -> Moment:
        """Summaries of the robot and of the object."""
        robot = self._summary(ROBOT)
        return Moment(robot, robot if self.task.body is None else self._summary(self.task.body))

    def _summary(self, name: str) -> Array:
        slot, out = self.system.body(name), np.full(SUMMARY, np.nan)
        mass = np.asarray(slot.node.body.model.mass, dtype=float)
        size = float(slot.node.body.grid.voxel_size)
        compute_summary(slot.view_x(self.state.x), mass, size, self._target, out)
        return out

    def observe(self) -> dict[str, Array]:
        """cells (nx, ny, nz, 9), goal (3,) [m]: from the robot's centre to the object or the target; zero: none."""
        slot, moment = self.system.body(ROBOT), self.moment()
        x, v = slot.view_x(self.state.x), slot.view_v(self.state.v)
        centre = np.ascontiguousarray(moment.robot[:3])
        touches = np.zeros(len(x))
        for obstacle in self.scene.obstacles.values():
            touches[distance(obstacle, x[:, :3])[0] < (0.5 + NEAR) * CELL] = 1.0
        out = np.full((len(x), CHANNELS), np.nan)
        compute_cells(x, v, centre, CELL * max(self.task.grid), self._links, CELL, touches, out)
        cells = np.zeros((*self.task.grid, CHANNELS))
        cells[self._places] = out
        goal = np.zeros(3)
        if self.task.body is not None:
            goal = moment.thing[:3] - centre
        elif self.task.target is not None:
            goal = self._target - centre
        return {"cells": cells, "goal": goal}

    def inputs(self) -> Array:
        """What a controller gets of each cell, (nx, ny, nz, 14): observation, goal, clock."""
        seen = self.observe()
        clock = np.empty(2)
        compute_sines(np.array([CLOCK * self.t, CLOCK * self.t + 0.25]), clock)
        beside = np.broadcast_to(np.concatenate([seen["goal"], clock]), (*self.task.grid, 5))
        return np.concatenate([seen["cells"], beside], axis=-1)
