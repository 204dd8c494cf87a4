"""When something may be done again: a share of the time, whatever the first time took."""

from __future__ import annotations

import pytest

from supple.studio.due import Due


def share_taken(due: Due, costs: list[float]) -> float:
    """Of the time, by something that takes so long each time [s], done as soon as it may be."""
    now = begun = due.at
    for cost in costs:
        now = max(now, due.at)
        due.pay(now, now + cost)
        now += cost
    return sum(costs) / (due.at - begun)


def test_it_takes_its_share_and_no_more() -> None:
    assert share_taken(Due(0.01, 0.1), [0.02] * 200) == pytest.approx(0.1, rel=0.02)
    assert share_taken(Due(0.01, 0.1), [0.02, 0.06] * 100) <= 0.15
    assert share_taken(Due(1.0, 0.1), [0.02] * 10) == pytest.approx(0.02)


def test_one_long_time_does_not_stop_it() -> None:
    due = Due(0.25, 0.02)
    due.pay(0.0, 0.12)  # the first time
    assert due.at == 0.25
    for begun in (0.25, 0.5):
        due.pay(begun, begun + 0.001)
    due.pay(0.75, 0.87)  # something new
    assert due.at == 1.0
    due.pay(1.0, 1.12)  # it takes that long by now
    assert due.at == pytest.approx(1.0 + 0.12 / 0.02)
