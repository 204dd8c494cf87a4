"""A run that a person looks on at: it is stepped, changed and pulled at, and what was done to it can be repeated.

The state keeps all changes and pulls with their times.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np

from supple.errors import RecordError, SuppleError
from supple.record.measures import Measures, measure
from supple.record.plausibility import Plausibility
from supple.running import about_run, choose_solver
from supple.scene.events import Schedule, check_events
from supple.scene.scene import Scene
from supple.scene.state import State
from supple.solvers.choosing import prepared
from supple.solvers.protocol import Rehearsing, Striding
from supple.solvers.report import StepReport
from supple.studio.live.meetings import meetings
from supple.studio.live.recording import Recording
from supple.studio.live.saving import SavedScene, save_seen
from supple.studio.live.settings import Setting, find_setting, settings_of
from supple.studio.live.touches import touches
from supple.studio.picking import Picked, pick
from supple.studio.pulling import Pointer, Pulls
from supple.studio.show import Show

FAILURES = (SuppleError, FloatingPointError, ArithmeticError, ValueError)
"""What a scene may fail with while it runs."""
TRIED = (1, 2)
"""Steps at a time that are tried with a pull."""
STRETCH = 1e-6
"""How far a pull is dragged, over the size of the scene: too little to do harm."""


class LiveRun:
    """A scene from its start on. step: how many were taken; step_time: of one, of the wall, in the mean of late [s],
    last_step_time: in the last call, 0: not known yet;
    strength: of the next pulls, see `Pulls`, kept when the scene begins anew; recording: what keeps it on disk, None:
    nothing; lost: why that has ended, or empty."""

    def __init__(self, scene: Scene) -> None:
        check_events(scene.events)
        self.scene, self.step_time, self.last_step_time, self.strength = scene, 0.0, 0.0, 1.0
        self.recording: Recording | None = None
        self.lost = ""
        self.system = scene.compile()
        self.show = Show(self.system, self.system.initial_state())
        self.reset()

    def reset(self) -> None:
        """Begin anew; nobody pulls."""
        self.end()
        self.system, self.step = self.scene.compile(), 0
        self.solver = self.own_solver = choose_solver(self.scene, self.system, None, None)
        self.solver.prepare(self.system)
        self.state = self.system.initial_state()
        self.schedule = Schedule(self.scene.events)
        self.pulls = Pulls(self.system, self.show.surfaces, self.state.copy(), self.solver.dt, self.strength)
        self.dragged: dict[int, Pointer] = {}
        self._watch()

    @property
    def dt(self) -> float:
        """The step [s]."""
        return float(self.solver.dt)

    @property
    def is_prepared(self) -> bool:
        """Whether the solver knows all that was changed."""
        return self.revision == self.system.revision

    @property
    def settings(self) -> list[Setting]:
        """What can be changed now."""
        return settings_of(self.system, self.solver)

    def compile_all(self) -> None:
        """Do what a person may: take steps, one and two at a time, and pull at a point of each sort (`touches`), from
        the start and later; and let bodies of every two sorts meet (`meetings`). What that needs is compiled then, or
        read from the disk, however long it takes."""
        start, found = self.state.copy(), list(touches(self.system, self.show.surfaces, self.pulls.start))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of what nobody has done
            for picked in found:
                if self._begin_at(start):
                    self._try_pull(picked)
            if self._begin_at(start):
                self._try_steps()
            if isinstance(self.solver, Rehearsing):
                self.solver.rehearse()
            self._pick()
            for picked in found:
                self._try_pull(picked)
            for state in meetings(self.system, start):
                if self._begin_at(state):
                    self._try_steps()
        self.step_time = self.last_step_time = 0.0
        self.reset()

    def _begin_at(self, state: State) -> bool:
        """Go on from another state; whether that can be: an event of the scene may have given bodies other
        coordinates."""
        if state.x.shape != self.state.x.shape:
            return False
        self.state.restore(state)
        self.step = 0
        return True

    def _try_steps(self) -> None:
        with suppress(*FAILURES):  # what meets so may not be solved
            for steps in TRIED:
                self._advance(steps)

    def _pick(self) -> None:
        """Look for what a pointer would meet."""
        place, down = self.show.box.mean(axis=0), np.array([0.0, 0.0, -1.0])
        pick(self.show.surfaces, self.state, self.pulls.start, place - down, down)

    def _try_pull(self, picked: Picked) -> None:
        """Hold a point, move the pointer, look at what comes of it, and let go."""
        number, size = picked.surface, float(np.linalg.norm(np.ptp(self.show.box, axis=0)))
        far, down = 1.0 + size, np.array([0.0, 0.0, -1.0])
        pointer = Pointer(picked.place - far * down, down, down)
        with suppress(*FAILURES):  # a pull that is refused, or too hard
            self.pulls.hold(number, picked, far, self.state)
            self._follow()
            for turn, steps in enumerate(TRIED):
                self.drag(number, replace(pointer, origin=pointer.origin + (1 + turn) * STRETCH * size))
                self.take(steps)
                self.pulls.lines(self.state, self.dragged)
            self.check()
        self.release(number)

    def _watch(self) -> None:
        """Judge energy from now on, which is the last good state."""
        self.good, self.good_step = self.state.copy(), self.step
        self.guard = Plausibility(self.system, self.dt, self.state, measure(self.system, self.state), 0.0)
        self.revision = self.system.revision

    def _follow(self) -> None:
        """After changes of the system."""
        if not self.is_prepared:
            self.solver = prepared(self.own_solver, self.system)
            if self.recording is not None:
                self._record(lambda recording: recording.follow(self.system))
            self._watch()

    def take(self, steps: int) -> None:
        """So many steps at most, to the next event of the scene at the latest. Where they fail, the last good state is
        taken up again."""
        try:
            self._record(self._open)
            self.schedule.make_due(self.system, self.state, self.step)
            self._move_ends()
            self._follow()
            steps = self.schedule.steps_to_next(self.step, steps)
            if self.recording is not None:
                steps = self.recording.times.steps_to_next(self.step, steps)
            report = self._advance(steps)
            self.step += steps
            self.state.t = self.step * self.dt
            self.guard.check_step(self.state, self.step)
            self._record(lambda recording: self._keep(recording, report))
        except Exception:
            self.go_back()
            raise

    def _advance(self, steps: int) -> StepReport:
        begun, reports = perf_counter(), []
        if steps > 1 and isinstance(self.solver, Striding):
            reports.append(self.solver.advance(self.system, self.state, steps))
        else:
            for number in range(self.step + 1, self.step + 1 + steps):
                reports.append(self.solver.step(self.system, self.state))
                self.state.t = number * self.dt
        self.last_step_time = taken = (perf_counter() - begun) / steps
        self.step_time = taken if self.step_time == 0.0 else 0.8 * self.step_time + 0.2 * taken
        return reports[0] if len(reports) == 1 else StepReport.joined(reports)

    def go_back(self) -> None:
        """To the last good state."""
        self.state.restore(self.good)
        self.step = self.good_step

    def check(self) -> Measures:
        """Judge the state, which is the last good one then; returns its measures."""
        measures = measure(self.system, self.state)
        self.guard.check_frame(self.state, measures, self.step, self.good)
        self.good, self.good_step = self.state.copy(), self.step
        return measures

    # what is kept on disk

    def record(self, recording: Recording) -> None:
        """Keep all from the start of the scene on; refused where nothing can be written there."""
        self.recording = recording
        self._open(recording)

    def _record(self, act: Callable[[Recording], None]) -> None:
        """Where a record cannot be written any more, the simulation goes on without it."""
        if self.recording is None:
            return
        try:
            act(self.recording)
        except RecordError as error:
            self.recording.close()
            self.recording = None
            self.lost = f"{error} The record ends at t = {self.good.t:.2f} s; the simulation goes on without it."

    def _open(self, recording: Recording) -> None:
        if not recording.is_open:
            about = about_run(self.scene, self.system, self.own_solver)
            recording.open(self.system, self.own_solver, self.state, measure(self.system, self.state), about)

    def _keep(self, recording: Recording, report: StepReport) -> None:
        recording.count(report, self.step - report.steps)
        if recording.times.is_due(self.step):
            recording.keep(self.state, self.step, self.check())

    def rest(self) -> None:
        """Between calls: what has waited to be written is."""
        self._record(lambda recording: recording.rest(self.state, self.step))

    def end(self) -> None:
        """Of this run from the start of the scene; `reset` begins another."""
        self._record(lambda recording: recording.end(self.state, self.step, lambda: measure(self.system, self.state)))

    # what a person does

    def change(self, number: Any, part: Any, value: Any) -> None:
        """Give a setting another value; part: the number of one of its parts, None: all."""
        setting, part = find_setting(self.settings, number, part)
        self.system.change(self.state, setting.name, **setting.changed(float(value), part))
        self._follow()

    def strengthen(self, strength: float) -> None:
        """Of pulls from the next one on."""
        self.strength = self.pulls.strength = strength

    def grab(self, watcher: int, pointer: Pointer, seen: State) -> None:
        """Take hold of what a watcher points at. seen: the state of the frame that he saw."""
        self.pulls.grab(watcher, pointer, seen, self.state)
        self._follow()

    def drag(self, watcher: int, pointer: Pointer) -> None:
        """Move the end of a watcher's pull, from the next step on."""
        self.dragged[watcher] = pointer

    def release(self, watcher: int) -> None:
        """Let go."""
        self.dragged.pop(watcher, None)
        self.pulls.release(watcher, self.state)
        self._follow()

    def _move_ends(self) -> None:
        for watcher, pointer in self.dragged.items():
            self.pulls.drag(watcher, pointer, self.state)
        self.dragged.clear()

    def saved(self) -> SavedScene:
        """The scene with all that led here, as a file."""
        return save_seen(self.scene, self.state, self.dt, self.step)
