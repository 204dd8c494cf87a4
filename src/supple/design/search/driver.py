"""Search: asks a method for designs, evaluates them and tells the results, generation by generation."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from time import perf_counter
from typing import Any

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.design.arena import ArenaLike
from supple.design.conditions import TIME_LIMIT
from supple.design.measures import Measure, measures_of
from supple.design.population.evaluation import Evaluator, StoreLike
from supple.design.search.history import Found, Generation, best_of, generation_of
from supple.design.search.method_protocol import Candidate, Method
from supple.errors import InputError, check_number

Observer = Callable[[Generation, Sequence[Candidate]], None]


class Search:
    """A method at work in an arena.

    measures: further ones, kept with the results, beside those the method needs. store: a file or an open `Store`; a
    search that was stopped or killed and is run again with the same store evaluates nothing twice and ends the same.
    seed: of the arena; the method has its own. workers, executor, batch, time_limit, device, dtype, progress: as of
    `evaluate`.
    observers: called after each generation with its row and its candidates.

    >>> import numpy as np
    >>> from supple.design import Arena
    >>> from supple.design.encodings import BodyPlan, Direct
    >>> from supple.design.search import AgeFitness
    >>> from supple.material.voxel import VoxelMaterial
    >>> arena = Arena({1: VoxelMaterial(1e5, 1000, expansion=0.01)}, 0.01, duration=0.05, amplitude=15, frequency=4)
    >>> method = AgeFitness(Direct(BodyPlan((2, 2, 2))), "forward", population=2, seed=1)
    >>> len(Search(method, arena, workers=0).run(2).history)
    2
    """

    def __init__(
        self,
        method: Method,
        arena: ArenaLike,
        measures: Any = (),
        *,
        seed: int = 0,
        store: StoreLike = None,
        executor: Callable[[], Executor] | None = None,
        workers: int | None = None,
        batch: int | None = None,
        time_limit: float = TIME_LIMIT,
        device: str = "cpu",
        dtype: str = "float64",
        progress: bool | None = None,
        observers: Sequence[Observer] = (),
    ) -> None:
        if not isinstance(method, Method):
            raise InputError("this is not a method of search", where="Search", value=type(method).__name__)
        self.method, self.arena = method, arena
        self.measures = _joined(method.measures, measures)
        self.options: dict[str, Any] = {"seed": seed, "store": store, "executor": executor, "workers": workers}
        self.options |= {"batch": batch, "time_limit": time_limit, "device": device, "dtype": dtype}
        self.options |= {"progress": progress}
        self.observers = tuple(observers)
        self.history: list[Generation] = []
        self.best: tuple[Candidate, ...] = ()

    def run(self, generations: int) -> Found:
        """Search for so many generations more, and say what was found."""
        check_number(generations, name="generations", where="Search.run", least=1, whole=True)
        with Evaluator(self.arena, self.measures, **self.options) as evaluator:
            for _ in range(generations):
                self._generation(evaluator)
        return self.found()

    def found(self) -> Found:
        """What was found so far."""
        return Found(self.method.objectives, tuple(self.history), self.best, tuple(self.method.kept()))

    def _generation(self, evaluator: Evaluator) -> None:
        begun = perf_counter()
        with one_blas_thread():
            designs = self.method.ask()
        results = evaluator.evaluate(designs)
        with one_blas_thread():
            told = self.method.tell(results)
        record = self.history[-1].record if self.history else None
        row = generation_of(len(self.history), told, self.measures, record, perf_counter() - begun)
        self.history.append(row)
        self.best = best_of([*self.best, *told], self.measures)
        for observer in self.observers:
            observer(row, told)


def _joined(needed: Sequence[Measure], more: Any) -> tuple[Measure, ...]:
    """The measures of a method and further ones, none twice."""
    found = {one.name: one for one in needed}
    is_none = more is None or (isinstance(more, list | tuple) and not more)
    for one in () if is_none else measures_of(more):
        found.setdefault(one.name, one)
    return tuple(found.values())
