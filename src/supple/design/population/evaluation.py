"""evaluate: scores of many designs, by many processes, each result kept as soon as it is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from typing import Any, Unpack

import numpy as np

from supple.design.arenas import ArenaGiven, arena_of
from supple.design.conditions import TIME_LIMIT, Conditions
from supple.design.designs import Design
from supple.design.population.dispatch import Dispatcher
from supple.design.population.elsewhere import work_of
from supple.design.population.progress import population_bar
from supple.design.population.workers import executor_factory
from supple.design.results import Result
from supple.design.scenes.scene_arena import Placing
from supple.design.store import Store
from supple.errors import InputError, check_instance, check_number

StoreLike = Store | str | os.PathLike[str] | None


def evaluate(
    designs: Iterable[Design],
    arena: ArenaGiven,
    measures: Any = None,
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
    **placing: Unpack[Placing],
) -> list[Result]:
    """Results of designs in their order, evaluated by many processes. They are those of `try_design`, bit for bit.

    arena: where they are tried: an `Arena`, a task or its name, a scene file, a `FileArena`, a `SceneArena`, or a
    `Scene`, in which they are placed as `placing` says: duration=, materials=, voxel_size=, at= and what else
    `SceneArena` takes. measures: what they are
    judged by, names, "module:function" or functions; None: what the arena is about. seed: of the arena. store: a
    `Store` or its file; what is in it is not evaluated again, and what is new is kept as soon as it is there, so that a
    run that was stopped goes on where it was. executor: makes a `concurrent.futures.Executor`, such as
    `lambda: client.get_executor()` of `dask.distributed`; None: a pool of spawned processes with one thread each.
    workers: how many designs are evaluated at once; None: one a core, or what the executor says; 0: one after the
    other in this process. batch: designs that a worker gets at a time, None: several where they are quick.
    time_limit: wall time of one design [s], after which it is a result `crashed`; keep it far beyond what designs take,
    since a slower machine must not give other results. device, dtype: what scores are computed by and with, which is
    part of their keys: others than these need an executor that carries them, see `population.elsewhere`. progress:
    a bar on standard error, None: on a terminal only.

    Equal designs are evaluated once. A design that diverges is a result `diverged`, one that kills its worker twice a
    result `crashed`; both have the worst scores.

    >>> import numpy as np
    >>> from supple.design import Arena, Design, evaluate
    >>> from supple.material.voxel import VoxelMaterial
    >>> arena = Arena({1: VoxelMaterial(young=1e5, density=1000)}, 0.01, duration=0.1, obstacles=(), velocity=(1, 0, 0))
    >>> designs = [Design(np.ones((n, 1, 1))) for n in (2, 3)]
    >>> [round(result.scores["travel"], 6) for result in evaluate(designs, arena, workers=0)]
    [0.1, 0.1]
    """
    options: dict[str, Any] = {"seed": seed, "store": store, "executor": executor, "workers": workers}
    options |= {"batch": batch, "time_limit": time_limit, "device": device, "dtype": dtype, "progress": progress}
    with Evaluator(arena, measures, **options, **placing) as evaluator:
        return evaluator.evaluate(designs)


def evaluations(
    designs: Iterable[Design],
    arena: ArenaGiven,
    measures: Any = None,
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
    **placing: Unpack[Placing],
) -> Iterator[tuple[int, Result]]:
    """As `evaluate`, but yields each result as it comes, with the number of its design."""
    options: dict[str, Any] = {"seed": seed, "store": store, "executor": executor, "workers": workers}
    options |= {"batch": batch, "time_limit": time_limit, "device": device, "dtype": dtype, "progress": progress}
    with Evaluator(arena, measures, **options, **placing) as evaluator:
        yield from evaluator.evaluations(designs)


class Evaluator:
    """`evaluate` for several populations one after the other, such as generations: workers and store stay open between
    them. A context manager. The arguments are those of `evaluate`."""

    def __init__(
        self,
        arena: ArenaGiven,
        measures: Any = None,
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
        **placing: Unpack[Placing],
    ) -> None:
        if batch is not None:
            check_number(batch, name="batch", where="evaluate", least=1, whole=True)
        if executor is not None and not callable(executor):
            raise InputError("this is no function that makes an executor", where="evaluate, executor",
                             value=type(executor).__name__, fix="Write executor=lambda: pool.")  # fmt: skip
        self.conditions = Conditions(arena_of(arena, placing), measures, seed, time_limit, device, dtype)
        work = work_of(executor, self.conditions)
        make = executor_factory(workers) if executor is None else executor
        self.dispatcher = Dispatcher(self.conditions, make, None if executor is None else workers, batch, work)
        self.progress = progress
        self._owned = None if store is None or isinstance(store, Store) else Store(store)
        self.store = store if isinstance(store, Store) else self._owned

    def __enter__(self) -> Evaluator:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self.dispatcher.abort()
        self.close()

    def close(self) -> None:
        """Let the workers go, and the store where it was opened here; a second call does nothing."""
        try:
            self.dispatcher.close()
        finally:
            if self._owned is not None:
                self._owned.close()

    def evaluate(self, designs: Iterable[Design]) -> list[Result]:
        """Results of designs in their order."""
        found = dict(self.evaluations(designs))
        return [found[index] for index in range(len(found))]

    def evaluations(self, designs: Iterable[Design]) -> Iterator[tuple[int, Result]]:
        """Numbers of designs and their results, as they come; known ones come first."""
        places: dict[Design, list[int]] = {}
        if not np.iterable(designs):
            raise InputError("this is not a row of designs", where="evaluate", value=type(designs).__name__)
        for index, design in enumerate(designs):
            check_instance(design, Design, "a design", where=f"evaluate, design {index}")
            places.setdefault(design, []).append(index)
        unknown = []
        for design, indices in places.items():
            known = None if self.store is None else self.store.get(self.conditions.key_of(design))
            if known is None:
                unknown.append(design)
            else:
                yield from ((index, known) for index in indices)
        with population_bar(self.progress, len(places), done=len(places) - len(unknown)) as shown:
            self.dispatcher.tell = shown.compiling
            for count, (design, result) in enumerate(self.dispatcher.results(unknown), start=1):
                if self.store is not None:
                    self.store.add(result, design)
                shown.done(count)
                yield from ((index, result) for index in places[design])
