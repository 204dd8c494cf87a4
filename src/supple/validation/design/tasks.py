"""The suite of tasks: its baselines are the published ones, and vector environments equal single ones to the bit.

A robot's path is the same, bit for bit, where machine code fuses products and sums as that of x86 with FMA does.
Elsewhere the last bit differs, and paths part after a while, so that two criteria hold for baselines:

    x86 with FMA     none of the scores differs from the published one
    elsewhere        a score lies at most two widths outside the band that shifts of 1e-14 m make of it on x86 with
                     FMA, see `supple.design.tasks.rounding`
"""

from __future__ import annotations

import platform
from collections.abc import Callable, Sequence

import llvmlite.binding as llvm
import numpy as np
from numba.core import config

from supple.design.designs import Design
from supple.design.tasks import tasks
from supple.design.tasks.baselines import SEEDS, load_baselines, random_design, score_of
from supple.design.tasks.rounding import WIDTHS, widths_off
from supple.design.tasks.task import Task
from supple.validation.row import Row, bounded

BITS = "the same versions on x86 with FMA give the same bits"
SPREAD = "without FMA a score lies at most two widths outside its published band, made by shifts of 1e-14 m"
SINGLE = "single environments, step by step"
STEPS = 20


def baselines() -> list[Row]:
    """The stored robots tried anew: their scores beside those that are stored."""
    stored, exact, rows = load_baselines(), is_x86_with_fma(), []
    for name, task in tasks().items():
        random = [score_of(task, random_design(task, seed)) for seed in SEEDS]
        searched = [score_of(task, Design.from_json(data)) for data in stored[name]["designs"]]
        for kind, scores in (("random", random), ("searched", searched)):
            row = stored[name]
            rows.append(baseline_row(name, kind, scores, row[kind], row["bands"][kind], exact=exact))
    return rows


def baseline_row(
    task: str, kind: str, scores: Sequence[float], published: Sequence[float], bands: Sequence[Sequence[float]], *,
    exact: bool,
) -> Row:  # fmt: skip
    """Scores of the robots of a task beside the published ones and their bands. exact: by the criterion of x86 with
    FMA."""
    if exact:
        others = sum(one != two for one, two in zip(scores, published, strict=True))
        quantity = f"{task}: scores of {kind} robots that differ, of {len(scores)}"
        return bounded("design/baselines", quantity, others, 0.0, source=BITS)
    off = max(widths_off(score, band) for score, band in zip(scores, bands, strict=True))
    quantity = f"{task}: how far scores of {kind} robots are outside their published bands at most, in widths"
    return bounded("design/baselines", quantity, off, WIDTHS, source=SPREAD)


def is_x86_with_fma() -> bool:
    """Whether kernels are compiled for an x86 processor with fused products and sums."""
    features: str | None = getattr(config, "CPU_FEATURES", None)
    fuses = llvm.get_host_cpu_features().get("fma", False) if features is None else "+fma" in features.split(",")
    return bool(fuses) and platform.machine().lower() in ("x86_64", "amd64")


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
