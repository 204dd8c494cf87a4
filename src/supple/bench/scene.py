"""scene/garden: the example with every kind of body, three seconds of it, as fast as this machine goes, on all threads.

    the run       `sp.run`, recorded to disk at 30 Hz: simulated time over the wall time of its loop; what is done once
                  (scene compiled, solver prepared, record made and closed) is taken off and shown by itself
    bare steps    the solver's steps alone, and where the time of one goes
    threads       of the kernels, as many as the machine has cores: in each row. Cores at work are processor time over
                  that of the clock in the run's loop, those that wait for work in a loop of their own included

Kernels are compiled and kinds reduced before; the first steps, in which nothing touches, are counted as the others are.
Both are taken in turns, best of several.
"""

from __future__ import annotations

import tempfile
from time import perf_counter, process_time

import numba

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.bench.row import Row, at_least, measured
from supple.examples import garden
from supple.running import run
from supple.scene import Scene

CASE = "scene/garden"
REPEATS = 3


def bare_steps(scene: Scene) -> tuple[float, dict[str, float]]:
    """Wall time of all steps [s], and of what they are made of."""
    system, solver = scene.compile(), scene.solver
    assert solver is not None
    solver.prepare(system)
    state = system.initial_state()
    system.timings.seconds.clear()
    with one_blas_thread():  # as in a run
        start = perf_counter()
        for _ in range(round(garden.UNTIL / garden.STEP)):
            solver.step(system, state)
        return perf_counter() - start, dict(system.timings.seconds)


def whole_run(scene: Scene, until: float) -> tuple[float, float]:
    """Wall and processor time [s] of a run that is recorded to disk."""
    with tempfile.TemporaryDirectory() as folder:
        start, computed = perf_counter(), process_time()
        run(scene, until=until, out=folder)
        return perf_counter() - start, process_time() - computed


def run_garden() -> list[Row]:
    """Best of several, after one turn that is not counted."""
    scene = garden.make()
    steps, count = round(garden.UNTIL / garden.STEP), numba.get_num_threads()
    turns = [(whole_run(scene, garden.UNTIL), whole_run(scene, 0.0), bare_steps(scene)) for _ in range(REPEATS + 1)][1:]
    once, once_computed = min(turn[1] for turn in turns)
    loop, computed = min(turn[0] for turn in turns)
    loop -= once
    bare, split = min((turn[2] for turn in turns), key=lambda found: found[0])
    rows = [
        at_least(CASE, "real_time_factor, recorded", garden.UNTIL / loop, 1.5, unit="-", threads=count),
        measured(CASE, "step_time, recorded", 1e3 * loop / steps, unit="ms", threads=count),
        measured(CASE, "cores at work, recorded", (computed - once_computed) / loop, unit="-", threads=count),
        measured(CASE, "once a run", 1e3 * once, unit="ms", threads=count),
        measured(CASE, "real_time_factor, bare steps", garden.UNTIL / bare, unit="-", threads=count),
        measured(CASE, "step_time, bare steps", 1e3 * bare / steps, unit="ms", threads=count),
        measured(CASE, "length of a step", 1e3 * garden.STEP, unit="ms", threads=count),
    ]
    for label, seconds in sorted(split.items(), key=lambda item: -item[1]):
        rows.append(measured(CASE, f"of a bare step: {label}", 1e3 * seconds / steps, unit="ms", threads=count))
    rest = bare - sum(split.values())
    return [*rows, measured(CASE, "of a bare step: the rest", 1e3 * rest / steps, unit="ms", threads=count)]


CASES = {CASE: run_garden}
