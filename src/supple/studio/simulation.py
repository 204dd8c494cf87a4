"""The process that runs a scene for the studio. It never waits for a browser, and ends with the process that began it.

It is told what to do through a pipe, (command, value): play, pause, step, reset, speed, strength, grab, drag, release,
wish, click, leave, quit. It answers, (what, value): ready with the header and the name of the ring of frames, status
some times a second, with a message where the simulation had to stop, looks for those who wish for some, and failed
where it cannot begin. Frames go into the ring. Where the pipe ends, nobody is left.
"""

from __future__ import annotations

import os
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from multiprocessing.connection import Connection
from time import perf_counter
from typing import Any

import numpy as np

from supple.errors import InputError, SuppleError
from supple.record.measures import measure
from supple.record.plausibility import Plausibility
from supple.running import choose_solver
from supple.scene.scene import Scene
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.choosing import choose
from supple.solvers.protocol import Striding
from supple.studio.looks.looks import Looks
from supple.studio.looks.wishes import Click
from supple.studio.picking import Picked, pick
from supple.studio.pulling import Pointer, Pulls
from supple.studio.ring import FrameRing
from supple.studio.show import Show

LONGEST_CALL = 8e-3
"""Wall time of a call of the solver [s], so that what a person does is heard soon; one step at least."""
FRAME, STATUS, CHECK = 1 / 60, 0.2, 0.25
"""Wall time between frames, messages and looks at the energy [s]."""
BEHIND = 0.1
"""Wall time [s] by which a simulation may be late before it gives up catching up."""
IDLE = 0.05
SPEEDS, STRENGTHS = (1e-3, 100.0), (1e-3, 100.0)
REMEMBERED = 120
"""Frames that a person may still point at."""


@dataclass
class Status:
    """What a person sees beside the picture. speed: simulated over wall time, measured; wanted: what was asked for.
    pulls: how many pull. message: why it stopped, empty while all is well."""

    time: float = 0.0
    step: int = 0
    speed: float = 0.0
    wanted: float = 1.0
    playing: bool = False
    kinetic: float = 0.0
    potential: float = 0.0
    pulls: int = 0
    message: str = ""


