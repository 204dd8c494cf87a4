"""Frames that are kept: found by their time, within bounds, since the scene began anew."""

from __future__ import annotations

import struct

from supple.studio.history import History, Span


def frame(number: int, step: int, size: int = 100) -> bytes:
    return struct.pack("<IId", number, step, step * 0.1) + bytes(size - 16)


def time_of(found: bytes | None) -> float:
    assert found is not None
    return float(struct.unpack_from("<IId", found)[2])


def test_a_frame_is_found_by_its_time() -> None:
    history = History()
    assert history.at(1.0) is history.span() is None
    for k in range(10):
        history.add(frame(k + 1, k))
    assert time_of(history.at(0.45)) == 4 * 0.1
    assert time_of(history.at(-1.0)) == 0.0
    assert time_of(history.at(99.0)) == 9 * 0.1
    assert history.span() == Span(1, 0.0, 10, 9 * 0.1)


def test_the_oldest_go_where_there_are_too_many_or_too_large_ones() -> None:
    few, small = History(frames=4), History(size=250)
    for k in range(10):
        few.add(frame(k + 1, k))
        small.add(frame(k + 1, k))
    assert len(few) == 4
    assert len(small) == 2
    assert time_of(few.at(0.0)) == 6 * 0.1
    assert time_of(small.at(0.0)) == 8 * 0.1


def test_a_scene_that_begins_anew_forgets_and_a_moment_is_kept_once() -> None:
    history = History()
    for k in range(5):
        history.add(frame(k + 1, k))
    history.add(frame(6, 4, 50))  # paused: the same step again
    assert len(history) == 5
    history.add(frame(7, 0))
    assert history.span() == Span(7, 0.0, 7, 0.0)
