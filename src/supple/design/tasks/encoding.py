"""TaskEncoding: bodies of a task cell by cell, with phases in sixteenths of a period.

Rounded phases take away what processors differ by in the last bit, so that a search goes the same way on all of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.design.encodings import BodyGrids, BodyPlan, Direct
from supple.design.encodings.direct import CellGenome
from supple.design.tasks.palette import FIRM, MUSCLE, SOFT
from supple.design.tasks.task import Task

PHASES = 16


@dataclass(frozen=True)
class TaskEncoding:
    """Of a task: an encoding for searches (`supple.design.search`).

    >>> from supple.design.tasks import find_task
    >>> encoding = TaskEncoding(find_task("walk-v1"))
    >>> encoding.grids(encoding.random(np.random.default_rng(0))).cells.shape
    (5, 5, 5)
    """

    task: Task

    @cached_property
    def cells(self) -> Direct:
        """The encoding before phases are rounded."""
        return Direct(BodyPlan(self.task.grid, muscles=(MUSCLE,), passive=(FIRM, SOFT)))

    @property
    def plan(self) -> BodyPlan:
        """Grid, palette and rules of its bodies: a quarter of the grid is filled, a tenth is muscle, or more."""
        return self.cells.plan

    def random(self, rng: np.random.Generator) -> CellGenome:
        """Lumps of materials with phases that vary smoothly."""
        return _rounded(self.cells.random(rng))

    def mutate(self, genome: CellGenome, rng: np.random.Generator) -> CellGenome:
        """A copy with one change, of cells or phases."""
        return _rounded(self.cells.mutate(genome, rng))

    def cross(self, a: CellGenome, b: CellGenome, rng: np.random.Generator) -> CellGenome:
        """The cells of b in a box, of a elsewhere."""
        return self.cells.cross(a, b, rng)

    def grids(self, genome: CellGenome) -> BodyGrids:
        """The body."""
        return self.cells.grids(genome)

    def to_json(self, genome: CellGenome) -> dict[str, Any]:
        """Nested lists."""
        return self.cells.to_json(genome)

    def from_json(self, data: Mapping[str, Any]) -> CellGenome:
        """The genome of nested lists."""
        return self.cells.from_json(data)


def _rounded(genome: CellGenome) -> CellGenome:
    return CellGenome(genome.cells, {name: np.round(PHASES * unit) / PHASES for name, unit in genome.units.items()})
