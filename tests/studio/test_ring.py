"""Frames in shared memory: the newest is read whole, whatever is written meanwhile, and nothing is left behind."""

from __future__ import annotations

import threading
from multiprocessing.shared_memory import SharedMemory

import pytest

from supple.studio.ring import FrameRing


def test_the_newest_frame_is_read() -> None:
    ring = FrameRing.make(16, places=3)
    try:
        assert ring.read() == (0, b"")
        for k in range(1, 9):
            assert ring.write(bytes([k]) * 16) == k
            other = FrameRing.open(ring.name)
            assert other.newest == k
            assert other.read() == (k, bytes([k]) * 16)
            other.close()
    finally:
        ring.close()


def test_as_many_frames_are_kept_as_there_are_places() -> None:
    ring = FrameRing.make(16, places=3)
    try:
        for k in range(1, 9):
            ring.write(bytes([k]) * 16)
        kept = {k: bytes([k]) * 16 if k > 5 else None for k in range(1, 9)}
        assert {k: ring.read_one(k) for k in range(1, 9)} == kept
        assert ring.read_one(9) is None
    finally:
        ring.close()


def test_no_frame_is_torn() -> None:
    size, done = 1 << 16, threading.Event()
    ring = FrameRing.make(size, places=2)

    def write() -> None:
        for k in range(1, 400):
            ring.write(bytes([k % 251]) * size)
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    seen = 0
    try:
        while not done.is_set() or seen == 0:
            number, frame = ring.read()
            if number:
                seen += 1
                assert frame == bytes([number % 251]) * size
    finally:
        thread.join()
        ring.close()


def test_its_maker_removes_it() -> None:
    ring = FrameRing.make(8)
    name = ring.name
    FrameRing.open(name).close()
    ring.write(bytes(8))  # still there
    ring.close()
    with pytest.raises(FileNotFoundError):
        SharedMemory(name)
