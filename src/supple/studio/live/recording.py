"""Recording: what is seen in the studio, kept as `supple run --out` keeps a run.

Each run from a start of a scene is a record of its own: the first one lies in the folder itself, later ones, after the
scene began anew or another one was opened, in `run-2`, `run-3`, ... within it. A record is made with the first step.
It ends with a checkpoint; a kill leaves what was flushed, half a second ago at most.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from contextlib import suppress
from math import inf, isfinite
from pathlib import Path
from time import perf_counter
from typing import Any

from supple.errors import RecordError
from supple.record.checkpoint import Checkpoint, save_checkpoint
from supple.record.files.layout import RECORD_NAME
from supple.record.frame import Frame
from supple.record.frame_times import FrameTimes
from supple.record.measures import Measures
from supple.record.record import CHECKPOINT_NAME, RecordWriter
from supple.running import SURFACE_POINTS
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.report import Outcome, StepReport

CHECKPOINT_EVERY = 30.0
"""Wall time between checkpoints [s]."""


class Recording:
    """Records of one scene in a folder. is_first: whether the first of them takes the place of an older record there.
    record_every: simulated time between frames [s]. note: is called with the folder of each record that is made."""

    def __init__(
        self, folder: Path, record_every: float, *, is_first: bool = True, note: Callable[[Path], None] | None = None
    ) -> None:
        self.top, self.record_every, self.is_first, self.note = folder, record_every, is_first, note
        self.writer: RecordWriter | None = None
        self.step = -1

    @property
    def is_open(self) -> bool:
        """Whether a record is being written."""
        return self.writer is not None

    def open(self, system: System, solver: Any, state: State, measures: Measures, about: dict[str, Any]) -> None:
        """Make the record of a run that begins at a state; its first frame is in it."""
        folder = self.top if self.is_first else next_folder(self.top)
        self.writer = RecordWriter.create(folder, system, about, surface_points=SURFACE_POINTS)
        self.is_first = False
        self.folder, self.system, self.solver = folder, system, solver
        self.times = FrameTimes(float(solver.dt), self.record_every)
        self.report, self.worst, self.under_converged = StepReport(Outcome.SOLVED), 0.0, 0
        self.checkpointed = perf_counter()
        self.keep(state, 0, measures)
        self.writer.write()
        if self.note is not None:
            self.note(folder)

    def follow(self, system: System) -> None:
        """After changes of the system."""
        if self.writer is not None:
            self.writer.follow(system)

    def count(self, report: StepReport, before: int) -> None:
        """Steps were taken after the step `before`."""
        self.report = report if self.times.is_due(before) else StepReport.joined([self.report, report])
        self.worst = max(self.worst, known(report.residual))
        self.under_converged += report.under_converged

    def keep(self, state: State, step: int, measures: Measures) -> None:
        """Record a frame."""
        assert self.writer is not None
        outcome, residual = self.report.outcome.name, self.report.residual
        self.writer.append(
            Frame(step, state, self.system, measures, outcome, residual, self.worst, self.under_converged)
        )
        self.step = step

    def rest(self, state: State, step: int) -> None:
        """Between calls of the solver: a checkpoint where it is time for one, and what has waited long enough is
        written."""
        if self.writer is None:
            return
        if perf_counter() - self.checkpointed >= CHECKPOINT_EVERY:
            self._checkpoint(state, step)
        self.writer.write_within(0.0)

    def _checkpoint(self, state: State, step: int) -> None:
        assert self.writer is not None
        extra = self.step == step and not self.times.is_due(step)  # a run that goes on has no such frame
        self.writer.append_state(state, step)
        frames = self.writer.frame_count - extra
        saved = Checkpoint(
            state, step, frames, self.worst, self.under_converged, self.report.outcome, known(self.report.residual)
        )
        save_checkpoint(self.folder / CHECKPOINT_NAME, saved, self.system, self.solver)
        self.checkpointed = perf_counter()

    def end(self, state: State, step: int, measure: Callable[[], Measures]) -> None:
        """With the last state and a checkpoint; the next record begins with `open`."""
        if self.writer is None:
            return
        if step == 0 and self.folder == self.top:
            self.is_first = True  # nothing has happened: the next one takes its place
        with suppress(RecordError):
            if self.step < step:
                self.keep(state, step, measure())
            self._checkpoint(state, step)
        self.close()

    def close(self) -> None:
        """As it is."""
        if self.writer is not None:
            self.writer.close()
        self.writer, self.step = None, -1


def next_folder(top: Path) -> Path:
    """The first of run-2, run-3, ... in a folder that holds no record."""
    return next(path for k in itertools.count(2) if not ((path := top / f"run-{k}") / RECORD_NAME).exists())


def known(residual: float) -> float:
    """A residual; infinite where it is not a number."""
    return residual if isfinite(residual) else inf
