"""The process that runs a scene for the studio. It never waits for a browser, and ends with the process that began it.

It is told what to do through a pipe, (command, value): play, pause, step, reset, speed, strength, change, grab, drag,
release, wish, click, leave, plots, untrack, ask, quit. It answers, (what, value): ready with the header and the name
of the ring of frames, status some times a second, with a message where the simulation had to stop, settings when they
have changed, looks for those who wish for some, plots some times a second, answer to what it was asked, and failed
where it cannot begin. Frames go into the ring. Where the pipe ends, nobody is left.
"""

from __future__ import annotations

import os
import traceback
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path
from time import perf_counter
from typing import Any

import numba
import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.errors import DivergenceError, SuppleError
from supple.record.measures import Measures, measure
from supple.running import thread_count
from supple.scene.scene import Scene
from supple.scene.state import State
from supple.studio.due import Due
from supple.studio.live.live_run import FAILURES, LiveRun
from supple.studio.live.recording import Recording
from supple.studio.looks.looks import Looks
from supple.studio.looks.wishes import Click
from supple.studio.opening import Keeping, Make, Opened
from supple.studio.pace import Pace
from supple.studio.picking import pick
from supple.studio.plots.samples import Samples
from supple.studio.pulling import Pointer, point_at
from supple.studio.ring import FrameRing

FRAME, STATUS, CHECK = 1 / 66, 0.2, 0.25
"""Wall time between frames, messages and looks at the energy [s], at least."""
LATE = 4
"""Frames that are caught up on at most."""
SHARE = 0.02
"""Most of the wall time that looks at the energy may take: of large bodies they are dear, and all waits."""
BEHIND = 0.1
"""Wall time [s] by which a simulation may be late before it gives up catching up."""
IDLE = 0.05
BRIEF, LONG = 0.05, 3.0
"""Wall time [s] over which the speed is measured, at least; and at most where no step is done."""
SPEEDS, STRENGTHS = (1e-3, 100.0), (1e-3, 100.0)
REMEMBERED = 120
"""Frames that a person may still point at."""


@dataclass
class Status:
    """What a person sees beside the picture. speed: simulated over wall time, measured; wanted: what was asked for.
    strength: of pulls; pulls: how many pull. message: why it stopped, empty while all is well; notice: why something
    was refused."""

    time: float = 0.0
    step: int = 0
    speed: float = 0.0
    wanted: float = 1.0
    strength: float = 1.0
    playing: bool = False
    kinetic: float = 0.0
    potential: float = 0.0
    pulls: int = 0
    message: str = ""
    notice: str = ""


