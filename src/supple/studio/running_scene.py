"""The simulation as the server sees it: a spawned process, its pipe, its status and its frames.

Another scene is made beside the one that runs, and takes its place when it is ready: one that cannot be opened leaves
all as it was.
"""

from __future__ import annotations

import itertools
import multiprocessing
import queue
import threading
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Any

from supple.errors import InputError
from supple.studio.ending import end_with_parent
from supple.studio.history import History
from supple.studio.opening import Keeping, Make
from supple.studio.plots.traces import Traces
from supple.studio.ring import FrameRing

PATIENCE = 1.0
"""Wall time [s] in which a process that is told to quit may end by itself."""
TO_KEEP = 5.0
"""The same where another scene is opened, and it may have a record to end."""
ANSWER = 60.0
"""Wall time [s] that an answer of the simulation may take."""
KEEP = 0.02
"""Wall time [s] between looks for frames to keep."""
ENDED = "The simulation has ended."
LOOK = 0.1
"""Wall time [s] between looks whether another scene is wanted meanwhile."""


def begin(make: Make, pipe: Any, ring: str, keeping: Keeping | None) -> None:
    """What the process does; the server itself needs nothing of what it imports."""
    end_with_parent()
    from supple.studio.simulation import simulate

    simulate(make, pipe, ring, keeping)


@dataclass(frozen=True)
class Begun:
    """A process that makes a scene, its pipe, and the name of its ring of frames."""

    process: Any
    pipe: Any
    ring: str

    @classmethod
    def of(cls, make: Make, keeping: Keeping | None) -> Begun:
        """Begin one."""
        context = multiprocessing.get_context("spawn")
        ring = f"psm_{token_hex(6)}"
        pipe, other = context.Pipe()
        process = context.Process(
            target=begin, args=(make, other, ring, keeping), name="supple-simulation", daemon=True
        )  # fmt: skip
        process.start()
        other.close()
        return cls(process, pipe, ring)

    def end(self, patience: float = PATIENCE) -> None:
        """End it, or kill it, and remove what it may have left."""
        with suppress(OSError):
            self.pipe.send(("quit", None))
        self.process.join(patience)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(PATIENCE)
        FrameRing.remove(self.ring)

    def first(self) -> tuple[str, Any] | None:
        """What it says first, ready or failed; None: nothing yet."""
        try:
            return self.pipe.recv() if self.pipe.poll(LOOK) else None
        except (EOFError, OSError):
            return "failed", ENDED


