"""Wave encoding: the fields of a given body as a few smooth waves, so that a genome is a short vector of numbers.

For searches over vectors (cma, ribs). With places p in [-1, 1]³ and basis functions b_k of p (a constant, the three
coordinates, then their products and squares), each field is

    unit(p) = 1/2 + sum_k c_k b_k(p),    c the field's part of the genome.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from supple.algebra.dense.checks import check_whole
from supple.design.encodings.encoding_protocol import BodyGrids, array_of
from supple.design.encodings.plan import BodyPlan
from supple.errors import InputError, check_instance, check_number

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Waves:
    """Fields over one body. cells: numbers of the whole grid; by default the grid is full of the first muscle.
    spread: standard deviation of random coefficients.

    >>> encoding = Waves(BodyPlan((6, 2, 2)))
    >>> encoding.dimension
    10
    """

    plan: BodyPlan
    cells: Array | None = None
    spread: float = 0.5

    def __post_init__(self) -> None:
        check_instance(self.plan, BodyPlan, "a plan of bodies", where="Waves")
        check_number(self.spread, name="spread", where="Waves", least=0.0)
        if not self.plan.fields:
            raise InputError("waves need a field to vary", where="Waves", fix="Give the plan a field, such as phase.")
        cells = self.free_cells
        kept = self.plan.kept(cells)
        if kept is None or not np.array_equal(kept, cells):
            raise InputError("the body is not one piece with enough cells and muscles", where="Waves")

    @cached_property
    def free_cells(self) -> Array:
        """Numbers of the free cells."""
        shape = self.plan.free_shape
        if self.cells is None:
            return np.full(shape, self.plan.muscles[0], dtype=np.uint8)
        cells = check_whole(self.cells, name="cells", where="Waves")
        if cells.shape != tuple(self.plan.shape):
            raise InputError(
                "the body has another grid", where="Waves", value=cells.shape, allowed=str(self.plan.shape)
            )
        free = cells[tuple(slice(0, n) for n in shape)].astype(np.uint8)
        if not np.array_equal(self.plan.whole(free), cells):
            raise InputError("the body is not symmetric across the plan's mirror", where="Waves")
        return free

    @cached_property
    def basis(self) -> Array:
        """Basis functions at the free cells, (10, *free_shape)."""
        cells = np.indices(self.plan.free_shape).astype(float)
        x, y, z = (2.0 * cells + 1.0) / np.array(self.plan.shape)[:, None, None, None] - 1.0
        one = np.ones_like(x)
        return np.stack([one, x, y, z, x * y, y * z, z * x, x * x, y * y, z * z])

    @property
    def dimension(self) -> int:
        """Numbers of a genome."""
        return len(self.basis) * len(self.plan.fields)

    def random(self, rng: np.random.Generator) -> Array:
        """Normal coefficients."""
        return np.asarray(self.spread * rng.standard_normal(self.dimension))

    def mutate(self, genome: Array, rng: np.random.Generator) -> Array:
        """All coefficients moved a little."""
        return np.asarray(genome + 0.2 * self.spread * rng.standard_normal(self.dimension))

    def cross(self, a: Array, b: Array, rng: np.random.Generator) -> Array:
        """Each coefficient from either."""
        return np.where(rng.random(self.dimension) < 0.5, a, b)

    def grids(self, genome: Array) -> BodyGrids:
        """The body with its fields."""
        parts = np.reshape(genome, (len(self.plan.fields), len(self.basis)))
        units = {name: 0.5 + _summed(part, self.basis) for name, part in zip(self.plan.fields, parts)}
        return BodyGrids(self.plan.whole(self.free_cells), self.plan.whole_fields(units))

    def to_json(self, genome: Array) -> dict[str, Any]:
        """The vector."""
        return {"coefficients": np.asarray(genome, dtype=float).tolist()}

    def from_json(self, data: Mapping[str, Any]) -> Array:
        """The vector of plain values."""
        return array_of(data, "coefficients", (self.dimension,), where="a genome of waves")


def _summed(part: Array, basis: Array) -> Array:
    """The sum of basis functions, in one order on every machine."""
    total = np.zeros(basis.shape[1:])
    for coefficient, function in zip(part, basis):
        total += coefficient * function
    return total
