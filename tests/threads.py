"""A scene stepped by one thread and by two: what it ends with, and what was begun on the second."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

import supple as sp

two_threads = pytest.mark.skipif(numba.config.NUMBA_NUM_THREADS < 2, reason="needs two threads")


class Ended(NamedTuple):
    """The state at the end, and how often work was begun on a second thread, by one thread and by two."""

    state: sp.State
    begun: tuple[int, int]


def stepped_by_one_and_two(scene: sp.Scene, steps: int, where: ModuleType, monkeypatch: pytest.MonkeyPatch) -> Ended:
    """Step a scene twice, and hold both ends equal to the bit. where: the module that begins work by `beside`."""
    count: list[int] = []
    beside: Callable[..., Any] = where.beside
    monkeypatch.setattr(where, "beside", lambda work: count.append(1) or beside(work))
    system, before = scene.compile(), numba.get_num_threads()
    ends, begun = [], []
    for threads in (1, 2):
        count.clear()
        ends.append(system.initial_state())
        numba.set_num_threads(threads)
        try:
            for _ in range(steps):
                scene.solver.step(system, ends[-1])
                assert numba.get_num_threads() == threads
        finally:
            numba.set_num_threads(before)
        begun.append(len(count))
    np.testing.assert_array_equal(ends[0].x, ends[1].x)
    np.testing.assert_array_equal(ends[0].v, ends[1].v)
    return Ended(ends[0], (begun[0], begun[1]))
