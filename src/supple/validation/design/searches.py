"""The searches `swim` and `map-of-gaits`, as they are built in: how far their best robots come, and what they fill.

A swimmer is 10 cm long and swims for 4 s in water without weight; a walker is 6 cm long and walks for 3 s. The first
generation of each search is random: distances of its robots count in either direction.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from supple.design.search.history import Found
from supple.design.search.method_protocol import Candidate
from supple.design.study.study import load_study
from supple.examples.designs import study_file
from supple.validation.row import Row, at_least

SWIMMER, WALKER = 0.10, 0.06  # [m]
CELLS = 12
FIRST = "the random robots of its first generation"
SPARSE = "half of the 25 that it fills with seed 1"


def swim() -> list[Row]:
    """The way of the best swimmer, in body lengths, and over the median of random ones."""
    found, random = searched("swim")
    case, best = "design/swim", found.best[0].result.scores["forward"]
    return [
        at_least(case, "way of the best swimmer, in body lengths", best / SWIMMER, 0.7, source=FIRST),
        at_least(case, f"the same over the median {random / SWIMMER:.3f} of random ones", best / random, 3.0,
                 source=FIRST),
    ]  # fmt: skip


def gaits() -> list[Row]:
    """How many cells of the map have a walker, and how far the best one comes."""
    found, random = searched("map-of-gaits")
    case, best = "design/map-of-gaits", found.best[0].result.scores["forward"]
    return [
        at_least(case, "cells of 64 with a walker", len(found.archive), CELLS, source=SPARSE),
        at_least(case, f"way of the best walker over the median {random / WALKER:.3f} of random ones, in body lengths",
                 best / random, 5.0, source=FIRST),
    ]  # fmt: skip


def searched(name: str) -> tuple[Found, float]:
    """A built-in search as it is, and the median way of its first generation, either way along x [m]."""
    study = load_study(study_file(name))
    ways: list[float] = []

    def note(row: Any, told: Sequence[Candidate]) -> None:
        if row.number == 0:
            ways.extend(abs(one.result.scores["forward"]) for one in told if one.result.ok)

    found = study.search(observers=[note]).run(study.generations)
    return found, float(np.median(ways))


CASES: dict[str, Callable[[], list[Row]]] = {"design/map-of-gaits": gaits, "design/swim": swim}
