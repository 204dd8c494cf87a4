"""Look back in time as a person does: the scrubber is dragged while the simulation runs, and `Live` returns."""

from __future__ import annotations

from typing import Any

import pytest
from tests.studio.watching import button, height_of, pause, time_of, until_after

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
BAR = "document.querySelector('[aria-label=\"Look back\"]')"


def test_a_watcher_looks_back_while_it_runs_and_returns(page: Any) -> None:
    start = height_of(page, "ball")
    button(page, "Play").click()
    until_after(page, 1.0)
    bar = page.get_by_role("slider", name="Look back")
    place = bar.bounding_box()
    middle = place["y"] + place["height"] / 2
    page.mouse.move(place["x"] + place["width"] - 9, middle)
    page.mouse.down()
    page.mouse.move(place["x"] + place["width"] / 3, middle, steps=4)
    page.mouse.up()
    page.get_by_text("Looking back").wait_for()
    # frames of later moments are seen until that of the bar's comes
    page.wait_for_function(f"suppleCanvas.frame.time <= Number({BAR}.value)")
    seen, step, chosen, end = page.evaluate(
        f"[suppleCanvas.frame.time, suppleCanvas.frame.step, ...[{BAR}.value, {BAR}.max].map(Number)]"
    )
    assert 0.0 < seen <= chosen < 0.5 * end
    # the ball is where it was then: free fall; the velocity at one end of a step is half a step of gravity off its mean
    half_a_step = 9.81 / 2 * seen * (seen / step)
    assert height_of(page, "ball") - start == pytest.approx(-9.81 / 2 * seen * seen, abs=1.01 * half_a_step + 1e-3)
    page.wait_for_function(f"Number({BAR}.max) > {end + 0.3}")
    assert time_of(page) == seen  # though it runs
    page.keyboard.press("Home")  # the bar has the focus
    page.wait_for_function("suppleCanvas.frame.time === 0")
    assert height_of(page, "ball") == pytest.approx(start, abs=1e-4)
    button(page, "Live").click()
    until_after(page, 1.5)
    page.get_by_text("Looking back").wait_for(state="hidden")
    pause(page)
    end = time_of(page)
    bar.focus()
    page.keyboard.press("Home")  # while it is paused
    page.wait_for_function("suppleCanvas.frame.time === 0")
    button(page, "Step").click()  # from where it is, which is shown
    until_after(page, end)
