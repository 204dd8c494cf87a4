"""The simulation as the server sees it: a spawned process, its pipe, its status and its frames."""

from __future__ import annotations

import itertools
import multiprocessing
import queue
import threading
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from supple.errors import InputError
from supple.studio.ending import end_with_parent
from supple.studio.history import History
from supple.studio.ring import FrameRing

if TYPE_CHECKING:
    from supple.scene.scene import Scene

PATIENCE = 1.0
"""Wall time [s] in which a process that is told to quit may end by itself."""
ANSWER = 60.0
"""Wall time [s] that an answer of the simulation may take."""
KEEP = 0.02
"""Wall time [s] between looks for frames to keep."""
ENDED = "The simulation has ended."


def begin(make: Callable[[], Scene], pipe: Any) -> None:
    """What the process does; the server itself needs nothing of what it imports."""
    end_with_parent()
    from supple.studio.simulation import simulate

    simulate(make, pipe)


class RunningScene:
    """One process. `header` is there when it is ready; `failure` says why it never will be. `number` counts the scenes
    that were opened, from 1."""

    def __init__(self, make: Callable[[], Scene]) -> None:
        self.number = 0
        self.known = threading.Event()  # whether it is ready or has failed
        self.looks: dict[int, dict[str, bytes]] = {}  # of each watcher that is there, the newest look of each kind
        self.history = History()
        self._ring: FrameRing | None = None
        self._questions, self._answers = itertools.count(), dict[int, "queue.SimpleQueue[Any]"]()
        self._sending, self._changing, self._opening = threading.Lock(), threading.Lock(), threading.Lock()
        self._begin(make)

    def _begin(self, make: Callable[[], Scene]) -> None:
        context = multiprocessing.get_context("spawn")
        self._let_go()
        with self._changing:
            self.number += 1
            self.make = make
            self.header: dict[str, Any] | None = None
            self.data, self.failure = b"", ""
            self.status: dict[str, Any] = {}
            self.settings: list[dict[str, Any]] = []  # what can be changed, see `live.settings.Setting`
            self.history.clear()
            self.known.clear()
            self.pipe, other = context.Pipe()
            self.process = context.Process(target=begin, args=(make, other), name="supple-simulation", daemon=True)
            self.process.start()
            other.close()
            for name, target, of in (("listener", self._listen, (self.pipe, self.number)),
                                     ("keeper", self._keep, (self.number,))):  # fmt: skip
                threading.Thread(target=target, args=of, name=f"supple-{name}", daemon=True).start()

    def open(self, make: Callable[[], Scene]) -> None:
        """End the present scene and begin another. make: as that of `view`. It takes up to two seconds: call it from a
        thread, as by nicegui's `run.io_bound`."""
        with self._opening:
            self.close()
            self._begin(make)

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

    def close(self) -> None:
        """End the process and let go of its frames."""
        self._let_go()
        self.tell("quit")
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(PATIENCE)

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
