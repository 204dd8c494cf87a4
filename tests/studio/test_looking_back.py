"""Look back in time as a person does: the scrubber is dragged while the simulation runs, and `Live` returns."""

from __future__ import annotations

from typing import Any

import pytest
from tests.studio.process import WAIT
from tests.studio.test_studio import height_of, time_of, wait_until_after

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow


def test_a_watcher_looks_back_while_it_runs_and_returns(page: Any) -> None:
    start = height_of(page, "ball")
    page.get_by_role("button", name="Play").click()
    wait_until_after(page, 1.0)
    bar = page.get_by_role("slider", name="Look back")
    place = bar.bounding_box()
    middle = place["y"] + place["height"] / 2
    page.mouse.move(place["x"] + place["width"] - 9, middle)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] / 3, middle, steps=4)
    page.mouse.up()
    page.get_by_text("Looking back").wait_for(timeout=WAIT)
    page.wait_for_timeout(500)
    seen = time_of(page)
    assert 0.0 < seen < 1.0
    # the ball is where it was then: free fall
    assert height_of(page, "ball") - start == pytest.approx(-9.81 / 2 * seen * seen, abs=0.05)
    page.wait_for_timeout(500)
    assert time_of(page) == seen  # though it runs
    page.keyboard.press("Home")  # the bar has the focus
    page.wait_for_function("suppleCanvas.frame.time < 0.1", timeout=WAIT)
    assert height_of(page, "ball") == pytest.approx(start, abs=0.05)
    page.get_by_role("button", name="Live").click()
    wait_until_after(page, 1.5)
    page.get_by_text("Looking back").wait_for(state="hidden", timeout=WAIT)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for(timeout=WAIT)
    page.wait_for_timeout(500)
    end = time_of(page)
    bar.focus()
    page.keyboard.press("Home")  # while it is paused
    page.wait_for_function("suppleCanvas.frame.time < 0.1", timeout=WAIT)
    page.get_by_role("button", name="Step").click()  # from where it is, which is shown
    wait_until_after(page, end)
