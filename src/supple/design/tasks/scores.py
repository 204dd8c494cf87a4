"""Scores of tasks: one number of how a robot has done so far, greater is better.

| name | score |
|---|---|
| travel | how far the centre of mass has gone along x [m] |
| jump | the greatest height of the lowest voxel's underside so far [m] |
| upright | mean cosine between the voxels' z axes and the vertical now |
| reach | 0.25 m less the least distance of a voxel's centre to the target so far [m] |
| carry | how far the object has gone along x while its centre was two cells high or more [m]; a drop ends the task |
| throw | how far the object's centre is ahead of the robot's along x [m], less than at the start counts negative |
| push | how far the object has gone along x [m] |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from supple.design.tasks.score_kernels import LOWEST, NEAREST, UPRIGHT
from supple.design.tasks.task import CELL

Array = np.ndarray
REACH = 0.25  # [m]
DROPPED = 2 * CELL  # [m]


class Moment(NamedTuple):
    """Summaries of the robot and of the object at one time; the object's is the robot's where there is none."""

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
    return float((now.thing[0] - now.robot[0]) - (start.thing[0] - start.robot[0]))


def is_dropped(now: Moment) -> bool:
    """Whether the object is lower than two cells."""
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
