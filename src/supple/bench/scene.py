"""scene/garden: the example with every kind of body, three seconds of it, as fast as this machine goes.

The simulated time over the time it took, with all threads; and where the time of a step goes. Kernels are compiled and
kinds reduced before; the first steps, in which nothing touches, are counted as the others are.
"""

from __future__ import annotations

from time import perf_counter

import numba

from supple.bench.row import Row, at_least, measured
from supple.examples import garden

CASE = "scene/garden"
REPEATS = 2


def run_garden() -> list[Row]:
    """Best of several runs."""
    scene = garden.make()
    system, solver = scene.compile(), scene.solver
    assert solver is not None
    steps, count = round(garden.UNTIL / garden.STEP), numba.get_num_threads()
    best, split = float("inf"), dict[str, float]()
    for repeat in range(REPEATS + 1):  # the first is not counted
        state = system.initial_state()
        system.timings.seconds.clear()
        start = perf_counter()
        for _ in range(steps):
            solver.step(system, state)
        took = perf_counter() - start
        if repeat and took < best:
            best, split = took, dict(system.timings.seconds)
    rows = [
        at_least(CASE, "simulated over real time", garden.UNTIL / best, 1.5, unit="-", threads=count),
        measured(CASE, "a step", 1e3 * best / steps, unit="ms", threads=count),
        measured(CASE, "length of a step", 1e3 * garden.STEP, unit="ms", threads=count),
        measured(CASE, "numbers of velocity", system.v_size, unit="-", threads=count),
    ]
    for label, seconds in sorted(split.items(), key=lambda item: -item[1]):
        rows.append(measured(CASE, f"of a step: {label}", 1e3 * seconds / steps, unit="ms", threads=count))
    rest = best - sum(split.values())
    return [*rows, measured(CASE, "of a step: the rest", 1e3 * rest / steps, unit="ms", threads=count)]


CASES = {CASE: run_garden}
