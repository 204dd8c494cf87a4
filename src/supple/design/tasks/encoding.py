"""TaskEncoding: bodies of a task cell by cell, left and right alike, with phases and gains in sixteenths.

A random body is lumps of materials in a box of random size, and one wave runs through it: its phase has a slope along
x and z of up to about a period a grid, often next to none, so that some bodies swing in step. One gain is of the whole
body. It lies between 0 and 4, and actions are cut to [-1, 1]: from 1 on waves become square, which throws and jumps.

Rounded phases and gains take away what processors differ by in the last bit, so that a search goes the same way on all
of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.design.encodings import BodyGrids, BodyPlan, Direct
from supple.design.encodings.direct import CellGenome
from supple.design.encodings.encoding_protocol import first_kept
from supple.design.encodings.plan import PHASE, FieldRange
from supple.design.tasks.palette import FIRM, MUSCLE, SOFT
from supple.design.tasks.task import Task

PHASES = 16
GAIN = FieldRange(0.0, 4.0)
LEAST = 3
"""Cells that the box of a random body has along each axis, or more."""


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
        """The encoding before phases and gains are rounded."""
        fields = {"phase": PHASE, "gain": GAIN}
        return Direct(BodyPlan(self.task.grid, muscles=(MUSCLE,), passive=(FIRM, SOFT), mirror="y", fields=fields))

    @property
    def plan(self) -> BodyPlan:
        """Grid, palette and rules of its bodies: a quarter of the grid is filled, a tenth is muscle, or more."""
        return self.cells.plan

    def random(self, rng: np.random.Generator) -> CellGenome:
        """Lumps of materials in a box, with a wave through them."""
        return first_kept(
            lambda: self._drawn(rng), lambda genome: bool(genome.cells.any()), where="TaskEncoding.random"
        )

    def _drawn(self, rng: np.random.Generator) -> CellGenome:
        plan, lumps = self.plan, self.cells.random(rng)
        nx, ny, nz = (int(rng.integers(min(LEAST, most), most + 1)) for most in plan.shape)
        cells, rows = lumps.cells.copy(), lumps.cells.shape[1]
        cells[nx:], cells[:, : rows - -(-ny // 2)], cells[:, :, nz:] = 0, 0, 0
        kept = plan.kept(cells)
        slope = rng.random() * rng.standard_normal(3) / np.array(plan.shape)
        phase = rng.random() + np.tensordot(slope, np.indices(plan.free_shape), axes=1)
        units = {"phase": PHASE.inside(phase), "gain": np.full(plan.free_shape, rng.random())}
        return _rounded(CellGenome(np.zeros_like(cells) if kept is None else kept, units))

    def mutate(self, genome: CellGenome, rng: np.random.Generator) -> CellGenome:
        """A copy with one change, of cells, phases or gains."""
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
