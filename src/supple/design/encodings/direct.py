"""Direct encoding: the genome is the body itself, a number and a unit of each field for every cell.

A mutation changes one thing in one place: it adds cells to the surface, takes cells away, gives those in a box another
number, or shifts a field in a box or everywhere. Boxes of all sizes make small and large steps alike.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import ndimage

from supple.design.encodings.encoding_protocol import BodyGrids, array_of, first_kept
from supple.design.encodings.plan import BodyPlan
from supple.errors import InputError, check_instance, check_number

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class CellGenome:
    """cells: numbers of the free cells (free_shape). units: of each field, in [0, 1], by name."""

    cells: Array
    units: dict[str, Array]


@dataclass(frozen=True)
class Direct:
    """Bodies cell by cell. filled: share of cells that a random body has before pieces are dropped. smooth: width
    [cells] over which random fields vary.

    >>> encoding = Direct(BodyPlan((4, 4, 4)))
    >>> genome = encoding.random(np.random.default_rng(1))
    >>> encoding.grids(genome).cells.shape
    (4, 4, 4)
    """

    plan: BodyPlan
    filled: float = 0.7
    smooth: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.filled, name="filled", where="Direct", above=0.0, most=1.0)
        check_instance(self.plan, BodyPlan, "a plan of bodies", where="Direct")
        check_number(self.smooth, name="smooth", where="Direct", least=0.0, most=100.0)

    def random(self, rng: np.random.Generator) -> CellGenome:
        """Cells and fields from smoothed noise: lumps, not dust."""
        return first_kept(lambda: self._drawn(rng), self._is_kept, where="Direct.random")

    def _drawn(self, rng: np.random.Generator) -> CellGenome:
        plan, shape = self.plan, self.plan.free_shape
        noise = ndimage.gaussian_filter(rng.standard_normal(shape), self.smooth, mode="nearest")
        solid = noise <= np.quantile(noise, min(max(self.filled, 0.05), 1.0))
        lumps = ndimage.gaussian_filter(rng.standard_normal((len(plan.numbers), *shape)), (0, *[self.smooth] * 3))
        numbers = np.array(plan.numbers)[np.argmax(lumps, axis=0)]
        cells = plan.kept(np.where(solid, numbers, 0))
        units = {name: self._smooth_units(rng) for name in plan.fields}
        return CellGenome(np.zeros(shape, dtype=np.uint8) if cells is None else cells, units)

    def _smooth_units(self, rng: np.random.Generator) -> Array:
        noise = ndimage.gaussian_filter(rng.standard_normal(self.plan.free_shape), self.smooth, mode="nearest")
        spread = float(noise.max() - noise.min())
        return np.asarray((noise - noise.min()) / spread) if spread > 0 else np.full(noise.shape, 0.5)

    def _is_kept(self, genome: CellGenome) -> bool:
        return bool(genome.cells.any())

    def mutate(self, genome: CellGenome, rng: np.random.Generator) -> CellGenome:
        """A copy with one change, whose body keeps the rules. Of a field it may lie in empty cells."""
        return first_kept(lambda: self._changed(genome, rng), self._is_kept, where="Direct.mutate")

    def _changed(self, genome: CellGenome, rng: np.random.Generator) -> CellGenome:
        names = list(self.plan.fields)
        which = int(rng.integers(2 + len(names))) if names else 0
        if which >= 2:
            name = names[which - 2]
            return CellGenome(genome.cells, {**genome.units, name: self._shifted(genome.units[name], name, rng)})
        box = self._box(rng)
        cells = genome.cells.astype(np.int64)
        near = ndimage.binary_dilation(cells > 0) & box
        deed = int(rng.integers(3 if len(self.plan.numbers) > 1 else 2))
        number = int(rng.choice(self.plan.numbers))
        if deed == 0:
            cells[near & (cells == 0)] = number
        elif deed == 1:
            cells[box] = 0
        else:
            cells[box & (cells > 0)] = number
        kept = self.plan.kept(cells)
        same = kept is None or np.array_equal(kept, genome.cells)
        return CellGenome(np.zeros_like(genome.cells) if same else kept, genome.units)  # type: ignore[arg-type]

    def _shifted(self, unit: Array, name: str, rng: np.random.Generator) -> Array:
        """A field moved by one amount in a box, by a slope, or by noise everywhere."""
        size = float(rng.choice([0.05, 0.15, 0.4]))
        deed = int(rng.integers(3))
        if deed == 0:
            change = np.where(self._box(rng), size * rng.standard_normal(), 0.0)
        elif deed == 1:
            slope = size * rng.standard_normal(3) / np.array(unit.shape)
            change = np.tensordot(slope, np.indices(unit.shape), axes=1)
        else:
            change = 0.3 * size * rng.standard_normal(unit.shape)
        return self.plan.fields[name].inside(unit + change)

    def _box(self, rng: np.random.Generator) -> Array:
        """Cells of a box of one cell to half of the grid along each axis."""
        box = np.zeros(self.plan.free_shape, dtype=bool)
        ranges = []
        for count in box.shape:
            length = int(rng.integers(1, max(1, count // 2) + 1))
            start = int(rng.integers(count - length + 1))
            ranges.append(slice(start, start + length))
        box[tuple(ranges)] = True
        return box

    def cross(self, a: CellGenome, b: CellGenome, rng: np.random.Generator) -> CellGenome:
        """The cells of b in a box, of a elsewhere; a itself where no such body keeps the rules."""
        for _ in range(20):
            box = self._box(rng)
            cells = self.plan.kept(np.where(box, b.cells, a.cells))
            if cells is not None:
                return CellGenome(cells, {k: np.where(box, b.units[k], a.units[k]) for k in a.units})
        return a

    def grids(self, genome: CellGenome) -> BodyGrids:
        """The body: the cells, and their reflection where the plan has a mirror."""
        return BodyGrids(self.plan.whole(genome.cells), self.plan.whole_fields(genome.units))

    def to_json(self, genome: CellGenome) -> dict[str, Any]:
        """Nested lists."""
        return {"cells": genome.cells.tolist(), "units": {k: v.tolist() for k, v in genome.units.items()}}

    def from_json(self, data: Mapping[str, Any]) -> CellGenome:
        """The genome of nested lists; bodies that break the rules are refused."""
        shape, where = self.plan.free_shape, "a direct genome"
        cells = array_of(data, "cells", shape, where=where)
        if not np.isin(cells, (0, *self.plan.numbers)).all():
            raise InputError("a cell is not in the palette", where=where, allowed=str((0, *self.plan.numbers)))
        kept = self.plan.kept(cells.astype(np.uint8))
        if kept is None or not np.array_equal(kept, cells):
            raise InputError("the body is not one piece with enough cells and muscles", where=where)
        given = data.get("units")
        units = given if isinstance(given, Mapping) else {}
        return CellGenome(kept, {k: array_of(units, k, shape, where=where) for k in self.plan.fields})
