"""TaskVectorEnv: several bodies at one task, stepped together on threads.

Every body has its own sweep. One sweep of all bodies would take small steps that suit all of them, which are not those
that each takes alone; so the bits would depend on the company. Kernels let go of Python's lock: threads share
the cores.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from supple.design.environments.task_env import Observation, TaskEnv
from supple.design.tasks.palette import CONTROL_RATE
from supple.design.tasks.task import Task
from supple.errors import InputError

Array = np.ndarray


class TaskVectorEnv(VectorEnv[dict[str, Array], Array, Array]):
    """num_envs bodies at a task; designs: one for each, one for all, or None: random ones of their seeds.

    An environment whose episode has ended begins anew in the next step, whose action it ignores (next-step autoreset).
    It equals `TaskEnv` step by step, bit for bit. threads: how many, None: one a core.
    """

    metadata = {"autoreset_mode": AutoresetMode.NEXT_STEP, "render_modes": [], "render_fps": int(CONTROL_RATE)}  # noqa: RUF012

    def __init__(
        self, task: str | Task = "walk-v1", num_envs: int = 1, designs: Any = None, threads: int | None = None
    ) -> None:
        each = list(designs) if isinstance(designs, list | tuple) else [designs] * num_envs
        if num_envs < 1 or len(each) != num_envs:
            raise InputError(
                "not one design for each environment",
                where="TaskVectorEnv",
                value=len(each),
                allowed=f"{num_envs}",
            )
        self.envs = [TaskEnv(task, design) for design in each]
        self.num_envs = num_envs
        self.single_action_space = self.envs[0].action_space
        self.single_observation_space = self.envs[0].observation_space
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self._ended = np.zeros(num_envs, dtype=bool)
        self._pool = ThreadPoolExecutor(threads or os.cpu_count() or 1)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[dict[str, Array], dict[str, Any]]:
        """All to the start; a seed s gives environment k the seed s + k."""
        if seed is None or isinstance(seed, int):
            seeds: Sequence[int | None] = [None if seed is None else seed + k for k in range(self.num_envs)]
        else:
            seeds = seed
        if len(seeds) != self.num_envs:
            raise InputError(
                "not one seed for each environment", where="TaskVectorEnv.reset",
                value=len(seeds), allowed=str(self.num_envs),
            )  # fmt: skip
        made = list(self._pool.map(lambda pair: pair[0].reset(seed=pair[1], options=options), zip(self.envs, seeds)))
        self._ended[:] = False
        return self._stacked([o for o, _ in made]), self._infos([i for _, i in made])

    def step(self, actions: Array) -> tuple[dict[str, Array], Array, Array, Array, dict[str, Any]]:
        """One control step of all, actions (num_envs, nx, ny, nz)."""
        given = np.asarray(actions)
        if given.shape != self.action_space.shape:
            raise InputError(
                "the actions do not fit the environments", where="TaskVectorEnv.step",
                value=given.shape, allowed=str(self.action_space.shape),
            )  # fmt: skip
        made = list(self._pool.map(self._step_one, range(self.num_envs), given))
        over, cut = (np.array([m[k] for m in made], dtype=bool) for k in (2, 3))
        self._ended = over | cut
        rewards = np.array([m[1] for m in made], dtype=np.float64)
        return self._stacked([m[0] for m in made]), rewards, over, cut, self._infos([m[4] for m in made])

    def close_extras(self, **kwargs: Any) -> None:
        """Let the threads go."""
        self._pool.shutdown()

    def _step_one(self, k: int, action: Array) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        if self._ended[k]:
            observation, info = self.envs[k].reset()
            return observation, 0.0, False, False, info
        return self.envs[k].step(action)

    def _infos(self, infos: list[dict[str, Any]]) -> dict[str, Any]:
        """Numbers of all, as Gymnasium keeps them."""
        made: dict[str, Any] = {}
        for k, info in enumerate(infos):
            made = self._add_info(made, info, k)
        return made

    @staticmethod
    def _stacked(observations: list[Observation]) -> dict[str, Array]:
        return {name: np.stack([o[name] for o in observations]) for name in observations[0]}
