"""The search of `evolve-walker`: how far its best robot walks, and how much farther than random ones.

A body length is 6 cm. Distances are along x, from 1 s to 11 s. Random robots are those of the first generation and the
newcomer of every later one; their distance counts in either direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from supple.design.search.method_protocol import Candidate
from supple.design.study.study import load_study
from supple.examples.designs import study_file
from supple.validation.row import Row, at_least

LENGTH = 0.06  # [m]
LEAST_LENGTHS, LEAST_RATIO = 5.0, 5.0
SEEDS = (1, 2, 3)
SOURCE = "random robots make 0.3 to 0.5 lengths, a hill climb of a minute 6 to 8"


def walker(seed: int) -> list[Row]:
    """The best robot of a search with this seed, in body lengths, and over the median of random ones."""
    study = load_study(study_file("evolve-walker"), changes={"seed": seed})
    random: list[float] = []

    def note(row: Any, told: Sequence[Candidate]) -> None:
        drawn = told if row.number == 0 else told[-1:]
        random.extend(abs(one.result.scores["forward"]) for one in drawn if one.result.ok)

    found = study.search(observers=[note]).run(study.generations)
    lengths = found.best[0].result.scores["forward"] / LENGTH
    median = float(np.median(random)) / LENGTH
    case = f"design/walker/{seed}"
    return [
        at_least(case, "way of the best robot, in body lengths", lengths, LEAST_LENGTHS, source=SOURCE),
        at_least(
            case, f"the same over the median {median:.2f} of {len(random)} random robots", lengths / median,
            LEAST_RATIO, source=SOURCE,
        ),
    ]  # fmt: skip


CASES: dict[str, Callable[[], list[Row]]] = {f"design/walker/{seed}": partial(walker, seed) for seed in SEEDS}