class Simulation:
    """A scene that runs as it is told."""

    def __init__(self, scene: Scene, pipe: Connection, ring: str | None = None) -> None:
        """ring: the name of its ring of frames."""
        self.pipe, self.status, self.pace = pipe, Status(), Pace()
        self.live = LiveRun(scene)
        self.live.compile_all()
        self.samples = Samples()
        self.looks = Looks(self.live.show, self.samples.places)
        first = self.live.show.frame(self.live.state, 0)
        self.ring = FrameRing.make(len(first) + -len(first) % 8, name=ring)
        self._begin()

    def _begin(self) -> None:
        """At the start of the scene; playing or not as before."""
        self.seen: deque[tuple[int, State]] = deque(maxlen=REMEMBERED)
        self.status = Status(playing=self.status.playing, wanted=self.status.wanted)
        self.check_due = Due(CHECK, SHARE, perf_counter() + CHECK)
        self.samples.begin()
        self._note(self.live.check())
        self._look()
        self._pace()

    def run(self) -> None:
        """Until it is told to quit, or nobody is left."""
        self.framed = self.told = perf_counter()
        self._tell_settings()
        with one_blas_thread():  # as a run: sums then have one order
            while True:
                while self.pipe.poll(0 if self.status.playing else IDLE):
                    command, value = self.pipe.recv()
                    if command == "quit":
                        return
                    self.obey(command, value)
                if self.status.playing:
                    self._play()
                self._send_looks()
                self.samples.tell(perf_counter(), self.pipe.send)
                self.live.rest()
                if self.live.lost:
                    self.status.notice, self.live.lost = self.live.lost, ""
                if perf_counter() - self.told >= STATUS:
                    self._tell()

    def obey(self, command: str, value: Any) -> None:
        """Do what a person asks for."""
        self.looks.forget()
        if command in QUIET:
            QUIET[command](self, value)
            return
        try:
            getattr(self, f"_obey_{command}")(value)
        except FAILURES as error:
            if self.live.is_prepared:  # it cannot be done, and all is as it was
                self.status.notice = str(error)
            else:
                self._stop(error)
        self._tell()

    def _obey_play(self, value: Any) -> None:
        self.status.playing = not self.status.message
        self._pace()

    def _obey_pause(self, value: Any) -> None:
        self.status.playing = False
        self._look()  # what is seen while it stands still is the state

    def _obey_step(self, value: Any) -> None:
        self.status.playing = False
        self._take(1)
        self._look()

    def _obey_reset(self, value: Any) -> None:
        self.live.reset()
        self._begin()
        self._tell_settings()

    def _obey_speed(self, value: Any) -> None:
        self.status.wanted = min(max(float(value), SPEEDS[0]), SPEEDS[1])
        self._pace()

    def _obey_strength(self, value: Any) -> None:
        self.live.strengthen(min(max(float(value), STRENGTHS[0]), STRENGTHS[1]))

    def _obey_change(self, value: Any) -> None:
        """value: number of the setting, of a part of it or None, and what it is to be."""
        self.status.notice = ""
        try:
            self.live.change(*value)
        finally:
            self._tell_settings()

    def _obey_grab(self, value: Any) -> None:
        """value: the watcher, the number of the frame that he saw, nine numbers, see `Pointer`."""
        watcher, number, numbers = value
        self.live.grab(watcher, Pointer.of(numbers), self._seen(number))
        self.status.pulls = len(self.live.pulls.held)

    def _obey_release(self, value: Any) -> None:
        self.live.release(value[0])
        self.status.pulls = len(self.live.pulls.held)

    def _obey_ask(self, value: Any) -> None:
        """value: number of the question, and what is asked for."""
        number, what = value
        try:
            answer: Any = getattr(self, f"_answer_{what}")()
        except FAILURES as error:
            answer = {"error": str(error)}
        self.pipe.send(("answer", (number, answer)))

    def _answer_save(self) -> dict[str, Any]:
        return dict(self.live.saved()._asdict())

    def _answer_state(self) -> dict[str, Any]:
        state = self.live.state
        return {"step": self.live.step, "time": state.t, "x": state.x.copy(), "v": state.v.copy()}

    def _seen(self, number: int) -> State:
        """The state of a frame, where it is still known."""
        return next((state for known, state in reversed(self.seen) if known <= number), self.live.state)

    def _click(self, watcher: int, click: Click) -> None:
        """A watcher asks what is at a place of the picture."""
        pointer, surfaces = Pointer.of(np.array(click.pointer)), self.live.show.surfaces
        seen, start = self._seen(click.frame), self.live.pulls.start
        found = pick(surfaces, seen, start, pointer.origin, pointer.ray) if pointer.is_sound else None
        if click.track and found is not None:
            slot = surfaces[found.surface].slot
            self.samples.track(slot.name, slot, point_at(slot.node, found.start))
        elif not click.track:
            self.looks.tell_picked(watcher, "" if found is None else surfaces[found.surface].name)

    def _pace(self) -> None:
        """From here on simulated time keeps to the clock."""
        self.from_wall, self.from_time = perf_counter(), self.live.state.t
        self.stepped, self.measured = self.from_wall, (self.from_wall, self.from_time)

    def _play(self) -> None:
        live, now = self.live, perf_counter()
        due = self.from_time + (now - self.from_wall) * self.status.wanted
        steps = int((due - live.state.t) / live.dt)
        if steps < 1:
            self.pipe.poll(min(IDLE, (live.state.t + live.dt - due) / self.status.wanted))
        else:
            self._take(self.pace.steps(steps, live.step_time, live.last_step_time))
            if (due - live.state.t) / self.status.wanted > BEHIND:
                late = due - live.state.t
                self.from_time -= late  # what is lost is lost: the speed that is shown says so
        if now - self.framed >= FRAME:
            self.framed = max(self.framed + FRAME, now - LATE * FRAME)  # on time in the mean
            self._look()

    def _take(self, steps: int) -> None:
        """So many steps; where they fail, the last good state is kept and told why."""
        if self.status.message:
            return
        try:
            self.live.take(steps)
            self.stepped = begun = perf_counter()
            if begun >= self.check_due.at:
                self._note(self.live.check())
                self.check_due.pay(begun, perf_counter())
        except FAILURES as error:
            self.live.go_back()
            self._stop(error)
            self._tell()

    def _stop(self, error: Exception) -> None:
        self.status.playing, self.status.message = False, told_failure(error, self.live)
        self._look()

    def _look(self) -> None:
        number, state = self.ring.newest + 1, self.live.state
        self.seen.append((number, State(state.t, state.x.copy(), state.v.copy())))
        self.ring.write(self.live.show.frame(state, self.live.step, number))
        if not self.status.playing:  # and there is time for it
            self._note(measure(self.live.system, state))
        elif measures := self.samples.at_frame(self.live.system, state, perf_counter):
            self._note(measures)
        self.looks.forget()

    def _note(self, measures: Measures) -> None:
        """What was measured of the state is what a person is told."""
        self.status.kinetic, self.status.potential = measures.kinetic, measures.potential
        self.samples.add(self.live.state, measures)

    def _tell(self) -> None:
        now, state = perf_counter(), self.live.state
        self.status.time, self.status.step, self.status.strength = state.t, self.live.step, self.live.strength
        self._measure_speed(now)
        self.told = now
        self.pipe.send(("status", asdict(self.status)))

    def _measure_speed(self, now: float) -> None:
        """Over the steps that were done since it was measured last, from the end of one to the end of another; none
        where no step ends for long."""
        wall, before = self.measured
        done = self.live.state.t - before
        if not self.status.playing:
            self.measured = now, self.live.state.t
        elif done != 0.0 and self.stepped - wall >= BRIEF:
            self.status.speed = max(0.0, done / (self.stepped - wall))
            self.measured = self.stepped, self.live.state.t
        elif done == 0.0 and now - wall >= LONG:
            self.status.speed = 0.0

    def _send_looks(self) -> None:
        live = self.live
        pulls = partial(live.pulls.lines, pointers=live.dragged)
        self.looks.send(live.system, live.state, pulls, perf_counter, lambda look: self.pipe.send(("look", look)))

    def _tell_settings(self) -> None:
        self.pipe.send(("settings", [asdict(setting) for setting in self.live.settings]))

    def close(self) -> None:
        """End the record, and remove the ring."""
        try:
            self.live.end()
        finally:
            self.ring.close()


