"""History: the frames of the last while, so that a watcher may look back while the simulation goes on.

The server keeps them, from the ring: the simulation knows nothing of it. Frames are kept since the scene began anew,
at most `FRAMES` of them and `BYTES` in all; the oldest go first.
"""

from __future__ import annotations

import struct
import threading
from bisect import bisect_right
from collections import deque
from typing import NamedTuple

FRAMES = 64 * 66
"""Frames that are kept at most: those of more than 60 s that somebody looked on, 66 a second."""
BYTES = 500_000_000
HEAD = struct.Struct("<IId")


class Kept(NamedTuple):
    """A frame. number: of the frame; time: of the run [s]."""

    number: int
    time: float
    frame: bytes


class Span(NamedTuple):
    """What is kept: number and time [s] of the first frame and of the last."""

    first: int
    begin: float
    last: int
    end: float


class History:
    """Frames in the order of their numbers. frames, size: how many, and how many bytes in all, are kept at most."""

    def __init__(self, frames: int = FRAMES, size: int = BYTES) -> None:
        self.frames, self.size = frames, size
        self._kept: deque[Kept] = deque()
        self._bytes = self._step = 0
        self._lock = threading.Lock()

    def __len__(self) -> int:
        return len(self._kept)

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._clear()

    def _clear(self) -> None:
        self._kept.clear()
        self._bytes = self._step = 0

    def add(self, frame: bytes) -> None:
        """Keep a frame, as `canvas.frames` tells; one of an earlier step says that the scene began anew."""
        number, step, time = HEAD.unpack_from(frame)
        with self._lock:
            if step < self._step or (self._kept and number <= self._kept[-1].number):
                self._clear()
            if self._kept and step == self._step:
                self._bytes -= len(self._kept.pop().frame)  # the same moment, seen again
            self._step = step
            self._kept.append(Kept(number, time, frame))
            self._bytes += len(frame)
            while len(self._kept) > 1 and (len(self._kept) > self.frames or self._bytes > self.size):
                self._bytes -= len(self._kept.popleft().frame)

    def span(self) -> Span | None:
        """What is kept; None where there is nothing."""
        with self._lock:
            if not self._kept:
                return None
            first, last = self._kept[0], self._kept[-1]
            return Span(first.number, first.time, last.number, last.time)

    def at(self, time: float) -> bytes | None:
        """The last frame at or before a time [s], or the first one; None where there is nothing."""
        with self._lock:
            if not self._kept:
                return None
            place = bisect_right(self._kept, time, key=lambda kept: kept.time)
            return self._kept[max(place - 1, 0)].frame