class Simulation:
    """A scene that runs as it is told."""

    def __init__(self, scene: Scene, pipe: Connection) -> None:
        self.scene, self.pipe, self.system = scene, pipe, scene.compile()
        self.state = self.system.initial_state()
        self.show = Show(self.system, self.state)
        self.looks = Looks(self.show)
        self.status, self.step_time = Status(), 0.0
        first = self.show.frame(self.state, 0)
        self.ring = FrameRing.make(len(first) + -len(first) % 8)
        self.reset()
        self._compile_all()
        self.reset()

    def _compile_all(self) -> None:
        """Take a step as it is, and one with a pull on a body of each kind: what they need is compiled then."""
        self._advance(1)
        kinds = {surface.kind: number for number, surface in enumerate(self.show.surfaces)}
        for number in kinds.values():
            place = self.show.surfaces[number].points(self.pulls.start)[0].astype(float)
            with suppress(SuppleError):  # a point that cannot be pulled
                self.pulls.hold(number, Picked(number, place, place), 1.0, self.state)
                self._prepare()
                self._advance(1)
            self.pulls.release(number, self.state)
        self._prepare()
        self.step_time = 0.0

    def _prepare(self) -> None:
        """After a change of the system."""
        self.solver = prepared(self.own_solver, self.system)
        self.guard = Plausibility(self.system, self.solver.dt, self.state, measure(self.system, self.state), 0.0)
        self.good = self.state.copy()

    def reset(self) -> None:
        """Begin anew; playing or not as before, and nobody pulls."""
        self.system = self.scene.compile()
        self.solver = self.own_solver = choose_solver(self.scene, self.system, None, None)
        self.solver.prepare(self.system)
        self.state = self.system.initial_state()
        self.pulls = Pulls(self.system, self.show.surfaces, self.state.copy(), self.solver.dt)
        self.seen: deque[tuple[int, State]] = deque(maxlen=REMEMBERED)
        self.status = Status(playing=self.status.playing, wanted=self.status.wanted)
        self.guard = Plausibility(self.system, self.solver.dt, self.state, measure(self.system, self.state), 0.0)
        self.good = self.state.copy()
        self._look()
        self._pace()

    def run(self) -> None:
        """Until it is told to quit, or nobody is left."""
        self.framed = self.told = self.checked = perf_counter()
        while True:
            while self.pipe.poll(0 if self.status.playing else IDLE):
                command, value = self.pipe.recv()
                if command == "quit":
                    return
                self.obey(command, value)
            if self.status.playing:
                self._play()
            self.looks.send(self.state, perf_counter, lambda look: self.pipe.send(("look", look)))
            if perf_counter() - self.told >= STATUS:
                self._tell()

    def obey(self, command: str, value: Any) -> None:
        """Do what a person asks for."""
        if command in ("play", "pause"):
            self.status.playing = command == "play" and not self.status.message
            self._pace()
            self._look()  # what is seen while it stands still is the state
        elif command == "step":
            self.status.playing = False
            self._take(1)
            self._look()
        elif command == "reset":
            self.reset()
        elif command in ("grab", "drag", "release"):
            self._pull(command, *value)
            return
        elif command == "wish":
            self.looks.wish(*value)
            return
        elif command == "leave":
            self.looks.leave(value)
            return
        elif command == "click":
            self._click(*value)
            return
        elif command == "strength":
            self.pulls.strength = min(max(float(value), STRENGTHS[0]), STRENGTHS[1])
        elif command == "speed":
            self.status.wanted = min(max(float(value), SPEEDS[0]), SPEEDS[1])
            self._pace()
        self._tell()

    def _pull(self, command: str, watcher: int, number: int = 0, numbers: Any = None) -> None:
        """What a watcher does with the pointer. number: of the frame that he saw; numbers: see `Pointer`."""
        if command == "drag":
            self.pulls.drag(watcher, Pointer.of(numbers))
            return
        if command == "grab":
            changed = self.pulls.grab(watcher, Pointer.of(numbers), self._seen(number), self.state)
        else:
            changed = self.pulls.release(watcher, self.state)
        if changed:
            self._prepare()
        self.status.pulls = len(self.pulls.held)
        self._tell()

    def _seen(self, number: int) -> State:
        """The state of a frame, where it is still known."""
        return next((state for known, state in reversed(self.seen) if known <= number), self.state)

    def _click(self, watcher: int, click: Click) -> None:
        """A watcher asks what is at a place of the picture."""
        pointer, surfaces = Pointer.of(np.array(click.pointer)), self.show.surfaces
        seen = self._seen(click.frame)
        found = pick(surfaces, seen, self.pulls.start, pointer.origin, pointer.ray) if pointer.is_sound else None
        self.looks.tell_picked(watcher, "" if found is None else surfaces[found.surface].name)

    def _pace(self) -> None:
        """From here on simulated time keeps to the clock."""
        self.from_wall, self.from_time = perf_counter(), self.state.t

    def _play(self) -> None:
        now = perf_counter()
        due = self.from_time + (now - self.from_wall) * self.status.wanted
        steps = int((due - self.state.t) / self.solver.dt)
        if steps < 1:
            self.pipe.poll(min(IDLE, (self.state.t + self.solver.dt - due) / self.status.wanted))
        else:
            most = max(1, int(LONGEST_CALL / self.step_time)) if self.step_time > 0 else 1
            self._take(min(steps, most))
            if (due - self.state.t) / self.status.wanted > BEHIND:
                late = due - self.state.t
                self.from_time -= late  # what is lost is lost: the speed that is shown says so
        if now - self.framed >= FRAME:
            self.framed = now
            self._look()

    def _take(self, steps: int) -> None:
        """So many steps; where they fail, the last good state is kept and told why."""
        if self.status.message:
            return
        try:
            self._advance(steps)
            self.status.step += steps
            self.state.t = self.status.step * self.solver.dt
            self.guard.check_step(self.state, self.status.step)
            if perf_counter() - self.checked >= CHECK:
                self._check()
        except (SuppleError, FloatingPointError, ArithmeticError, ValueError) as error:
            self.state.restore(self.good)
            self.status.playing, self.status.message = False, str(error)
            self.status.step = round(self.state.t / self.solver.dt)
            self._look()
            self._tell()

    def _check(self) -> None:
        measures = measure(self.system, self.state)
        if self.pulls.held:  # a hand may give any energy: judged from here on
            self.guard = Plausibility(self.system, self.solver.dt, self.state, measures, 0.0)
        else:
            self.guard.check_frame(self.state, measures, self.status.step, self.good)
        self.status.kinetic, self.status.potential = measures.kinetic, measures.potential
        self.good, self.checked = self.state.copy(), perf_counter()

    def _advance(self, steps: int) -> None:
        begun = perf_counter()
        if steps > 1 and isinstance(self.solver, Striding):
            self.solver.advance(self.system, self.state, steps)
        else:
            for _ in range(steps):
                self.solver.step(self.system, self.state)
        taken = (perf_counter() - begun) / steps
        self.step_time = taken if self.step_time == 0.0 else 0.8 * self.step_time + 0.2 * taken

    def _look(self) -> None:
        number = self.ring.newest + 1
        self.seen.append((number, self.state.copy()))
        self.ring.write(self.show.frame(self.state, self.status.step, number))
        self.looks.is_stale = True

    def _tell(self) -> None:
        now = perf_counter()
        passed, before = now - self.told, getattr(self, "told_time", self.state.t)
        self.status.time = self.state.t
        self.status.speed = max(0.0, (self.state.t - before) / passed) if passed > 0.05 else self.status.speed
        self.told, self.told_time = now, self.state.t
        self.pipe.send(("status", asdict(self.status)))

    def close(self) -> None:
        """Remove the ring."""
        self.ring.close()


def prepared(own: Any, system: System) -> Any:
    """A scene's own solver, or where that refuses what was added meanwhile the one that suits all of it."""
    try:
        own.prepare(system)
        return own
    except InputError:
        other = choose(system.scene, own.dt, system).solver
        other.prepare(system)
        return other


def simulate(make: Callable[[], Scene], pipe: Connection) -> None:
    """What the process does. make: makes the scene; it may be imported, but not be sent."""
    simulation = None
    try:
        simulation = Simulation(make(), pipe)
        header = simulation.show.header()
        pipe.send(("ready", {"about": header.about, "data": header.data, "ring": simulation.ring.name,
                             "dt": simulation.solver.dt}))  # fmt: skip
        simulation.run()
    except (EOFError, BrokenPipeError, ConnectionResetError, KeyboardInterrupt):
        pass  # nobody is left
    except SuppleError as error:
        _try_send(pipe, ("failed", str(error)))
    except Exception as error:
        traceback.print_exc()
        _try_send(pipe, ("failed", f"{type(error).__name__}: {error}"))
    finally:
        if simulation is not None:
            simulation.close()
        pipe.close()
        os._exit(0)  # nothing is left to tidy up, and Python takes a second to let go of compiled kernels


def _try_send(pipe: Connection, message: tuple[str, Any]) -> None:
    with suppress(OSError):
        pipe.send(message)
