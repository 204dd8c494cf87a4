"""TaskEnv: a task as a Gymnasium environment. Its spaces belong to the task's grid, whatever the body."""

from __future__ import annotations

from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces

from supple.design.tasks.bodies import random_cells
from supple.design.tasks.episode import Episode
from supple.design.tasks.palette import CONTROL_RATE
from supple.design.tasks.senses import CHANNELS
from supple.design.tasks.suite import find_task
from supple.design.tasks.task import Task
from supple.errors import InputError

Array = np.ndarray
Observation = dict[str, Array]
FAILED = -1.0
"""Reward of a step in which the simulation left the finite."""


def observation_space(task: Task) -> spaces.Dict:
    """cells (nx, ny, nz, 11) and goal (3,) [m]: see `supple.design.tasks.senses`; mask (nx, ny, nz): 1 where an action
    counts."""
    reach, grid = float("inf"), task.grid
    return spaces.Dict(
        {
            "cells": spaces.Box(-reach, reach, (*grid, CHANNELS), np.float32),
            "goal": spaces.Box(-reach, reach, (3,), np.float32),
            "mask": spaces.Box(0, 1, grid, np.int8),
        }
    )


class TaskEnv(gymnasium.Env[Observation, Array]):
    """A body at a task. Actions (nx, ny, nz) in [-1, 1], 20 a second; those of cells that are no muscle are ignored.

    The reward is the change of the task's score, so that the rewards of an episode sum to the score's change. design:
    cells (nx, ny, nz), or what has `cells`; None: a random body of the environment's first seed, 0 without one. An
    episode is truncated after the task's duration; it terminates where an object that is carried drops, or where the
    simulation leaves the finite, which costs 1. `reset(options={"design": cells})` takes another body. info: score, t.
    render_mode: "rgb_array", for pictures by `render`; they need the extra render.
    """

    metadata = {"render_modes": ["rgb_array"], "render_fps": int(CONTROL_RATE)}  # noqa: RUF012

    def __init__(self, task: str | Task = "walk-v1", design: Any = None, render_mode: str | None = None) -> None:
        if render_mode not in (None, *self.metadata["render_modes"]):
            raise InputError("there is no such rendering", where="TaskEnv", value=render_mode,
                             allowed="None, rgb_array")  # fmt: skip
        self.task = find_task(task)
        self.render_mode = render_mode
        self.observation_space = observation_space(self.task)  # type: ignore[assignment]
        self.action_space = spaces.Box(-1.0, 1.0, self.task.grid, np.float32)
        self.episode = None if design is None else Episode(self.task, design)
        self._draws, self._running = design is None, False

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Any]:
        """To the start; a seed chooses the random body where there is no design."""
        super().reset(seed=seed)
        given = (options or {}).get("design")
        if given is not None:
            self.episode = Episode(self.task, given)
            self._draws = False
        elif self.episode is None or (self._draws and seed is not None):
            self.episode = Episode(self.task, random_cells(self.task, np.random.default_rng(seed or 0)))
        else:
            self.episode.reset()
        self._running = True
        return self._observation(), self._info()

    def step(self, action: Array) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """One control step."""
        if self.episode is None or not self._running:
            raise InputError("the episode has not begun", where="TaskEnv.step", fix="Call reset().")
        before = self.episode.score
        self.episode.step(action)
        reward = FAILED if self.episode.failure else self.episode.score - before
        over, finished = self.episode.is_over, self.episode.is_finished
        self._running = not (over or finished)
        return self._observation(), float(reward), over, finished and not over, self._info()

    def render(self) -> Array | None:  # type: ignore[override]
        """A picture of the robot now, (320, 480, 3), 0 to 255; None where no rendering was asked for."""
        if self.render_mode is None:
            return None
        if self.episode is None:
            raise InputError("the episode has not begun", where="TaskEnv.render", fix="Call reset().")
        return self.episode.picture()

    def _observation(self) -> Observation:
        assert self.episode is not None
        return {**self.episode.observe(), "mask": self.episode.mask.astype(np.int8)}

    def _info(self) -> dict[str, Any]:
        assert self.episode is not None
        return {"score": self.episode.score, "t": self.episode.t}
