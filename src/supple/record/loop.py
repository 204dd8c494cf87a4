"""The loop of a run: step, check, observe, record, checkpoint.

Step i ends at t = i dt, by its number and not by a sum, so that a run that was resumed is the run that was
never interrupted, bit for bit. A frame is due at the first step of each stretch of `record_every`.

A solver that can (`Striding`) takes all steps to the next frame in one call, or as many as fit into `TICK`; one that
keeps frames on its way (`StridingFrames`) those to several frames, where there are no observers. Where that fails, they
are taken again one by one, so that errors name their step.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.errors import InputError, RecordError, SuppleError
from supple.record.checkpoint import Checkpoint, check_there, load_checkpoint, save_checkpoint
from supple.record.files.lock import FolderLock
from supple.record.frame import Frame
from supple.record.frame_times import FrameTimes
from supple.record.measures import foresee, measure, measure_gaps
from supple.record.memory import MemoryRecord
from supple.record.plausibility import Plausibility
from supple.record.progress import Interrupts, Progress
from supple.record.reader import Trajectory, open_record
from supple.record.record import CHECKPOINT_NAME, RecordWriter
from supple.record.run_result import Energies, Run, RunOutcome
from supple.scene.events import Event, Schedule, check_events
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.choosing import prepared
from supple.solvers.protocol import Striding, StridingFrames
from supple.solvers.report import Outcome, StepReport

Observer = Callable[[Frame], None]
OnStep = Callable[[State, StepReport], bool | None]
MOST_FRAMES = 64  # that are taken in one call
TICK = 0.2  # seconds of wall time after which a person may want to see or stop something


@dataclass(eq=False)
class Loop:
    """The state of a run while it goes on.

    whole: the last state that a step has completed, with its step; good: the last one that passed all checks.
    """

    system: System
    solver: Any
    folder: Path | None
    record_every: float
    checkpoint_every: float
    observers: tuple[Observer, ...]
    on_step: OnStep | None
    surface_points: int | None = None
    fields: tuple[str, ...] = ()
    events: Sequence[Event] = ()
    step: int = 0
    worst: float = 0.0
    under_converged: int = 0
    inverted: int = 0
    gaps: dict[str, float] = field(default_factory=dict)
    rows: list[tuple[float, float, float]] = field(default_factory=list)  # time, kinetic, potential
    recorded_step: int = -1
    report: StepReport = field(default_factory=lambda: StepReport(Outcome.SOLVED))  # of the steps since a frame
    step_time: float = math.inf  # of wall time [s], of the last call
    revision: int = 0  # of the system, that the solver has prepared
    careful_until: int = 0  # step to which a failed call of several steps would have led

    def begin(self, about: dict[str, Any], *, resume: bool, start: State | None = None) -> None:
        """Open a new record, or read the checkpoint and go on after its frames."""
        check_events(self.events)
        self.schedule, self.own = Schedule(self.events), self.solver
        if start is not None:
            self.system.replay(start)
        self.state = self.system.initial_state() if start is None else self._checked(start)
        self.writer: RecordWriter | None = None
        self.memory: MemoryRecord | None = None
        if resume:
            self._continue()
        elif self.folder is not None:
            chosen = {"surface_points": self.surface_points, "fields": self.fields}
            self.writer = RecordWriter.create(self.folder, self.system, about, **chosen)  # type: ignore[arg-type]
        else:
            self.memory = MemoryRecord(self.system, about.get("ground"))
        if resume:
            self.schedule.skip(self.step)
        self._watch()
        self._see_solver()
        self._follow_changes()
        self.whole, self.good = (self.state, self.step), (self.state.copy(), self.step)
        self.begun = self.checkpointed = self.warm = perf_counter()
        self.first_step = self.warm_step = self.step

    def _see_solver(self) -> None:
        self.strides = isinstance(self.solver, Striding)
        self.frames = self.strides and self.on_step is None and isinstance(self.solver, StridingFrames)

    def _follow_changes(self) -> None:
        """After changes of the system: the solver prepares it anew, and energy is judged from now on."""
        if self.revision == self.system.revision:
            return
        self.revision = self.system.revision
        if self.events:
            self.solver = prepared(self.own, self.system)  # as the studio did where they were made
            self._see_solver()
        else:
            self.solver.prepare(self.system)
        for sink in (self.writer, self.memory):
            if sink is not None:
                sink.follow(self.system)
        self._watch()
        self.good = (self.state.copy(), self.step)  # bodies may have other coordinates than before

    def _watch(self) -> None:
        """Judge energy from now on, knowing what it was in the frames before."""
        table = np.array(self.rows).reshape(-1, 3)
        known = float(table[:, 1].max() + np.ptp(table[:, 2])) if len(table) else 0.0
        self.guard = Plausibility(self.system, self.solver.dt, self.state, measure(self.system, self.state), known)

    def _checked(self, start: State) -> State:
        """A copy of a state to begin with."""
        if start.x.shape != self.system.x0.shape or start.v.shape != self.system.v0.shape or not start.is_finite:
            raise InputError(
                "the state does not fit the scene",
                where="run, start",
                value=(start.x.size, start.v.size),
                allowed=f"{self.system.x_size} positions, {self.system.v_size} velocities, all finite",
            )
        copy = start.copy()
        copy.t = 0.0
        return copy

    def _continue(self) -> None:
        assert self.folder is not None
        path = self.folder / CHECKPOINT_NAME
        check_there(path)
        lock = FolderLock(self.folder)
        try:
            saved = load_checkpoint(path, self.system, self.solver)
            self.writer = RecordWriter.reopen(self.folder, self.system, lock, frames=saved.frames, step=saved.step)
            columns = self.writer.columns()
        except BaseException:
            lock.release()
            raise
        self.state, self.step, self.worst = saved.state, saved.step, saved.worst_residual
        self.under_converged, self.report = saved.under_converged, StepReport(saved.outcome, residual=saved.residual)
        self.rows = list(zip(*(columns[name].tolist() for name in ("time", "kinetic", "potential"))))
        self.recorded_step = int(columns["step"][-1]) if len(columns["step"]) else -1

    def advance(self, last_step: int, progress: Progress, interrupts: Interrupts) -> RunOutcome:
        """Step to the end, or to a reason to stop; the first and the last state are frames."""
        if self.recorded_step < 0:
            self._observe()
            if self.writer is not None:
                self.writer.write()  # how long a step takes is not known yet
        self._make_events()
        with one_blas_thread():  # ours are the threads; sums then have one order
            outcome = self._advance(last_step, progress, interrupts)
        self._observe_last()
        return outcome

    def _advance(self, last_step: int, progress: Progress, interrupts: Interrupts) -> RunOutcome:
        while self.step < last_step:
            if interrupts.asked:
                return "interrupted"
            self.whole, begun = (self.state.copy(), self.step), perf_counter()
            ahead = self._frames_ahead(last_step)
            if self.writer is not None:
                self.writer.write_within(sum(ahead) * self.step_time)
            taken = self._take_frames(ahead) or [(self.state, self._stride(ahead[0]))]
            self.step_time = (perf_counter() - begun) / sum(report.steps for _, report in taken)
            states = [state for state, _ in taken]
            for number, (self.state, report) in enumerate(taken):
                foresee(self.system, states, number)
                if self._arrive(report, progress):
                    return "stopped"
        return "finished"

    def _arrive(self, report: StepReport, progress: Progress) -> bool:
        """At the end of steps: check, observe, record; returns whether somebody wants to stop."""
        self.report = report if self.is_frame_due(self.step) else StepReport.joined([self.report, report])
        self.step += report.steps
        self.state.t = self.step * self.solver.dt
        self._count(report)
        self.guard.check_step(self.state, self.step)
        self.whole = (self.state, self.step)
        if self.is_frame_due(self.step):
            self._observe()
        if self.step == self.first_step + report.steps:
            self.warm, self.warm_step = perf_counter(), self.step
        if self.on_step is not None and self.on_step(self.state, report):
            return True
        self._make_events()
        progress.update(self.state.t, report.residual)
        if self.writer is not None and perf_counter() - self.checkpointed >= self.checkpoint_every:
            self._checkpoint()
        return False

    def _make_events(self) -> None:
        self.schedule.make_due(self.system, self.state, self.step)
        self._follow_changes()

    def _frames_ahead(self, last_step: int) -> list[int]:
        """How many steps may be taken in one call: to the next frame, and to others where nobody looks at them."""
        found = [self._steps_ahead(self.step, last_step)]
        most = self.step + min(
            int(TICK / self.step_time), self.schedule.steps_to_next(self.step, last_step - self.step)
        )
        end = self.step + found[0]
        while self.observers == () and self.frames and end < most and len(found) < MOST_FRAMES:
            found.append(self._steps_ahead(end, most))
            end += found[-1]
        return found if len(found) == 1 or self.is_frame_due(end) else found[:-1]

    def _steps_ahead(self, step: int, last_step: int) -> int:
        """How many steps after a step may be taken until somebody looks."""
        if not self.strides or self.on_step is not None or step < self.careful_until:
            return 1
        most = min(self.schedule.steps_to_next(step, last_step - step), max(1, int(TICK / self.step_time)))
        return self.frame_times.steps_to_next(step, most)

    def _take_frames(self, ahead: list[int]) -> list[tuple[State, StepReport]]:
        """The states of several frames in one call; empty where they are taken one by one."""
        if len(ahead) == 1:
            return []
        try:
            taken: list[tuple[State, StepReport]] = self.solver.advance_frames(self.system, self.state, ahead)
            if all(r.outcome is not Outcome.NOT_FINITE and state.is_finite for state, r in taken):
                return taken
        except (SuppleError, FloatingPointError, np.linalg.LinAlgError):
            pass
        self.state.restore(self.whole[0])
        return []

    def _stride(self, steps: int) -> StepReport:
        if steps == 1:
            return self._step()
        try:
            report: StepReport = self.solver.advance(self.system, self.state, steps)
            if report.outcome is not Outcome.NOT_FINITE and self.state.is_finite:
                return report
        except (SuppleError, FloatingPointError, np.linalg.LinAlgError):
            pass
        self.state.restore(self.whole[0])
        self.careful_until = self.step + steps
        return self._step()

    def _step(self) -> StepReport:
        try:
            report = self.solver.step(self.system, self.state)
            if report.outcome is Outcome.NOT_FINITE:
                self.guard.check_failed(self.whole[0], self.step + 1, self.good[0])
            return report
        except (SuppleError, FloatingPointError, np.linalg.LinAlgError):
            self.guard.check_failed(self.whole[0], self.step + 1, self.good[0])
            raise

    @property
    def frame_times(self) -> FrameTimes:
        """When frames are due."""
        return FrameTimes(self.solver.dt, self.record_every)

    def is_frame_due(self, step: int) -> bool:
        """Whether the step is the first of a stretch of `record_every`."""
        return self.frame_times.is_due(step)

    def _count(self, report: StepReport) -> None:
        self.worst = max(self.worst, _known(report.residual))
        self.under_converged += report.under_converged

    def _observe(self) -> None:
        measures = measure(self.system, self.state)
        self.inverted = self.guard.check_frame(self.state, measures, self.step, self.good[0])
        for name, gap in measure_gaps(self.system, self.state).items():
            self.gaps[name] = max(gap, self.gaps.get(name, 0.0))
        frame = Frame(
            step=self.step,
            state=self.state,
            system=self.system,
            measures=measures,
            outcome=self.report.outcome.name,
            residual=self.report.residual,
            worst_residual=self.worst,
            under_converged=self.under_converged,
        )
        sink = self.writer or self.memory
        assert sink is not None
        sink.append(frame)
        self.rows.append((self.state.t, measures.kinetic, measures.potential))
        self.recorded_step = self.step
        self.good = (self.state.copy(), self.step)
        for observer in self.observers:
            observer(frame)
        self._follow_changes()

    def _observe_last(self) -> None:
        if self.recorded_step < self.step:
            self._observe()

    def go_back(self, *, to: tuple[State, int]) -> None:
        """Take up an earlier state, `whole` or `good`."""
        self.state, self.step = to

    def _checkpoint(self) -> None:
        assert self.folder is not None
        assert self.writer is not None
        frames = self.writer.frame_count
        if self.recorded_step == self.step and not self.is_frame_due(self.step):
            frames -= 1  # the last frame of a run that ends here; one that goes on has none
        self.writer.append_state(self.state, self.step)
        saved = Checkpoint(
            self.state,
            self.step,
            frames,
            self.worst,
            self.under_converged,
            self.report.outcome,
            _known(self.report.residual),
        )
        save_checkpoint(self.folder / CHECKPOINT_NAME, saved, self.system, self.own)
        self.checkpointed = perf_counter()

    def end(self, outcome: RunOutcome, *, keep_errors: bool) -> Run:
        """Record the last state, write the checkpoint, close the record."""
        now = perf_counter()
        try:
            if outcome == "interrupted":
                self._observe_last()
            if self.writer is not None:
                self._checkpoint()
        except SuppleError:
            if keep_errors:
                raise
        finally:
            if self.writer is not None:
                with suppress(SuppleError):
                    self.writer.close()
        table = np.array(self.rows, dtype=float).reshape(-1, 3).T
        return Run(
            outcome=outcome,
            time=self.state.t,
            steps=self.step,
            state=self.state,
            system=self.system,
            wall_time=now - self.begun,
            real_time_factor=self._real_time_factor(now),
            energies=Energies(*table),
            worst_residual=self.worst,
            under_converged=self.under_converged,
            solver=self.solver,
            inverted=self.inverted,
            gaps=self.gaps,
            frames=self._frames(),
            folder=self.folder,
        )

    def _real_time_factor(self, now: float) -> float:
        steps, start = self.step - self.warm_step, self.warm
        if steps <= 0:
            steps, start = self.step - self.first_step, self.begun
        return max(steps, 0) * self.solver.dt / max(now - start, 1e-9)

    def _frames(self) -> Trajectory | None:
        if self.folder is None:
            return self.memory
        with suppress(RecordError):
            return open_record(self.folder)
        return None


def _known(residual: float) -> float:
    """A residual; infinite where it is not a number."""
    return residual if math.isfinite(residual) else math.inf