QUIET: dict[str, Callable[[Simulation, Any], None]] = {
    "drag": lambda it, value: it.live.drag(value[0], Pointer.of(value[2])),
    "wish": lambda it, value: it.looks.wish(*value),
    "leave": lambda it, value: it.looks.leave(value),
    "click": lambda it, value: it._click(*value),
    "plots": lambda it, value: setattr(it.samples, "is_wanted", bool(value)),
    "untrack": lambda it, value: it.samples.untrack(value),
}
"""What is done without a word of how the simulation stands."""


def told_failure(error: Exception, live: LiveRun) -> str:
    """Why a simulation stopped, and what a person at the page can do."""
    if not isinstance(error, DivergenceError):
        return f"{error} The last good state is shown. Reset begins anew."
    pulled = "pull more gently, or with less strength; " if live.pulls.held else ""
    return (
        f"{error.what[:1].upper()}{error.what[1:]} ({error.where}). The last good state is shown. Reset begins anew. "
        f"What helps: {pulled}more damping, softer materials, or a scene with a smaller dt (it is {live.dt:g} s)."
    )


def recording_of(keeping: Keeping, opened: Opened) -> Recording:
    """What keeps the runs of a scene."""

    def note(folder: Path) -> None:
        if keeping.note is not None:
            keeping.note(folder, opened.given)

    return Recording(keeping.folder, opened.record_every, is_first=keeping.is_first, note=note)


def simulate(make: Make, pipe: Connection, ring: str | None = None, keeping: Keeping | None = None) -> None:
    """What the process does. make: may be imported, but not be sent. ring: the name of its ring; keeping: where its
    runs are kept."""
    simulation = None
    try:
        with thread_count(max(1, numba.get_num_threads() - 1)):  # the server and the browser need a core
            given = make()
            opened = given if isinstance(given, Opened) else Opened(given)
            simulation = Simulation(opened.scene, pipe, ring)
            if keeping is not None:
                simulation.live.record(recording_of(keeping, opened))
            header = simulation.live.show.header()
            pipe.send(("ready", {"about": header.about, "data": header.data, "ring": simulation.ring.name,
                                 "dt": simulation.live.dt}))  # fmt: skip
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