class RunningScene:
    """One process, or none as long as no scene is open. `header` is there when it is ready; `failure` says why it never
    will be. `number` counts the scenes that were opened, from 1; `title` says what is open, `opening` what is being
    made beside it. keeping: where runs are kept, None: nowhere."""

    def __init__(self, make: Make | None, *, title: str = "", keeping: Keeping | None = None) -> None:
        self.number, self.keeping = 0, keeping
        self._begun: Begun | None = None
        self.opening, self._wanted = "", 0
        self.traces, self._plots = Traces(), 0
        self.known = threading.Event()  # whether it is ready or has failed
        self.looks: dict[int, dict[str, bytes]] = {}  # of each watcher that is there, the newest look of each kind
        self.history = History()
        self._ring: FrameRing | None = None
        self._questions, self._answers = itertools.count(), dict[int, "queue.SimpleQueue[Any]"]()
        self._sending, self._changing, self._opening = threading.Lock(), threading.Lock(), threading.Lock()
        self._forget("")
        if make is not None:
            self._take(Begun.of(make, self.keeping), title)

    def _forget(self, title: str) -> None:
        self.title = title
        self.header: dict[str, Any] | None = None
        self.data, self.failure = b"", ""
        self.status: dict[str, Any] = {}
        self.settings: list[dict[str, Any]] = []  # what can be changed, see `live.settings.Setting`
        self.history.clear()
        self.traces.clear()
        self.known.clear()

    @property
    def process(self) -> Any:
        """Of the present scene."""
        return None if self._begun is None else self._begun.process

    @property
    def pipe(self) -> Any:
        """To it."""
        return None if self._begun is None else self._begun.pipe

    def _take(self, begun: Begun, title: str, first: tuple[str, Any] | None = None) -> None:
        """Let a process be the present one. first: what it has said already."""
        self._let_go()
        with self._changing:
            self.number += 1
            self._forget(title)
            self._begun = begun
            if self.keeping is not None:
                self.keeping = replace(self.keeping, is_first=False)
            if first is not None:
                self._heed(*first)
            for name, target, of in (("listener", self._listen, (begun.pipe, self.number)),
                                     ("keeper", self._keep, (self.number,))):  # fmt: skip
                threading.Thread(target=target, args=of, name=f"supple-{name}", daemon=True).start()

    def open(self, make: Make, title: str = "") -> None:
        """Make another scene beside the present one, which goes on, and let it take its place; where there is none
        that runs, at once. An InputError where it cannot be made; the present one stays then. What is being made
        already is given up. It waits: call it from a thread, as by nicegui's `run.io_bound`. make: as that of `view`.
        """
        self._wanted += 1
        mine = self._wanted
        with self._opening:
            if mine != self._wanted:
                return  # another is wanted by now
            begun, first = Begun.of(make, self.keeping), None
            try:
                self.opening = title or "a scene"
                while first is None and self.is_ready and not self.failure and mine == self._wanted:
                    first = begun.first()
            finally:
                self.opening = ""
            if mine != self._wanted:
                begun.end(0.0)
                return
            if first is not None and first[0] == "failed":
                begun.end()
                raise InputError(f"{title or 'the scene'} cannot be opened: {first[1]}")
            self._end_present(PATIENCE if self.keeping is None else TO_KEEP)
            self._take(begun, title, first)
            if self._plots:
                self.tell("plots", True)

    @property
    def is_open(self) -> bool:
        """Whether there is a scene, ready or not."""
        return self.number > 0

    @property
    def word(self) -> str:
        """Why there is nothing to see; empty where there will be soon."""
        return self.failure if self.is_open else "Open a scene to begin."

    @property
    def has_begun(self) -> bool:
        """Whether the scene could be made and prepared."""
        return self.header is not None

    @property
    def is_ready(self) -> bool:
        """Whether there are frames."""
        return self._ring is not None

    def tell(self, command: str, value: Any = None) -> None:
        """Tell the simulation what to do."""
        if self.pipe is None:
            return
        try:
            with self._sending:
                self.pipe.send((command, value))
        except OSError:
            self.failure = self.failure or ENDED

    def ask(self, what: str) -> Any:
        """What the simulation answers: `save` or `state`. It waits: call it from a thread. An InputError where it
        cannot, or does not."""
        number, answers = next(self._questions), queue.SimpleQueue[Any]()
        self._answers[number] = answers
        try:
            self.tell("ask", (number, what))
            answer = answers.get(timeout=ANSWER)
        except queue.Empty:
            raise InputError("the simulation does not answer", where="the studio", value=what) from None
        finally:
            del self._answers[number]
        if isinstance(answer, dict) and "error" in answer:
            raise InputError(answer["error"])
        return answer

    def want_plots(self, more: int) -> None:
        """So many pages more look at plots."""
        self._plots += more
        self.tell("plots", self._plots > 0)

    def newest(self, after: int) -> tuple[int, bytes] | None:
        """Number and bytes of the newest frame, where it is newer than one."""
        with self._changing:
            ring = self._ring
            if ring is None or self.header is None or ring.newest <= after:
                return None
            number, frame = ring.read()
            return (number, frame[: self.header["frame"]]) if number > after else None

    def _keep(self, scene: int) -> None:
        """Keep the frames of a scene while it is open. Those that were overwritten before they were read are lost."""
        kept = 0
        while not self.known.wait(KEEP) or (self.number == scene and not self.failure):
            if self.number != scene:
                return
            with self._changing:
                ring, header = self._ring, self.header
                if ring is not None and header is not None and self.number == scene:
                    newest = ring.newest
                    for number in range(max(kept + 1, newest - ring.places + 2, 1), newest + 1):
                        frame = ring.read_one(number)
                        if frame is not None:
                            self.history.add(frame[: header["frame"]])
                    kept = newest
            time.sleep(KEEP)

    def close(self, patience: float = PATIENCE) -> None:
        """End all, and let go of frames, of what is left where a process had to be killed too."""
        self._wanted += 1  # gives up what is being made
        self._end_present(patience)
        with self._opening:
            self._end_present(patience)  # of what has just taken its place

    def _end_present(self, patience: float) -> None:
        self._let_go()
        if self._begun is not None:
            self._begun.end(patience)

    def _let_go(self) -> None:
        with self._changing:
            ring, self._ring = self._ring, None
            if ring is not None:
                ring.close()

    def _listen(self, pipe: Any, number: int) -> None:
        while True:
            try:
                what, value = pipe.recv()
            except (EOFError, OSError):
                what, value = "failed", ENDED
            with self._changing:
                if self.number != number:
                    return  # another scene is open
                self._heed(what, value)
            if what == "failed":
                return

    def _heed(self, what: str, value: Any) -> None:
        if what == "ready":
            self.header, self.data = value["about"], value["data"]
            self._ring = FrameRing.open(value["ring"])
            self.known.set()
        elif what == "status":
            self.status = value
        elif what == "settings":
            self.settings = value
        elif what == "plots":
            self.traces.add(value)
        elif what == "answer":
            number, answer = value
            if number in self._answers:
                self._answers[number].put(answer)
        elif what == "look":
            watcher, kind, look = value
            if watcher in self.looks:
                self.looks[watcher][kind] = look
        elif what == "failed":
            self.failure = self.failure or value
            self.known.set()
