"""Workers: processes that evaluate designs, and what they run.

A worker is spawned, uses one thread, leaves Ctrl-C to its parent, and ends with its parent or when it is told to, even
in the middle of a design: it holds one end of a pipe and stops when the other end closes, as it does at any death.
"""

from __future__ import annotations

import faulthandler
import math
import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection
from typing import Any

from supple.design.conditions import Conditions
from supple.design.designs import Design
from supple.design.results import Result
from supple.design.trial import make_start, make_trial
from supple.errors import InputError, SuppleWarning, check_number

WATCHDOG = 2.0
"""Times the time limit of a design, after which its process is ended."""


class SpawnedPool(ProcessPoolExecutor):
    """A process pool whose workers are spawned on demand, up to `workers`; `end` stops them at once."""

    def __init__(self, workers: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._leash_end, self._leash = context.Pipe(duplex=False)
        super().__init__(workers, mp_context=context, initializer=begin_worker, initargs=(self._leash_end,))

    def end(self) -> None:
        """Stop the workers, whatever they are doing."""
        self._leash.close()
        self.shutdown(wait=True)
        self._leash_end.close()


class InProcess(Executor):
    """An executor that evaluates in this process, where a design is submitted."""

    _max_workers = 1

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call at once."""
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:
            future.set_exception(error)
        return future


def executor_factory(workers: int | None) -> Callable[[], Executor]:
    """What makes the usual executor: a pool of so many workers, None: one a core, 0: none but this process."""
    count = available_cores() if workers is None else check_number(workers, name="workers", where="evaluate", least=0,
                                                                  whole=True)  # fmt: skip
    if count == 0:
        return InProcess
    if getattr(multiprocessing.current_process(), "_inheriting", False):
        raise InputError(
            "a worker began to evaluate designs by workers of its own while it read the script",
            where="evaluate",
            fix="Put what the script does under: if __name__ == '__main__':",
        )
    return lambda: SpawnedPool(int(count))


def available_cores() -> int:
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def begin_worker(leash: Connection) -> None:
    """What a worker does first."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    warnings.simplefilter("ignore", SuppleWarning)
    threading.Thread(target=_end_with, args=(leash,), daemon=True).start()


def _end_with(leash: Connection) -> None:
    leash.poll(None)
    os._exit(1)


def answer() -> int:
    """The number of the process: a worker that answers has started."""
    return os.getpid()


def warm_up(conditions: Conditions, design: Design) -> bool:
    """Run the first frames of a design, which compiles kernels where they are not in the cache; whether it could."""
    try:
        make_start(design, conditions.arena, seed=conditions.seed)
    except Exception:  # the evaluation will say what is wrong
        return False
    return True


def try_out(conditions: Conditions, design: Design, seconds: float) -> bool:
    """Make a whole trial of a design, for its kernels, in so much wall time at most; whether it could be begun."""
    if not warm_up(conditions, design):
        return False
    works = any(one.works for one in conditions.measures)
    with suppress(Exception):
        make_trial(design, conditions.arena, seed=conditions.seed, time_limit=seconds, works=works)
    return True


def evaluate_batch(conditions: Conditions, designs: Sequence[Design], attempt: int) -> list[Result]:
    """Evaluate designs one after the other. attempt: makes a repeated call another one, for executors that remember."""
    results = []
    for design in designs:
        with _time_limit(WATCHDOG * conditions.time_limit):
            results.append(conditions.evaluate(design))
    return results


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """End the process where something hangs, such as a measure that never returns; frames have a gentler limit.

    Only in the main thread of a process that another one has started: threads share one such timer.
    """
    watched = multiprocessing.parent_process() is not None and math.isfinite(seconds)
    if not watched or threading.current_thread() is not threading.main_thread():
        yield
        return
    with open(os.devnull, "w") as nowhere:  # the stacks of our threads say nothing to a person
        faulthandler.dump_traceback_later(seconds, exit=True, file=nowhere)
        try:
            yield
        finally:
            faulthandler.cancel_dump_traceback_later()
