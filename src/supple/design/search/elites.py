"""Archives of elites by ribs: the best design of every cell of a grid over some measures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from supple.design.measures import Measure, measure_of
from supple.design.search.method_protocol import Candidate, checked_objectives, gains, missing_extra
from supple.errors import InputError, check_number, check_row

Array = np.ndarray


class Descriptor(NamedTuple):
    """An axis of the grid: a measure, by name or itself, from low to high in so many cells; what is beyond is put into
    the outermost ones.

    >>> Descriptor("height", 0.0, 0.05, 10).cells
    10
    """

    measure: Any
    low: float
    high: float
    cells: int


class Elites:
    """The grid of elites. solution_dim: numbers that ribs keeps of each."""

    def __init__(self, objectives: Any, descriptors: Sequence[Descriptor], solution_dim: int, *, where: str) -> None:
        try:
            from ribs.archives import GridArchive
        except ImportError as error:
            raise missing_extra("an archive of elites") from error
        self.objectives = checked_objectives(objectives)
        if len(self.objectives) != 1:
            raise InputError("an archive of elites improves one measure", where=where, value=len(self.objectives),
                             allowed="1")  # fmt: skip
        check_row(descriptors, (list, tuple), "descriptors", where=where)
        self.descriptors = tuple(_checked(one, where) for one in descriptors)
        self.axes: tuple[Measure, ...] = tuple(one.measure for one in self.descriptors)
        names = [one.name for one in (*self.objectives, *self.axes)]
        if not self.descriptors or len(set(names)) < len(names):
            raise InputError("the descriptors are one or more measures beside the objective", where=where, value=names)
        self.archive = GridArchive(
            solution_dim=solution_dim,
            dims=[one.cells for one in self.descriptors],
            ranges=[(one.low, one.high) for one in self.descriptors],
            extra_fields={"number": ((), np.int64)},
            seed=0,
        )
        self._candidates: dict[int, Candidate] = {}

    def add(self, told: Sequence[Candidate], vectors: Array) -> dict[str, Array]:
        """Offer candidates with their vectors (n, solution_dim); what failed is never kept.

        Returns what ribs' emitters want to be told: status (n,), 0 where a candidate was not kept, 1 where it was
        better than an elite, 2 where its cell was empty; value (n,), by how much.
        """
        objective, axes = self.values(told)
        well = np.array([one.result.ok for one in told], dtype=bool)
        info = {"status": np.zeros(len(told), dtype=np.int32), "value": objective.copy()}
        if well.any():
            numbers = np.array([one.number for one in told])
            added = self.archive.add(vectors[well], objective[well], axes[well], number=numbers[well])
            for name in info:
                info[name][well] = added[name]
            held = set(self.archive.data("number").tolist())
            known = self._candidates | {one.number: one for one in told}
            self._candidates = {number: known[number] for number in held}
        return info

    def values(self, told: Sequence[Candidate]) -> tuple[Array, Array]:
        """Gains (n,) and places on the axes (n, axes) of candidates."""
        places = [[one.result.scores[axis.name] for axis in self.axes] for one in told]
        return gains(told, self.objectives)[:, 0], np.array(places).reshape(len(told), len(self.axes))

    def kept(self) -> list[Candidate]:
        """The elites, by the numbers of their cells."""
        data = self.archive.data(["index", "number"])
        return [self._candidates[int(data["number"][k])] for k in np.argsort(data["index"])]

    def cells_of_kept(self) -> Array:
        """Cells (n, axes) of what is kept, counted from 0 along each axis."""
        return np.asarray(self.archive.int_to_grid_index(np.sort(self.archive.data("index"))))


def _checked(given: Any, where: str) -> Descriptor:
    try:
        measure, low, high, cells = given
    except (TypeError, ValueError):
        raise InputError("a descriptor is not a measure with low, high and cells", where=where, value=given) from None
    check_number(low, name="low of a descriptor", where=where)
    check_number(high, name="high of a descriptor", where=where, above=low)
    check_number(cells, name="cells of a descriptor", where=where, least=1, whole=True)
    return Descriptor(measure_of(measure), float(low), float(high), int(cells))
