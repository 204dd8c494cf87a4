"""Frames for watchers: one for each that is asked for, the newest, and nothing for those who ask for none."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

pytest.importorskip("nicegui")
from supple.studio.streams import LOOK, Credit, send_frames

SOON = 20 * LOOK


class Frames:
    """A scene that runs, as far as `send_frames` sees it. looks: how often somebody asked for the newest frame."""

    def __init__(self) -> None:
        self.number, self.last, self.looks = 1, 0, 0
        self.history = self

    def newest(self, sent: int) -> tuple[int, bytes] | None:
        self.looks += 1
        return (self.last, b"%d" % self.last) if self.last > sent else None

    def at(self, time: float) -> bytes:
        return b"at %g" % time


class Stream:
    """A socket that keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.code: int | None = None

    async def send_bytes(self, frame: bytes) -> None:
        self.sent.append(frame)

    async def close(self, code: int) -> None:
        self.code = code


def watched(act: Any) -> tuple[Frames, Stream]:
    """What is sent while a coroutine of (frames, credit, stream) goes on."""
    frames, stream, credit = Frames(), Stream(), Credit()

    async def watch() -> None:
        sending = asyncio.create_task(send_frames(stream, frames, credit))  # type: ignore[arg-type]
        await act(frames, credit, stream)
        sending.cancel()

    asyncio.run(watch())
    return frames, stream


def test_one_frame_is_sent_for_each_that_is_asked_for() -> None:
    async def act(frames: Frames, credit: Credit, stream: Stream) -> None:
        for number in (1, 2, 3):
            frames.last = number
            await asyncio.sleep(SOON)
            assert len(stream.sent) == number - 1  # nobody has asked for it
            credit.ask("next")
            await asyncio.sleep(SOON)
            assert len(stream.sent) == number
        credit.ask("next")  # there is no newer one yet
        await asyncio.sleep(SOON)
        assert len(stream.sent) == 3
        frames.last = 4
        await asyncio.sleep(SOON)
        frames.last = 5
        await asyncio.sleep(SOON)

    _, stream = watched(act)
    assert stream.sent == [b"1", b"2", b"3", b"4"]


def test_who_comes_late_gets_the_newest() -> None:
    async def act(frames: Frames, credit: Credit, stream: Stream) -> None:
        frames.last = 41
        credit.ask("next")
        await asyncio.sleep(SOON)
        for number in range(42, 100):  # while this one is drawn
            frames.last = number
        credit.ask("next")
        await asyncio.sleep(SOON)

    _, stream = watched(act)
    assert stream.sent == [b"41", b"99"]


def test_who_never_asks_costs_nothing() -> None:
    async def act(frames: Frames, credit: Credit, stream: Stream) -> None:
        for number in range(1, 10):
            frames.last = number
            await asyncio.sleep(LOOK)
        await asyncio.sleep(SOON)

    frames, stream = watched(act)
    assert stream.sent == []
    assert frames.looks == 0  # nobody has even looked whether there is one


def test_who_looks_back_gets_that_moment_and_then_the_newest_again() -> None:
    async def act(frames: Frames, credit: Credit, stream: Stream) -> None:
        frames.last = 7
        for word in ("next", "at 0.5", "next"):
            credit.ask(word)
            await asyncio.sleep(SOON)

    _, stream = watched(act)
    assert stream.sent == [b"7", b"at 0.5", b"7"]


@pytest.mark.parametrize("word", ["at", "at x", "at nan", "at inf", "at -1e999"])
def test_a_time_that_is_none_is_left(word: str) -> None:
    credit = Credit()
    credit.ask(word)
    assert not credit.given.is_set()


def test_a_watcher_of_another_scene_is_sent_away() -> None:
    async def act(frames: Frames, credit: Credit, stream: Stream) -> None:
        credit.ask("next")
        await asyncio.sleep(SOON)
        frames.number = 2
        await asyncio.sleep(SOON)

    _, stream = watched(act)
    assert (stream.sent, stream.code) == ([], 4001)
