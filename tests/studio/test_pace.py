"""How many steps a call takes: calls are short where steps are dear, and grow slowly."""

from __future__ import annotations

from itertools import pairwise
from multiprocessing import Pipe

import pytest
from tests.studio.test_live_run import rigid

from supple.solvers.report import Outcome, StepReport
from supple.studio import simulation
from supple.studio.live import live_run
from supple.studio.pace import GROWTH, LONGEST_CALL, Pace


class Clock:
    """Wall time [s] that goes on only as it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_call_is_bound_by_the_dearer_of_mean_and_last() -> None:
    assert Pace(1000).steps(1000, mean=1e-4, last=1e-4) == int(LONGEST_CALL / 1e-4)
    assert Pace(1000).steps(1000, mean=1e-4, last=1e-3) == int(LONGEST_CALL / 1e-3)
    assert Pace(1000).steps(1000, mean=1e-3, last=1e-4) == int(LONGEST_CALL / 1e-3)


def test_a_call_takes_one_step_at_least_and_no_more_than_are_due() -> None:
    assert Pace().steps(10, mean=1.0, last=1.0) == 1
    assert Pace(1000).steps(3, mean=1e-6, last=1e-6) == 3
    assert Pace().steps(10, mean=0.0, last=0.0) == 1


def test_calls_grow_by_a_factor() -> None:
    pace = Pace()
    taken = [pace.steps(1000, mean=1e-5, last=1e-5) for _ in range(6)]
    assert all(after <= GROWTH * before for before, after in pairwise(taken))
    assert taken[-1] > taken[0]


def test_a_simulation_whose_steps_become_dear_has_one_long_call_at_most(monkeypatch: pytest.MonkeyPatch) -> None:
    """Steps take ten times as long from the 300th on: only the call in which that happens is long."""
    clock, calls = Clock(), []
    ours, theirs = Pipe()
    run = simulation.Simulation(rigid(), theirs)
    try:
        for module in (simulation, live_run):
            monkeypatch.setattr(module, "perf_counter", clock)

        class Slow:
            dt = 1e-4

            def prepare(self, system: object) -> None: ...

            def advance(self, system: object, state: object, steps: int) -> StepReport:
                first = run.live.step
                wall = sum(1e-4 if first + k < 300 else 1e-3 for k in range(steps))
                calls.append((first, steps, wall))
                clock.now += wall
                return StepReport(Outcome.SOLVED, steps, steps=steps)

            def step(self, system: object, state: object) -> StepReport:
                return self.advance(system, state, 1)

        run.live.solver = run.live.own_solver = Slow()  # type: ignore[assignment]
        run.status.playing, run.status.wanted = True, 100.0
        run.framed = run.told = clock.now  # as `run` begins
        run._pace()
        for _ in range(400):
            clock.now += 1e-3
            run._play()
    finally:
        run.close()
        ours.close()
    assert calls[-1][0] > 400
    # the call after it knows a mean of cheap and dear steps
    long = [(first, steps) for first, steps, wall in calls if wall > 1.2 * LONGEST_CALL]
    assert len(long) <= 1
    assert all(first < 300 for first, _ in long)
    assert max(steps for _, steps, _ in calls) > 16
