"""History of a search: one row a generation, and what was found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.design.measures import Measure
from supple.design.search.method_protocol import Candidate, gains

KEPT_BEST = 10


@dataclass(frozen=True)
class Generation:
    """One generation. designs: how many were tried, failed: how many of them did not finish.

    best, median: scores of this generation by measure, of those that finished; None where none did. record: the best
    score of the first objective so far. seconds: wall time; it differs from run to run.
    """

    number: int
    designs: int
    failed: int
    best: Mapping[str, float | None]
    median: Mapping[str, float | None]
    record: float | None
    seconds: float = field(default=0.0, compare=False)

    def to_row(self) -> dict[str, Any]:
        """Plain values, one column a number."""
        row: dict[str, Any] = {"generation": self.number, "designs": self.designs, "failed": self.failed}
        for name in self.best:
            row |= {f"best {name}": self.best[name], f"median {name}": self.median[name]}
        return row | {"record": self.record, "seconds": round(self.seconds, 3)}


@dataclass(frozen=True, eq=False)
class Found:
    """What a search found. history: its generations. best: the best designs by the first objective, best first, no
    design twice. archive: what the method holds at the end."""

    objectives: tuple[Measure, ...]
    history: tuple[Generation, ...]
    best: tuple[Candidate, ...]
    archive: tuple[Candidate, ...]

    def rows(self) -> list[dict[str, Any]]:
        """The archive as plain values: number, key of the design, outcome, scores."""
        return [
            {"number": one.number, "design": one.design.key(), "outcome": one.result.outcome, **one.result.scores}
            for one in self.archive
        ]


def generation_of(
    number: int, told: Sequence[Candidate], measures: Sequence[Measure], record: float | None, seconds: float
) -> Generation:
    """The row of a generation. record: the best score of the first measure before it."""
    well = [one for one in told if one.result.ok]
    best: dict[str, float | None] = {one.name: None for one in measures}
    median = dict(best)
    for k, measure in enumerate(measures):
        if well:
            values = [one.result.scores[measure.name] for one in well]
            best[measure.name] = values[int(np.argmax(gains(well, measures)[:, k]))]
            median[measure.name] = float(np.median(values))
    first = measures[0]
    known = [value for value in (record, best[first.name]) if value is not None]
    record = None if not known else max(known) if first.better == "more" else min(known)
    return Generation(number, len(told), len(told) - len(well), best, median, record, seconds)


def best_of(candidates: Sequence[Candidate], measures: Sequence[Measure]) -> tuple[Candidate, ...]:
    """The best by the first measure, best first, the first asked of equal ones; those that failed are left out."""
    finished = {one.design.key(): one for one in sorted(candidates, key=lambda c: -c.number) if one.result.ok}
    well = sorted(finished.values(), key=lambda c: c.number)
    if not well:
        return ()
    order = np.argsort(-gains(well, measures)[:, 0], kind="stable")
    return tuple(well[k] for k in order[:KEPT_BEST])
