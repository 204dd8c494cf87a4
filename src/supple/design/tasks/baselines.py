"""Baselines: what random robots reach and what a short search finds, for three seeds; the numbers are kept as data.

random     three quarters of the cells filled with any material, each muscle at any phase
searched   the best of some generations of ten designs by an age-fitness search (`supple.design.search`)

Random ones swing as waves of 2 Hz with phases in sixteenths of a period, searched ones with gains too. Beside each
score stands the band that rounding makes of it, see `rounding`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import numpy as np

from supple.design.conditions import try_design
from supple.design.designs import Design
from supple.design.population.evaluation import StoreLike
from supple.design.search import AgeFitness, Candidate, Search
from supple.design.tasks.bodies import random_cells
from supple.design.tasks.encoding import PHASES, TaskEncoding
from supple.design.tasks.rounding import band_of
from supple.design.tasks.task import Task

SEEDS = (0, 1, 2)
POPULATION = 10


def random_design(task: Task, seed: int) -> Design:
    """The random robot of a seed."""
    rng = np.random.default_rng(seed)
    cells = random_cells(task, rng)
    return Design(cells, {"phase": rng.integers(0, PHASES, task.grid) / PHASES})


def score_of(task: Task, design: Design) -> float:
    """The score of a design, in this process."""
    return try_design(design, task).scores["score"]


def search_design(task: Task, seed: int, generations: int, store: StoreLike = None) -> Candidate:
    """The best robot that the search of a seed finds, in this process. store: with it a search can be resumed."""
    method = AgeFitness(TaskEncoding(task), "score", population=POPULATION, seed=seed)
    return Search(method, task, store=store, workers=0, progress=False).run(generations).best[0]


def make_baselines(task: Task, generations: Sequence[int], store: StoreLike = None) -> dict[str, Any]:
    """What `load_baselines` has of a task, made anew. generations: of the search of each seed."""
    drawn = [random_design(task, seed) for seed in SEEDS]
    found = [search_design(task, seed, count, store) for seed, count in zip(SEEDS, generations, strict=True)]
    scores = {
        "random": [score_of(task, design) for design in drawn],
        "searched": [one.result.scores["score"] for one in found],
    }
    bodies = {"random": drawn, "searched": [one.design for one in found]}
    bands = {
        kind: [band_of(task, design, score) for design, score in zip(bodies[kind], scores[kind])] for kind in scores
    }
    designs = [one.design.to_json() for one in found]
    return {**scores, "bands": bands, "generations": list(generations), "designs": designs}


def load_baselines() -> dict[str, dict[str, Any]]:
    """By the name of a task: scores of the `random` and the `searched` robots, one for each seed; the `bands` of both,
    least and greatest score that rounding makes; the `designs` of the searched ones, as `Design.from_json` takes them,
    and how many `generations` each search took."""
    text = (files("supple.design.tasks") / "baselines.json").read_text()
    return json.loads(text)["tasks"]  # type: ignore[no-any-return]
