"""Steps that follow each other in one call: their times, and one by one where a method has no faster way."""

from __future__ import annotations

from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.protocol import Solver
from supple.solvers.report import StepReport


def step_times(t: float, dt: float, steps: int) -> list[float]:
    """Ends [s] of so many steps of dt from t on: by their number where t is a multiple of dt, as in a run, where step i
    ends at i dt; else by their distance from t.

    >>> step_times(0.1, 0.1, 2) == [2 * 0.1, 3 * 0.1]
    True
    """
    first = round(t / dt)
    if first * dt == t:
        return [(first + k) * dt for k in range(1, steps + 1)]
    return [t + k * dt for k in range(1, steps + 1)]


def step_by_step(solver: Solver, system: System, state: State, steps: int) -> StepReport:
    """So many steps of a solver, with one report of all."""
    assert solver.dt is not None
    reports = []
    for t in step_times(state.t, solver.dt, steps):
        reports.append(solver.step(system, state))
        state.t = t
    return StepReport.joined(reports)
