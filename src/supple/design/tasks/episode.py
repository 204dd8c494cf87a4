"""Episode: one robot at one task, stepped by actions of its cells: what environments are made of.

It goes through the loop of every run (`supple.record.loop`), so that the same actions give the same bits as in a
trial (`supple.design.trial`), and it ends in the same errors.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from supple.design.tasks.bodies import fit
from supple.design.tasks.palette import MUSCLE, ROBOT
from supple.design.tasks.placing import add_robot, checked_action, empty_scene
from supple.design.tasks.senses import Senses
from supple.design.tasks.suite import find_task
from supple.design.tasks.task import Task
from supple.errors import DivergenceError, InputError
from supple.record.frame import Frame
from supple.record.ground import ground_of
from supple.record.loop import Loop
from supple.record.memory import MemoryRecord
from supple.record.progress import Interrupts, Silent

Array = np.ndarray


class Episode:
    """task: by its name; design: a design, or cells (nx, ny, nz). `reset` begins anew.

    Actions of cells that are not muscle are ignored; mask (nx, ny, nz) tells where an action counts.

    >>> episode = Episode("walk-v1", np.full((3, 2, 2), 3))
    >>> episode.step(np.zeros(episode.task.grid))
    >>> round(episode.t, 3), abs(episode.score) < 0.01
    (0.05, True)
    """

    def __init__(self, task: str | Task, design: Any) -> None:
        self.task = find_task(task)
        fitted = fit(self.task, design)
        self.mask = fitted.cells == MUSCLE
        self.scene = empty_scene(self.task)
        self.senses = Senses(self.task, fitted.cells, fitted.phase, self.scene)
        self._action = np.zeros(self.task.grid)
        add_robot(self.scene, self.task, fitted.cells, lambda t, *states: self._action)
        self.system = self.scene.compile()
        self.reset()

    def reset(self) -> None:
        """To the start."""
        solver = self.scene.solver
        solver.prepare(self.system)
        self.judge, self.failure, self._frames = self.task.judge(), "", list[Frame]()
        observers = (self.judge, self._note)
        self._loop = Loop(self.system, solver, None, self.task.record_every, np.inf, observers, None)
        self._loop.begin({}, resume=False)
        self._advance(0)

    def _note(self, frame: Frame) -> None:
        """Keep the first frame and the last one, for pictures."""
        if not self._frames:
            self._start = frame.state.copy()
        self._frames = [frame]

    def picture(self, size: tuple[int, int] = (480, 320)) -> Array:
        """What a camera sees now that has the start in view too, (height, width, 3), 0 to 255. size: width and height
        [pixels]. Needs the extra render."""
        from supple.exports.camera import Camera
        from supple.exports.video import draw_film
        from supple.exports.view import View

        record = MemoryRecord(self.system, ground_of(self.system))
        now = self._frames[0]
        for state in (self._start, self.state):
            record.append(replace(now, state=state))
        caption = f"t = {self.t:.2f} s, score {self.score:.3f} {self.task.unit}"
        view = View(record, (0, 1), Camera())
        return next(iter(draw_film(view, size, self.task.name, [(1, caption)])))

    def _advance(self, last_step: int) -> None:
        self._loop.advance(last_step, Silent(), Interrupts())

    @property
    def state(self) -> Any:
        """The state of the system."""
        return self._loop.state

    @property
    def steps(self) -> int:
        """Control steps taken."""
        return self._loop.step

    @property
    def t(self) -> float:
        """Time [s]."""
        return float(self.state.t)

    @property
    def score(self) -> float:
        """The score so far; that of the last good step where the simulation diverged."""
        return self.judge.score

    @property
    def is_over(self) -> bool:
        """Whether the task ended before its time: the lattice diverged, or what is carried was dropped."""
        return bool(self.failure) or self.judge.is_over

    @property
    def is_finished(self) -> bool:
        """Whether its time is up."""
        return self.steps >= self.task.steps

    def step(self, action: Array) -> None:
        """One control step with actions (nx, ny, nz) in [-1, 1]."""
        where = f"task {self.task.name}, t = {self.t:g} s"
        if self.failure:
            raise InputError("the simulation has diverged", where=where, fix="Call reset().")
        self._action = checked_action(action, self.task.grid, where)
        try:
            self._advance(self.steps + 1)
        except DivergenceError as error:
            self.failure = str(error)
            self._loop.go_back(to=self._loop.good)

    def observe(self) -> dict[str, Array]:
        """What the robot observes now: see `Senses.observe`."""
        robot = self.system.body(ROBOT)
        things = () if self.task.thing is None else (self.system.body(self.task.thing).view_x(self.state.x),)
        return self.senses.observe(self.t, robot.view_x(self.state.x), robot.view_v(self.state.v), *things)
