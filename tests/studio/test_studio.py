"""The studio as a person uses it: `supple view` as a process, a real browser, tools found by role and name."""

from __future__ import annotations

from typing import Any

import pytest
from tests.studio.process import WAIT

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow


def time_of(page: Any) -> float:
    return float(page.evaluate("suppleCanvas.frame.time"))


def height_of(page: Any, body: str) -> float:
    return float(page.evaluate(f"suppleCanvas.positions('{body}', [0])[2]"))


def wait_until_after(page: Any, time: float) -> None:
    page.wait_for_function(f"suppleCanvas.frame.time > {time}", timeout=WAIT)


def test_a_scene_is_played_stopped_stepped_and_begun_anew(page: Any) -> None:
    assert "token" not in page.url
    assert time_of(page) == 0.0
    start = height_of(page, "ball")
    page.get_by_role("button", name="Play").click()
    wait_until_after(page, 0.2)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for(timeout=WAIT)
    page.wait_for_timeout(500)
    t = time_of(page)
    page.wait_for_timeout(500)
    assert time_of(page) == t
    # the ball has fallen freely, up to the order of the step
    assert height_of(page, "ball") - start == pytest.approx(-9.81 / 2 * t * t, rel=0.1)
    page.get_by_role("button", name="Step").click()
    wait_until_after(page, t)
    assert time_of(page) < t + 0.05
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("suppleCanvas.frame.time === 0", timeout=WAIT)
    assert height_of(page, "ball") == pytest.approx(start, abs=1e-4)
    page.get_by_role("status", name="State").filter(has_text="t = 0.00 s, paused").wait_for(timeout=WAIT)


def test_a_body_is_pulled_and_let_go(page: Any) -> None:
    """The ball hangs on the pointer while the cube falls, and falls when it is let go."""
    page.get_by_role("button", name="Reset").click()  # when the buttons are enabled
    start = height_of(page, "ball")
    x, y = page.evaluate("suppleCanvas.seen([0.3, 0, 1.0])")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 120, steps=5)
    # the pointer holds the ball, so that the button is pressed without it
    page.evaluate("document.querySelectorAll('button').forEach((b) => b.textContent.trim() === 'Play' && b.click())")
    wait_until_after(page, 1.0)
    assert height_of(page, "ball") > start + 0.02
    assert height_of(page, "cube") < start - 1.0
    page.mouse.up()
    t = time_of(page)
    wait_until_after(page, t + 1.0)
    assert height_of(page, "ball") < start - 1.0
