"""Baselines: what random robots reach, for three seeds; the numbers are kept as data.

A robot here is cells with a phase of each, in sixteenths of a period, that swing as waves of 2 Hz.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

import numpy as np

from supple.design.controllers.waves import Waves
from supple.design.tasks.bodies import random_cells
from supple.design.tasks.suite import tasks
from supple.design.tasks.task import Task
from supple.design.tasks.trial import Trial

Array = np.ndarray
VERSION = 1
SEEDS = (0, 1, 2)
FREQUENCY = 2.0  # [Hz]
PHASES = 16


@dataclass(frozen=True, eq=False)
class Robot:
    """cells (nx, ny, nz) uint8, phases (nx, ny, nz) in sixteenths of a period."""

    cells: Array
    phases: Array

    @classmethod
    def random(cls, task: Task, rng: np.random.Generator) -> Robot:
        """Of random cells and phases."""
        return cls(random_cells(task, rng), rng.integers(0, PHASES, task.grid))

    def evaluate(self, task: str | Task, steps: int | None = None) -> float:
        """Its score after the task's time, or so many control steps; of a run that failed, minus infinity."""
        trial = Trial(task, self.cells)
        waves = Waves(FREQUENCY, self.phases / PHASES)
        while not (trial.is_over or trial.is_finished or trial.steps == steps):
            trial.step(waves.act(trial.t))
        return -np.inf if trial.failure else trial.score


def random_robot(task: Task, seed: int) -> Robot:
    """The random baseline's robot of a seed."""
    return Robot.random(task, np.random.default_rng(seed))


def compute_baselines() -> dict[str, Any]:
    """The numbers of `load_baselines` made anew."""
    rows = {n: {"random": [random_robot(t, s).evaluate(t) for s in SEEDS]} for n, t in tasks().items()}
    return {"version": VERSION, "seeds": list(SEEDS), "tasks": rows}


def load_baselines() -> dict[str, Any]:
    """The stored numbers: version, seeds, and for each task the `random` scores, one for each seed."""
    return json.loads((files("supple.design.tasks") / "baselines.json").read_text())  # type: ignore[no-any-return]
