"""run: the loop that steps a scene, observes it and stops."""

from __future__ import annotations

from typing import Any
from time import perf_counter
import numpy as np

from supple.record.measures import measure
from supple.record.run_result import Energies, Run
from supple.solvers.implicit_euler import ImplicitEuler


def run(scene: Any, *, until: float, out: Any = None, dt: float | None = None, solver: Any = None, record_every: float = 1 / 30, checkpoint_every: float = 30.0, observers: Any = (), on_step: Any = None, resume: bool = False, progress: bool | None = None, threads: int | None = None) -> Run:
    system = scene.compile()
    solver = solver or scene.solver or ImplicitEuler(dt=dt or 0.01)
    solver.prepare(system)
    state = system.initial_state()
    start = perf_counter()
    m = [measure(system, state)]; ts = [0.0]
    worst, bad = 0.0, 0
    n = int(np.ceil(until / solver.dt - 1e-9))
    for i in range(n):
        report = solver.step(system, state)
        state.t = (i + 1) * solver.dt
        worst = max(worst, report.residual); bad += not report.is_solved
        m.append(measure(system, state)); ts.append(state.t)
    wall = perf_counter() - start
    e = Energies(np.array(ts), np.array([q.kinetic for q in m]), np.array([q.potential for q in m]))
    return Run("finished", state.t, n, state, system, wall, state.t / wall, e, worst, bad, solver)
