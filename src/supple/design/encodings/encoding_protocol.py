"""Encoding: how a genome becomes a body, and how genomes are drawn, varied, crossed and written.

Every draw comes from the generator that is handed over, so the same seed gives the same genomes. What `random`,
`mutate` and `cross` return keeps the rules of the plan: one piece, enough cells, enough muscles.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable

import numpy as np

from supple.design.encodings.plan import BodyPlan
from supple.errors import InputError

Array = np.ndarray
Genome = TypeVar("Genome")
ATTEMPTS = 1000


class BodyGrids(NamedTuple):
    """A body: cells (nx, ny, nz) uint8, numbers of the palette, 0 empty; fields: (nx, ny, nz) float64 by name."""

    cells: Array
    fields: dict[str, Array]


@runtime_checkable
class Encoding(Protocol[Genome]):
    """A way to write bodies as genomes."""

    @property
    def plan(self) -> BodyPlan:
        """Grid, palette and rules of its bodies."""

    def random(self, rng: np.random.Generator) -> Genome:
        """A genome drawn without a parent."""

    def mutate(self, genome: Genome, rng: np.random.Generator) -> Genome:
        """A changed copy."""

    def cross(self, a: Genome, b: Genome, rng: np.random.Generator) -> Genome:
        """A genome with parts of both."""

    def grids(self, genome: Genome) -> BodyGrids:
        """The body of a genome."""

    def to_json(self, genome: Genome) -> dict[str, Any]:
        """The genome as plain values."""

    def from_json(self, data: Mapping[str, Any]) -> Genome:
        """The genome of plain values."""


class VectorEncoding(Encoding[Array], Protocol):
    """An encoding whose genomes are vectors of any real numbers, for searches over vectors."""

    @property
    def dimension(self) -> int:
        """Numbers of a genome."""

    @property
    def spread(self) -> float:
        """Standard deviation of the numbers of a random genome."""


def first_kept(draw: Callable[[], Genome], is_kept: Callable[[Genome], bool], *, where: str) -> Genome:
    """The first of many draws whose body keeps the rules."""
    for _ in range(ATTEMPTS):
        genome = draw()
        if is_kept(genome):
            return genome
    raise InputError(
        "no body keeps the rules of the plan",
        where=where,
        value=f"{ATTEMPTS} attempts",
        fix="Ask for fewer cells or muscles: least_cells, least_muscles.",
    )


def array_of(data: Mapping[str, Any], name: str, shape: tuple[int, ...], *, where: str) -> Array:
    """Finite numbers of a given shape from plain values."""
    try:
        values = np.array(data[name], dtype=float)
    except (KeyError, TypeError, ValueError):
        values = np.full(1, np.nan)
    if values.shape != shape or not np.isfinite(values).all():
        raise InputError(
            f"'{name}' is not an array of finite numbers", where=where, value=values.shape, allowed=str(shape)
        )
    return values
