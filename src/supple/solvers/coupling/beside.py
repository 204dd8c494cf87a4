"""Work on a second thread while the first goes on. Kernels run without Python's lock, so that both cores are used.

Kernels started there use one thread; those of the first thread must leave it free, since a parallel region waits for
its slowest thread: `sharing` sees to that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

import numba

from supple.algebra.compiling.blas_threads import one_blas_thread

T = TypeVar("T")
_begun: list[Future[object]] = []


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """One thread; of this process, since threads do not outlive a fork."""
    return ThreadPoolExecutor(1, "supple", initializer=lambda: numba.set_num_threads(1))


def beside(work: Callable[[], T]) -> Future[T]:
    """Begin `work` on the second thread; call within `sharing`, and ask for the result before it ends."""
    numba.set_num_threads(max(1, numba.get_num_threads() - 1))
    future = _pool(os.getpid()).submit(work)
    _begun.append(future)  # type: ignore[arg-type]
    return future


def beside_if_free(work: Callable[[], T]) -> Callable[[], T]:
    """Leave `work` to the second thread; returns what waits for the result, or works itself where that thread has not
    come to it. Call within `sharing`."""
    future = beside(work)
    return lambda: work() if future.cancel() else future.result()


@contextmanager
def sharing() -> Iterator[None]:
    """Inside, `beside` takes a thread from the kernels of this one, and BLAS has one thread for both.

    It ends when all that was begun has ended, whatever happened.
    """
    before = numba.get_num_threads()
    try:
        with one_blas_thread():
            yield
    finally:
        wait(_begun)
        _begun.clear()
        numba.set_num_threads(before)
