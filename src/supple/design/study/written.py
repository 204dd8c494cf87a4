"""write_voxcad: a design as a .vxa file, with what the file lacks and how well its robot does beside it."""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from supple.design.arena import ArenaLike
from supple.design.conditions import try_design
from supple.design.measures import MEASURES, Measure
from supple.design.search.method_protocol import Candidate
from supple.design.study.voxcad_design import WrittenArena, save_design
from supple.design.tasks.task import Task
from supple.errors import RecordError, SuppleWarning

ALIKE = {"travel": "forward"}
"""Measures of any arena that are scores of tasks."""


def write_voxcad(one: Candidate, objectives: Sequence[Measure], arena: ArenaLike, path: Path) -> list[str]:
    """Write a candidate to a .vxa file. What it lacks, and its scores as the file says it beside those in its arena, go
    to a .vxa.json file. Returns both in a sentence; nothing where nothing is lost."""
    measures = [found for measure in objectives if (found := _measure_there(measure, arena)) is not None]
    there = WrittenArena(path, arena.settle, arena.duration, arena.record_every)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SuppleWarning)  # what is lost is returned; the trial is of the file
        lost = save_design(one.design, arena, path)
        result = try_design(one.design, there, measures) if measures else None
    scores = dict(result.scores) if result is not None and result.ok else {}
    told: dict[str, Any] = {"lost": lost, "scores": scores, "in its arena": dict(one.result.scores)}
    try:
        path.with_name(path.name + ".json").write_text(json.dumps(told, indent=1) + "\n", encoding="utf-8")
    except OSError as error:
        raise RecordError(f"the file cannot be written: {error.strerror}", where=f"{path}.json") from error
    if not lost:
        return []
    ours = ", ".join(f"{name} {value:.4g} there" for name, value in scores.items()) or "it has no score there"
    return [f"{path.name} lacks {', '.join(lost)}; {ours}, " + _scores_of(one)]


def _scores_of(one: Candidate) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in one.result.scores.items()) + " in its arena"


def _measure_there(measure: Measure, arena: ArenaLike) -> Measure | None:
    """The measure that says the same in a .vxa file; None where there is none."""
    if measure.name != "score":
        return measure
    name = ALIKE.get(arena.score) if isinstance(arena, Task) else None
    return None if name is None else MEASURES[name]
