"""The simulation as the server sees it: a spawned process, its pipe, its status and its frames."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from supple.studio.ring import FrameRing

if TYPE_CHECKING:
    from supple.scene.scene import Scene

PATIENCE = 1.0
"""Wall time [s] in which a process that is told to quit may end by itself."""


def begin(make: Callable[[], Scene], pipe: Any) -> None:
    """What the process does; the server itself needs nothing of what it imports."""
    from supple.studio.simulation import simulate

    simulate(make, pipe)


class RunningScene:
    """One process. `header` is there when it is ready; `failure` says why it never will be."""

    def __init__(self, make: Callable[[], Scene]) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, other = context.Pipe()
        self.process = context.Process(target=begin, args=(make, other), name="supple-simulation", daemon=True)
        self.process.start()
        other.close()
        self.header: dict[str, Any] | None = None
        self.data, self.failure = b"", ""
        self.status: dict[str, Any] = {}
        self.ring: FrameRing | None = None
        self.known = threading.Event()  # whether it is ready or has failed
        self._sending = threading.Lock()
        threading.Thread(target=self._listen, name="supple-listener", daemon=True).start()

    @property
    def has_begun(self) -> bool:
        """Whether the scene could be made and prepared."""
        return self.header is not None

    @property
    def is_ready(self) -> bool:
        """Whether there are frames."""
        return self.ring is not None

    def tell(self, command: str, value: Any = None) -> None:
        """Tell the simulation what to do."""
        try:
            with self._sending:
                self.pipe.send((command, value))
        except OSError:
            self.failure = self.failure or "The simulation has ended."

    def newest(self, after: int) -> tuple[int, bytes] | None:
        """Number and bytes of the newest frame, where it is newer than one."""
        ring = self.ring
        if ring is None or self.header is None or ring.newest <= after:
            return None
        number, frame = ring.read()
        return (number, frame[: self.header["frame"]]) if number > after else None

    def close(self) -> None:
        """End the process and let go of its frames."""
        self.tell("quit")
        self.process.join(PATIENCE)
        if self.process.is_alive():
            self.process.kill()
            self.process.join(PATIENCE)
        ring, self.ring = self.ring, None
        if ring is not None:
            ring.close()

    def _listen(self) -> None:
        while True:
            try:
                what, value = self.pipe.recv()
            except (EOFError, OSError):
                self.failure = self.failure or "The simulation has ended."
                self.known.set()
                return
            if what == "ready":
                self.header, self.data = value["about"], value["data"]
                self.ring = FrameRing.open(value["ring"])
                self.known.set()
            elif what == "status":
                self.status = value
            elif what == "failed":
                self.failure = value
                self.known.set()
