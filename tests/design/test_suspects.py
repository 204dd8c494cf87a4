"""After a death, the designs that were under way are tried in groups of half the size, until the killer is alone."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import BrokenExecutor, Executor, Future
from typing import Any, ClassVar

import numpy as np
import pytest

from supple.design import Arena, Design
from supple.design.conditions import Conditions
from supple.design.population.dispatch import Dispatcher
from supple.design.results import Result
from supple.material.voxel import VoxelMaterial

ARENA = Arena({1: VoxelMaterial(young=1e5, density=1000.0)}, 0.01, duration=0.01)
PAUSE = 0.02  # [s] in which the dispatcher hands over all that it wants to


class Pool(Executor):
    """A pool of many workers that evaluates nothing: it takes what is handed over within a moment, and answers all of
    it at once. Work with a killer in it breaks it. rounds: how many designs each round had."""

    _max_workers = 64
    rounds: ClassVar[list[int]] = []

    def __init__(self, conditions: Conditions, killers: set[Design]) -> None:
        self.conditions, self.killers = conditions, killers
        self.waiting: list[tuple[Future[Any], list[Design]]] = []
        self.timer: threading.Timer | None = None
        self.lock = threading.Lock()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        if fn.__name__ != "evaluate_batch":
            future.set_result(True)
            return future
        with self.lock:
            self.waiting.append((future, list(args[1])))
            if self.timer is None:
                self.timer = threading.Timer(PAUSE, self.answer)
                self.timer.start()
        return future

    def answer(self) -> None:
        with self.lock:
            work, self.waiting, self.timer = self.waiting, [], None
        Pool.rounds.append(sum(len(designs) for _, designs in work))
        dies = any(design in self.killers for _, designs in work for design in designs)
        for future, designs in work:
            if dies:
                future.set_exception(BrokenExecutor("a worker died"))
            else:
                scores = {"travel": 0.0}
                future.set_result([Result(self.conditions.key_of(d), d.key(), "finished", scores) for d in designs])

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Nothing is kept."""


@pytest.mark.parametrize("numbers", [[], [0], [17], [63], [5, 40]])
def test_a_killer_is_found_in_a_few_rounds(numbers: list[int]) -> None:
    conditions = Conditions(ARENA, ("travel",))
    designs = [Design(np.ones((k + 1, 1, 1))) for k in range(64)]
    killers = {designs[k] for k in numbers}
    Pool.rounds.clear()
    dispatcher = Dispatcher(conditions, lambda: Pool(conditions, killers), batch=1)
    found = dict(dispatcher.results(designs))
    assert len(found) == 64
    assert {design for design, result in found.items() if result.outcome == "crashed"} == killers
    assert all(result.ok for design, result in found.items() if design not in killers)
    # one round for all, six halvings and the second death for each killer, and as many rounds for what is left
    assert len(Pool.rounds) <= 1 + 16 * len(numbers), Pool.rounds
