"""A ring of frames in shared memory: one process writes, others read the newest, and nobody waits.

    0    number of the newest frame, from 1; 0: none yet (u8)
    8    how many places there are (u8)
    16   bytes of a frame (u8)
    64   places: number when its writing began (u8), when it ended (u8), then the frame

A reader copies the newest frame and looks at both numbers before and after: where they are not the one that it meant,
the place was written meanwhile, and it takes the next one.
"""

from __future__ import annotations

from multiprocessing.shared_memory import SharedMemory

import numpy as np

PLACES, START, NUMBERS = 8, 64, 16
TRIES = 100


class FrameRing:
    """Frames of one size. Whoever makes it removes it in the end."""

    def __init__(self, memory: SharedMemory, places: int, size: int, *, is_own: bool) -> None:
        self.memory, self.places, self.size, self.is_own = memory, places, size, is_own
        whole = START + places * (NUMBERS + size)
        self.head = np.ndarray(3, dtype=np.uint64, buffer=memory.buf)
        self.bytes = np.ndarray(whole, dtype=np.uint8, buffer=memory.buf)

    @classmethod
    def make(cls, size: int, places: int = PLACES, name: str | None = None) -> FrameRing:
        """A new one for frames of so many bytes, a multiple of 8. name: by which others open it; None: any."""
        memory = SharedMemory(name, create=True, size=START + places * (NUMBERS + size))
        ring = cls(memory, places, size, is_own=True)
        ring.bytes[:] = 0
        ring.head[:] = 0, places, size
        return ring

    @classmethod
    def open(cls, name: str) -> FrameRing:
        """The one of another process."""
        memory = SharedMemory(name)
        places, size = np.ndarray(3, dtype=np.uint64, buffer=memory.buf)[1:].tolist()
        return cls(memory, int(places), int(size), is_own=False)

    @staticmethod
    def remove(name: str) -> None:
        """Remove one whose maker was killed; nothing where it is gone."""
        try:
            left = SharedMemory(name)
        except (FileNotFoundError, ValueError):  # ValueError: it was made, and has no size yet
            return
        left.close()
        left.unlink()

    @property
    def name(self) -> str:
        """By which other processes open it."""
        return self.memory.name

    @property
    def newest(self) -> int:
        """Number of the newest frame, from 1; 0: none yet."""
        return int(self.head[0])

    def write(self, frame: bytes) -> int:
        """Put a frame in; returns its number."""
        number = self.newest + 1
        numbers, place = self._place(number)
        numbers[0] = number
        place[: len(frame)] = np.frombuffer(frame, dtype=np.uint8)
        numbers[1] = number
        self.head[0] = number
        return number

    def read(self) -> tuple[int, bytes]:
        """Number and bytes of the newest frame; 0 and none where there is none."""
        for _ in range(TRIES):
            number = self.newest
            if number == 0:
                break
            frame = self.read_one(number)
            if frame is not None:
                return number, frame
        return 0, b""

    def read_one(self, number: int) -> bytes | None:
        """The frame of a number from 1; None where a later one lies in its place, or none yet."""
        numbers, place = self._place(number)
        if numbers[0] == numbers[1] == number:
            frame = place.tobytes()
            if numbers[0] == numbers[1] == number:
                return frame
        return None

    def _place(self, number: int) -> tuple[np.ndarray, np.ndarray]:
        at = START + (number % self.places) * (NUMBERS + self.size)
        return self.bytes[at : at + NUMBERS].view(np.uint64), self.bytes[at + NUMBERS : at + NUMBERS + self.size]

    def close(self) -> None:
        """Let go of it, and remove it where it is one's own."""
        del self.head, self.bytes
        self.memory.close()
        if self.is_own:
            self.memory.unlink()
