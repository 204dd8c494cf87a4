"""Witness: what sees a run, so that it can be measured: its frames, and its steps where something needs them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from time import perf_counter

import numpy as np

from supple.bodies.voxel import VoxelBody
from supple.design.arena import Judge, Judging, Setting
from supple.design.muscle_work import MuscleWork
from supple.design.touching import touching
from supple.errors import SuppleError
from supple.record.frame import Frame
from supple.record.loop import Observer, OnStep
from supple.scene.state import State
from supple.solvers.report import StepReport

Array = np.ndarray


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
        if not isinstance(body, VoxelBody):  # those of other kinds meet obstacles as pairs
            return False
        size = body.model.size if body.swing is None else body.swing.sizes(frame.time)
        x = slot.view_x(frame.state.x)[:, :3]
        obstacles = {} if frame.system.scene is None else frame.system.scene.obstacles
        return bool(touching(obstacles.values(), x, size, frame.time).any())


class Witness:
    """Sees a run of a robot in its setting. time_limit: wall time of the run [s]. works: whether the work of the
    muscles is summed, which takes the steps of the run one by one; they stay the same."""

    def __init__(self, setting: Setting, *, time_limit: float = math.inf, works: bool = False) -> None:
        self.setting = setting
        self.watch = Watch(setting.body, time_limit)
        self.judge: Judge | None = setting.judge() if isinstance(setting, Judging) else None
        self.work = MuscleWork(setting.body, setting.settle) if works else None

    @property
    def observers(self) -> list[Observer]:
        """What is told every frame of the run."""
        return [one for one in (self.watch, self.judge, self.work) if one is not None]

    @property
    def on_step(self) -> OnStep | None:
        """What is told every step of the run, and ends it where the judge has seen enough; None where nothing is."""
        return None if self.judge is None and self.work is None else self._note_step

    def _note_step(self, state: State, report: StepReport) -> bool:
        if self.work is not None:
            self.work.step(state)
        return self.judge is not None and self.judge.is_over
