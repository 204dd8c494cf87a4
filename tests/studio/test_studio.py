"""The studio as a person uses it: `supple view` as a process, a real browser, tools found by role and name."""

from __future__ import annotations

from typing import Any

import pytest
from tests.studio.watching import (
    button,
    grab,
    height_of,
    let_go,
    play_until_after,
    press,
    reset,
    state,
    time_of,
    until_after,
)

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow


def test_a_scene_is_played_stopped_stepped_and_begun_anew(page: Any) -> None:
    assert "token" not in page.url
    assert time_of(page) == 0.0
    start = height_of(page, "ball")
    play_until_after(page, 0.2)
    t = time_of(page)
    page.wait_for_timeout(500)
    assert time_of(page) == t
    # the ball has fallen freely, up to the order of the step
    assert height_of(page, "ball") - start == pytest.approx(-9.81 / 2 * t * t, rel=0.1)
    button(page, "Step").click()
    until_after(page, t)
    assert time_of(page) < t + 0.05
    reset(page)
    assert height_of(page, "ball") == pytest.approx(start, abs=1e-4)
    state(page).filter(has_text="t = 0.00 s, paused").wait_for()


def test_a_body_is_pulled_and_let_go(page: Any) -> None:
    """The ball hangs on the pointer while the cube falls, and falls when it is let go."""
    reset(page)
    start = height_of(page, "ball")
    x, y = grab(page, [0.3, 0, 1.0])
    page.mouse.move(x, y - 120, steps=5)
    press(page, "Play")
    until_after(page, 1.0)
    assert height_of(page, "ball") > start + 0.02
    assert height_of(page, "cube") < start - 1.0
    let_go(page)
    until_after(page, time_of(page) + 1.0)
    assert height_of(page, "ball") < start - 1.0
