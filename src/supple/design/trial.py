"""Trial: one design in one arena, run to its end, as measures see it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from supple.design.arena import ArenaLike, Judge, Judging
from supple.design.designs import Design
from supple.design.muscle_work import MuscleWork
from supple.design.touching import touching
from supple.errors import SuppleError
from supple.record.frame import Frame
from supple.record.run_result import Run
from supple.running import run as run_scene
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.solvers.report import StepReport

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Trial:
    """One design in one arena, run to its end.

    since: when measuring begins [s]. times (frames,) [s]. watched: centres of mass (frames, 3) [m] of every body by
    name. contacts (frames,): whether the robot touched an obstacle or another body. judge: that of an arena with a
    score of its own, which has seen all frames. work: what the muscles did since then [J], where a measure asked.
    """

    design: Design
    arena: ArenaLike
    seed: int
    run: Run
    since: float
    times: Array
    watched: dict[str, Array]
    contacts: Array
    judge: Judge | None = None
    work: float | None = None

    @property
    def centres(self) -> Array:
        """Centres of mass of the robot (frames, 3) [m]."""
        return self.watched[self.arena.body]

    def slot(self, name: str) -> Slot:
        """The place of a body in `run.system` and `run.state`."""
        return self.run.system.body(name)


def make_trial(
    design: Design, arena: ArenaLike, *, seed: int = 0, time_limit: float = math.inf, works: bool = False
) -> Trial:
    """Run a design in an arena, on one thread; a DivergenceError or an InputError where that cannot be.

    time_limit: wall time after which it is given up with a SuppleError at the next frame [s]. works: whether the work
    of the muscles is summed, which takes the steps of the run one by one; they stay the same.
    """
    watch = Watch(arena.body, time_limit)
    work = MuscleWork(arena.body, arena.settle) if works else None
    run, judge = _watched(design, arena, seed, arena.settle + arena.duration, watch, work)
    if run.outcome == "interrupted":
        raise KeyboardInterrupt
    centres = {name: np.array(rows) for name, rows in watch.centres.items()}
    times, contacts = np.array(watch.times), np.array(watch.contacts)
    done = None if work is None else work.total
    return Trial(design, arena, seed, run, arena.settle, times, centres, contacts, judge, done)


def make_start(design: Design, arena: ArenaLike, *, seed: int = 0) -> None:
    """Run the first frames of a trial, for the kernels that this compiles."""
    until = min(2 * arena.record_every, arena.settle + arena.duration)
    _watched(design, arena, seed, until, Watch(arena.body))


def _watched(
    design: Design, arena: ArenaLike, seed: int, until: float, watch: Watch, work: MuscleWork | None = None
) -> tuple[Run, Judge | None]:
    """A run until a time [s], and the judge that has seen its frames, who may end it. work: told every step."""
    judge = arena.judge() if isinstance(arena, Judging) else None

    def note_step(state: State, report: StepReport) -> bool:
        if work is not None:
            work.step(state)
        return judge is not None and judge.is_over

    run = run_scene(
        arena.scene(design, seed),
        until=until,
        dt=arena.dt,
        record_every=arena.record_every,
        observers=[one for one in (watch, judge, work) if one is not None],
        on_step=None if judge is None and work is None else note_step,
        progress=False,
        threads=1,
    )
    return run, judge


@dataclass(eq=False)
class Watch:
    """An observer of a run, that notes where bodies are and whether one of them, `body`, touches something.

    time_limit: wall time of the whole run, beyond which it raises a SuppleError [s].
    """

    body: str
    time_limit: float = math.inf
    begun: float = field(default_factory=perf_counter)
    times: list[float] = field(default_factory=list)
    centres: dict[str, list[Array]] = field(default_factory=dict)
    contacts: list[bool] = field(default_factory=list)

    def __call__(self, frame: Frame) -> None:
        """Note a frame."""
        if perf_counter() - self.begun > self.time_limit:
            raise SuppleError(
                "the evaluation took too long", where=f"t = {frame.time:g} s", allowed=f"{self.time_limit:g} s",
                fix="Give evaluate a longer time_limit, or softer materials, which take longer steps.",
            )  # fmt: skip
        self.times.append(float(frame.time))
        for slot in frame.system.bodies:
            centre = np.array(frame.system.centre_of_mass(frame.state, slot), dtype=float)
            self.centres.setdefault(slot.name, []).append(centre)
        self.contacts.append(self._touches(frame))

    def _touches(self, frame: Frame) -> bool:
        if any(self.body in pair and pair[0] != pair[1] for pair in frame.contacts.pairs):
            return True
        slot = frame.system.body(self.body)
        body = slot.body
        size = body.model.size if body.swing is None else body.swing.sizes(frame.time)  # type: ignore[attr-defined]
        x = slot.view_x(frame.state.x)[:, :3]
        obstacles = {} if frame.system.scene is None else frame.system.scene.obstacles
        return bool(touching(obstacles.values(), x, size, frame.time).any())
