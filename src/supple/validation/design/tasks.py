"""The suite of tasks: its baselines reproduce to the bit, and vector environments equal single ones to the bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from supple.design.designs import Design
from supple.design.tasks import tasks
from supple.design.tasks.baselines import SEEDS, load_baselines, random_design, score_of
from supple.design.tasks.task import Task
from supple.validation.row import Row, bounded

BITS = "the same versions on x86 with FMA give the same bits"
SINGLE = "single environments, step by step"
STEPS = 20


def baselines() -> list[Row]:
    """How many of the stored scores are others when their robots are tried anew."""
    stored, rows = load_baselines(), []
    for name, task in tasks().items():
        random = [score_of(task, random_design(task, seed)) for seed in SEEDS]
        searched = [score_of(task, Design.from_json(data)) for data in stored[name]["designs"]]
        for kind, scores in (("random", random), ("searched", searched)):
            others = sum(one != two for one, two in zip(scores, stored[name][kind], strict=True))
            quantity = f"{name}: scores of {kind} robots that differ, of {len(scores)}"
            rows.append(bounded("design/baselines", quantity, others, 0.0, source=BITS))
    return rows


def vectors() -> list[Row]:
    """How many steps of robots in a vector environment differ from those of robots alone."""
    return [_vector(task) for task in tasks().values()]


def _vector(task: Task) -> Row:
    from supple.design.environments import TaskEnv, TaskVectorEnv

    designs = [random_design(task, seed) for seed in SEEDS]
    vector, singles = TaskVectorEnv(task, len(designs), designs), [TaskEnv(task, design) for design in designs]
    vector.reset()
    for env in singles:
        env.reset()
    rng, others = np.random.default_rng(0), 0
    for _ in range(STEPS):
        actions = rng.uniform(-1, 1, vector.action_space.shape or ()).astype(np.float32)
        seen, rewards, over, cut, _ = vector.step(actions)
        for k, env in enumerate(singles):
            alone, reward, is_over, is_cut, _ = env.step(actions[k])
            same = all(np.array_equal(seen[name][k], values) for name, values in alone.items())
            others += not same or (rewards[k], over[k], cut[k]) != (reward, is_over, is_cut)
        if (over | cut).any():
            break
    vector.close()
    quantity = f"{task.name}: steps of {len(designs)} robots that differ, {STEPS} each or to the first end"
    return bounded("design/vectors", quantity, others, 0.0, source=SINGLE)


CASES: dict[str, Callable[[], list[Row]]] = {"design/baselines": baselines, "design/vectors": vectors}
