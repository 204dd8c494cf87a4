"""Scores of tasks: one number of how a robot has done so far, greater is better.

| name | score |
|---|---|
| travel | how far the centre of mass has gone along x [m] |
| jump | the greatest height so far of the lowest voxel's underside [m] |
| upright | mean cosine between the voxels' z axes and the vertical now |
| reach | 0.25 m less the least distance of a voxel's centre to the target so far [m] |
| carry | how far the thing has gone along x while its centre was two cells high or more [m]; a drop ends the task |
| throw | how far the thing has gone along x, less how far the robot has gone either way along x [m] |
| push | how far the thing has gone along x [m] |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from supple.design.tasks.palette import CELL, ROBOT
from supple.design.tasks.score_kernels import LOWEST, NEAREST, SUMMARY, UPRIGHT, compute_summary
from supple.record.frame import Frame
from supple.solvers.methods.lattice_solver import COMMANDS

if TYPE_CHECKING:
    from supple.design.tasks.task import Task

Array = np.ndarray
REACH = 0.25  # [m]
DROPPED = 2 * CELL  # [m]


class Moment(NamedTuple):
    """Summaries of the robot and of the thing at one time; the thing's is the robot's where there is none."""

    robot: Array
    thing: Array


def _travel(start: Moment, now: Moment, best: float) -> float:
    return float(now.robot[0] - start.robot[0])


def _jump(start: Moment, now: Moment, best: float) -> float:
    return max(best, float(now.robot[LOWEST]), 0.0)


def _upright(start: Moment, now: Moment, best: float) -> float:
    return float(now.robot[UPRIGHT])


def _reach(start: Moment, now: Moment, best: float) -> float:
    return max(best, REACH - float(now.robot[NEAREST]))


def _push(start: Moment, now: Moment, best: float) -> float:
    return float(now.thing[0] - start.thing[0])


def _carry(start: Moment, now: Moment, best: float) -> float:
    return best if is_dropped(now) and math.isfinite(best) else _push(start, now, best)


def _throw(start: Moment, now: Moment, best: float) -> float:
    return _push(start, now, best) - abs(_travel(start, now, best))


def is_dropped(now: Moment) -> bool:
    """Whether the thing is lower than two cells."""
    return bool(now.thing[2] < DROPPED)


SCORES: dict[str, Callable[[Moment, Moment, float], float]] = {
    "travel": _travel,
    "jump": _jump,
    "upright": _upright,
    "reach": _reach,
    "carry": _carry,
    "throw": _throw,
    "push": _push,
}
"""Functions of the first moment, the present one, and the score before, minus infinity at the start."""


class Judge:
    """Scores one run of a task: an observer of its frames, one for each control step.

    score: so far. is_over: whether the task has ended before its time, since what was carried is dropped.
    """

    def __init__(self, task: Task) -> None:
        self.task = task
        self.score, self.is_over = -math.inf, False
        self._start: Moment | None = None
        self._target = np.array(task.target or (0.0, 0.0, 0.0))

    def __call__(self, frame: Frame) -> None:
        """Score a frame."""
        if self.is_over:
            return
        now = self._moment(frame)
        self._start = now if self._start is None else self._start
        self.score = SCORES[self.task.score](self._start, now, self.score)
        self.is_over = self.task.score == "carry" and is_dropped(now)

    def _moment(self, frame: Frame) -> Moment:
        robot = self._summary(frame, ROBOT)
        return Moment(robot, robot if self.task.thing is None else self._summary(frame, self.task.thing))

    def _summary(self, frame: Frame, name: str) -> Array:
        slot, out = frame.system.body(name), np.full(SUMMARY, np.nan)
        body: Any = slot.body
        commanded = frame.state.memory.get(f"{name}/{COMMANDS}")  # zero before the first step
        size = body.model.size if body.swing is None else body.swing.sizes(frame.time, commanded)
        compute_summary(slot.view_x(frame.state.x), body.model.mass, size, self._target, out)
        return out
