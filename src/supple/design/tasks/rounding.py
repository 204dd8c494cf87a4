"""What rounding makes of the score of a robot: bands, measured by evaluations whose bodies are shifted by next to
nothing.

A robot on the ground is chaotic: a change in the last bit grows until its path is another one. A processor that rounds
otherwise changes last bits in every step. Shifts of all bodies by up to 1e-14 m, some hundred units in the last place
of their coordinates, do so from the first step on, on any processor:

    band        from the least to the greatest of the score and of those of 8 shifted evaluations
    w           its width, at least FLOOR
    elsewhere   a score lies between    least - 2 w    and    greatest + 2 w

Of ten numbers of one normal distribution the last one is that far from the other nine in 1 of 8,000 draws.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from supple.design.conditions import try_design
from supple.design.designs import Design
from supple.design.tasks.scores import Judge
from supple.design.tasks.task import Task
from supple.scene.scene import Scene

SHIFT = 1e-14  # [m]
SHIFTS, WIDTHS = 8, 2.0
FLOOR = 1e-6
"""Least width of a band, in the unit of the score: rounding alone, where nothing is chaotic, stays far below it."""


@dataclass(frozen=True)
class Shifted:
    """A task whose bodies start shifted by up to 1e-14 m along each axis, as the seed says."""

    task: Task
    number: int
    settle: ClassVar[float] = Task.settle
    dt: ClassVar[float | None] = Task.dt
    record_every: ClassVar[float] = Task.record_every
    measures: ClassVar[tuple[str, ...]] = Task.measures
    body: ClassVar[str] = Task.body

    @property
    def duration(self) -> float:
        """That of the task [s]."""
        return self.task.duration

    def key(self) -> str:
        """Of the task and the shift."""
        return f"{self.task.key()} shifted {self.number}"

    def judge(self) -> Judge:
        """That of the task."""
        return self.task.judge()

    def scene(self, design: Design, seed: int = 0) -> Scene:
        """The task's scene with its bodies shifted."""
        scene, rng = self.task.scene(design, seed), np.random.default_rng(self.number)
        for node in scene.nodes:
            at = node.placement.at + SHIFT * rng.uniform(-1.0, 1.0, 3)
            node.placement = replace(node.placement, at=at)
        return scene


def band_of(task: Task, design: Design, score: float) -> tuple[float, float]:
    """The least and the greatest score of a design, of its own and those of shifted evaluations."""
    scores = [score, *(try_design(design, Shifted(task, number)).scores["score"] for number in range(1, SHIFTS + 1))]
    return min(scores), max(scores)


def widths_off(score: float, band: Sequence[float]) -> float:
    """How far a score lies outside a band, in widths of it: up to WIDTHS is what rounding does.

    >>> widths_off(0.5, (0.4, 0.6)), round(widths_off(0.9, (0.4, 0.6)), 12)
    (0.0, 1.5)
    """
    least, greatest = band
    return max(least - score, score - greatest, 0.0) / max(greatest - least, FLOOR)
