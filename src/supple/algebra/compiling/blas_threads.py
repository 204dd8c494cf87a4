"""`one_blas_thread`: BLAS and LAPACK on one thread, so that their sums have one order and one result."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any

from threadpoolctl import ThreadpoolController


class _Limit:
    """The limit on BLAS's threads, which is one for the whole process: how many ask for it, and how many threads each
    library had before."""

    def __init__(self) -> None:
        self.lock, self.count = Lock(), 0
        self.before: list[tuple[Any, int]] = []


_limit = _Limit()


@cache
def _libraries() -> list[Any]:
    """Those of BLAS; asked themselves, since a limit of `threadpoolctl` takes ten times as long."""
    import scipy.linalg  # noqa: F401  # a controller knows the libraries that are loaded when it is made

    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """A context in which BLAS uses one thread; where several threads are in it, the last one to leave ends it.

    OpenBLAS listens to the main thread alone, so that this has to be the first and the last one.
    """
    with _limit.lock:
        if _limit.count == 0:
            _limit.before = [(library, library.get_num_threads()) for library in _libraries()]
            for library, _ in _limit.before:
                library.set_num_threads(1)
        _limit.count += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.count -= 1
            if _limit.count == 0:
                for library, count in _limit.before:
                    library.set_num_threads(count)
