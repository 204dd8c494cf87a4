"""Trial: one design in one arena, run to its end, as measures see it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from supple.design.arena import ArenaLike, Judge, Setting
from supple.design.designs import Design
from supple.design.witness import Witness
from supple.record.run_result import Run
from supple.running import run as run_scene
from supple.scene.slots import Slot

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Trial:
    """One design in one arena, run to its end.

    design: None of a body that is not of voxels, which `supple run --measure` takes too. since: when measuring begins
    [s]. times (frames,) [s]. watched: centres of mass (frames, 3) [m] of every body by name. contacts (frames,):
    whether the robot touched an obstacle or another body. judge: that of an arena with a score of its own, which has
    seen all frames. work: what the muscles did since then [J], where a measure asked.
    """

    design: Design | None
    arena: Setting
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
    witness = Witness(arena, time_limit=time_limit, works=works)
    run = _seen(design, arena, seed, arena.settle + arena.duration, witness)
    if run.outcome == "interrupted":
        raise KeyboardInterrupt
    return trial_of(witness, design, run, seed)


def trial_of(witness: Witness, design: Design | None, run: Run, seed: int = 0) -> Trial:
    """What measures see of a run that has ended."""
    watch, setting = witness.watch, witness.setting
    centres = {name: np.array(rows) for name, rows in watch.centres.items()}
    times, contacts = np.array(watch.times), np.array(watch.contacts)
    work = None if witness.work is None else witness.work.total
    return Trial(design, setting, seed, run, setting.settle, times, centres, contacts, witness.judge, work)


def make_start(design: Design, arena: ArenaLike, *, seed: int = 0) -> None:
    """Run the first frames of a trial, for the kernels that this compiles."""
    until = min(2 * arena.record_every, arena.settle + arena.duration)
    _seen(design, arena, seed, until, Witness(arena))


def _seen(design: Design, arena: ArenaLike, seed: int, until: float, witness: Witness) -> Run:
    """A run until a time [s], or until its judge has seen enough."""
    return run_scene(
        arena.scene(design, seed),
        until=until,
        dt=arena.dt,
        record_every=arena.record_every,
        observers=witness.observers,
        on_step=witness.on_step,
        progress=False,
        threads=1,
    )
