"""Dispatcher: hands designs to an executor in batches, and survives the deaths of its workers.

One dead worker breaks a whole pool: the results of all its unfinished batches are lost. The pool is made anew, and the
designs that were under way are suspects. Half of them are evaluated with nothing beside them; where a worker dies
again, half of those, and so on until the one that kills its worker is alone: two deaths alone are its result. The
others go on after that. A pool of n workers finds a killer in about 2 log2(n) groups.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait
from dataclasses import dataclass, field
from typing import Any

from supple.algebra.compiling.ahead import Tell
from supple.design.conditions import Conditions
from supple.design.designs import Design
from supple.design.population.deaths import is_death, is_killed_worker
from supple.design.population.elsewhere import Work
from supple.design.population.first_compile import compile_first
from supple.design.population.workers import InProcess, answer, evaluate_batch, warm_up
from supple.design.results import Result
from supple.errors import InputError, SuppleError

DEATHS = 2
"""Of a worker, with one design alone, after which the design is given up."""
BREAKS = 5
"""Of a pool in a row, with nothing under way, after which it is given up."""
UNKNOWN = 1000
"""Batches under way of an executor that does not say how many workers it has."""
BATCH_TIME = 0.25
"""Time that a batch should take [s]: long beside the time that it takes to be sent."""
WARM_UPS = 3
DIED = (
    "the process that evaluated the design died, and again alone: the design crashes it, it ran out of memory, "
    "or took longer than its time limit"
)

Batch = list[Design]


@dataclass(eq=False)
class Dispatcher:
    """make: makes an executor, again after it broke. workers: how many there are, None: what the executor says.
    tell: called with the number of kernels that were compiled and the name of the one that is.
    batch: designs of a task, None: as many as `BATCH_TIME` is enough for. work: what a worker does.
    attempts: tasks handed over so far.
    within: the first so many suspects hold one that a worker died with, as far as is known; 0: it was chance."""

    conditions: Conditions
    make: Callable[[], Executor]
    workers: int | None = None
    batch: int | None = None
    work: Work = evaluate_batch
    tell: Tell = lambda done, name: None
    executor: Executor | None = None
    attempts: int = 0
    evaluated: int = 0
    seconds: float = 0.0
    running: dict[Future[list[Result]], Batch] = field(default_factory=dict)
    queue: deque[Design] = field(default_factory=deque)
    suspects: deque[Design] = field(default_factory=deque)
    within: int = 0
    deaths: Counter[Design] = field(default_factory=Counter)
    breaks: int = 0

    def results(self, designs: Sequence[Design]) -> Iterator[tuple[Design, Result]]:
        """Results of different designs, as they come."""
        self.queue, self.suspects, self.deaths, self.within = deque(designs), deque(), Counter(), 0
        try:
            if self.queue and self.executor is None:
                self._begin()
            while self.queue or self.suspects or self.running:
                self._fill()
                yield from self._collect()
        except BaseException:
            self.abort()
            raise

    def close(self) -> None:
        """Let the executor go; nothing is under way."""
        if self.executor is not None:
            self.executor.shutdown(wait=True)
            self.executor = None

    def abort(self) -> None:
        """Let the executor go, and what is under way with it."""
        for future in self.running:
            future.cancel()
        self.running.clear()
        self._drop()

    def _drop(self) -> None:
        """Let a broken or unwanted executor go, without waiting for its work."""
        executor, self.executor = self.executor, None
        if executor is None:
            return
        end = getattr(executor, "end", None)
        with contextlib.suppress(Exception):
            end() if end is not None else executor.shutdown(wait=False)

    def _begin(self) -> None:
        """Kernels are compiled (`first_compile`), then a first worker starts, and compiles what was missed, before the
        others start; work of another kind compiles its own. This process tries no design: it may kill its process.
        """
        self._make()
        assert self.executor is not None
        if isinstance(self.executor, InProcess) or self.work is not evaluate_batch:
            return
        designs = list(self.queue)[:WARM_UPS]
        compile_first(self.conditions, self.executor, designs, self.tell)
        try:
            self._submit(answer).result()
        except BrokenExecutor as error:
            raise SuppleError(
                "no worker could start", where="evaluate",
                fix="Call it from a script or a module, under: if __name__ == '__main__':",
            ) from error  # fmt: skip
        for design in designs:
            try:
                if self._submit(warm_up, self.conditions, design).result():
                    break
            except Exception as error:
                if not is_death(error):
                    raise _told(error) from error
                if isinstance(error, BrokenExecutor):
                    self._drop()
                    self._make()

    def _make(self) -> None:
        made = self.make()
        if not callable(getattr(made, "submit", None)):
            raise InputError("what should make an executor made none", where="evaluate, executor",
                             value=type(made).__name__, allowed="a concurrent.futures.Executor")  # fmt: skip
        self.executor = made

    def _submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        assert self.executor is not None
        return self.executor.submit(function, *arguments)

    @property
    def places(self) -> int:
        """Batches that may be under way."""
        said: int = getattr(self.executor, "_max_workers", UNKNOWN)
        return self.workers or said

    def _fill(self) -> None:
        """Hand over a group of suspects, or batches until there is one for each worker and one waiting."""
        try:
            if self.executor is None:
                self._make()
            if self.suspects:
                if not self.running:
                    group = max(1, self.within // 2) if self.within else len(self.suspects)
                    for _ in range(group):
                        self._hand_over([self.suspects[0]])
                        self.suspects.popleft()
                return
            most = 1 if isinstance(self.executor, InProcess) else self.places + 1
            while self.queue and len(self.running) < most:
                size = self._batch_size()
                self._hand_over([self.queue[k] for k in range(size)])
                for _ in range(size):
                    self.queue.popleft()
        except BrokenExecutor as error:  # a worker died before the work reached it
            if not self.running:
                self._break(error)

    def _hand_over(self, batch: Batch) -> None:
        self.attempts += 1
        self.running[self._submit(self.work, self.conditions, batch, self.attempts)] = batch

    def _batch_size(self) -> int:
        if self.batch is not None:
            return min(self.batch, len(self.queue))
        mean = self.seconds / self.evaluated if self.evaluated else math.inf
        fair = math.ceil(len(self.queue) / (4 * self.places))  # so that all workers end at nearly the same time
        return min(max(1, int(BATCH_TIME / max(mean, 1e-6))), fair)

    def _collect(self) -> Iterator[tuple[Design, Result]]:
        """Wait for a task to end; yield its results, or find out what its death means."""
        done, _ = wait(self.running, return_when=FIRST_COMPLETED)
        alone = len(self.running) == 1
        if any(isinstance(_error(future), BrokenExecutor) for future in done):
            done, _ = wait(self.running)  # a broken pool ends them all
        is_broken, lost = False, list[Design]()
        for future in self._in_order(done):
            batch = self.running.pop(future)
            error = _error(future)
            if error is None:
                self.breaks = 0
                yield from self._paired(batch, future.result())
            elif not is_death(error):
                raise _told(error) from error
            else:
                is_broken |= isinstance(error, BrokenExecutor)
                if alone and len(batch) == 1:
                    yield from self._died(batch[0], error)
                else:
                    lost += batch
        if lost:
            self.suspects.extendleft(reversed(lost))
            self.within = len(lost)
        if is_broken:
            self._drop()

    def _in_order(self, done: set[Future[list[Result]]]) -> list[Future[list[Result]]]:
        """Tasks in the order in which they were handed over."""
        return [future for future in self.running if future in done]

    def _paired(self, batch: Batch, results: list[Result]) -> Iterator[tuple[Design, Result]]:
        self.evaluated += len(results)
        self.seconds += sum(result.seconds for result in results)
        self.within = max(0, self.within - len(results))
        if [result.key for result in results] != [self.conditions.key_of(design) for design in batch]:
            raise SuppleError("the executor gave results of other evaluations", where="evaluate",
                              fix="Its results need the keys of the conditions that it is told, in the order of the "
                                  "designs.")  # fmt: skip
        yield from zip(batch, results, strict=True)

    def _died(self, design: Design, error: BaseException) -> Iterator[tuple[Design, Result]]:
        """A design that a worker died with, and that was alone, is the cause; it is tried once more."""
        self.deaths[design] += DEATHS if is_killed_worker(error) else 1
        if self.deaths[design] < DEATHS:
            self.suspects.appendleft(design)
            self.within = 1
        else:
            self.within = 0
            yield design, self.conditions.failed(design, DIED)

    def _break(self, error: BrokenExecutor) -> None:
        self.breaks += 1
        self._drop()
        if self.breaks >= BREAKS:
            raise SuppleError("the workers die before they get any work", where="evaluate", value=self.breaks,
                              fix="See that there is enough memory, or use fewer workers.") from error  # fmt: skip


def _error(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _told(error: BaseException) -> BaseException:
    """What is wrong with the work itself, as an error for a person."""
    if isinstance(error, SuppleError | KeyboardInterrupt):
        return error
    return SuppleError(
        f"the executor did not evaluate the designs: {type(error).__name__}: {error}", where="evaluate",
        fix="Arenas and measures must be such that another process can import or unpickle them.",
    )  # fmt: skip
