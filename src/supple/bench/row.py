"""Row: one measured speed beside its limit; and how to take the best of several."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

import numba


class Row(NamedTuple):
    """ok: value <= limit, or >= limit for rates and ratios; a number without a limit is always ok."""

    case: str
    quantity: str
    value: float
    unit: str
    threads: int
    device: str
    dtype: str
    limit: float | None
    ok: bool


def at_most(case: str, quantity: str, value: float, limit: float, *, unit: str, threads: int) -> Row:
    """A row for a cost."""
    return Row(case, quantity, float(value), unit, threads, "cpu", "float64", limit, bool(value <= limit))


def at_least(case: str, quantity: str, value: float, limit: float, *, unit: str, threads: int) -> Row:
    """A row for a gain."""
    return Row(case, quantity, float(value), unit, threads, "cpu", "float64", limit, bool(value >= limit))


def measured(case: str, quantity: str, value: float, *, unit: str, threads: int) -> Row:
    """A row for a number that nothing is asked of."""
    return Row(case, quantity, float(value), unit, threads, "cpu", "float64", None, True)


def best_of(repeats: int, work: Callable[[], Any]) -> float:
    """The shortest of several times [s], after one run that is not counted."""
    work()
    times = []
    for _ in range(repeats):
        start = perf_counter()
        work()
        times.append(perf_counter() - start)
    return min(times)


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Run with so many threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before)
