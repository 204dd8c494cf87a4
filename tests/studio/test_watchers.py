"""Several watchers of one studio, watchers who come back, and browsers that cannot draw."""

from __future__ import annotations

from typing import Any

import pytest
from tests.canvas.browser import find_program
from tests.studio.process import WAIT, Studio
from tests.studio.test_studio import height_of, time_of, wait_until_after
from tests.studio.wire import Wire

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
SIZE = {"width": 480, "height": 360}
PLAY = "document.querySelectorAll('button').forEach((b) => b.textContent.trim() === 'Play' && b.click())"


def open_tab(chromium: Any, address: str) -> Any:
    tab = chromium.new_context(viewport=SIZE).new_page()
    tab.goto(address)
    tab.wait_for_function("window.suppleCanvas && suppleCanvas.applied > 0", timeout=WAIT)
    tab.get_by_role("button", name="Reset").click()  # when the buttons are enabled
    return tab


def hold(tab: Any, place: list[float]) -> None:
    """Press where a point of the world is seen, and pull it up a little."""
    x, y = tab.evaluate(f"suppleCanvas.seen({place})")
    tab.mouse.move(x, y)
    tab.mouse.down()
    tab.mouse.move(x, y - 40, steps=3)


def test_two_tabs_pull_at_once_and_each_lets_go_as_it_leaves(studio: Studio, chromium: Any) -> None:
    first, second = (open_tab(chromium, studio.address) for _ in range(2))
    start = height_of(first, "ball")
    hold(first, [0.3, 0, 1.0])
    hold(second, [0.05, 0, 1.05])
    first.evaluate(PLAY)  # the pointers hold the bodies, so that the button is pressed without them
    wait_until_after(first, 1.0)
    assert height_of(first, "ball") > start - 0.3
    assert height_of(first, "cube") > start - 0.3
    second.context.close()
    t = time_of(first)
    wait_until_after(first, t + 1.5)
    assert height_of(first, "ball") > start - 0.3
    assert height_of(first, "cube") < start - 2.0
    first.context.close()


def test_a_lost_connection_is_told_and_found_again(studio: Studio, chromium: Any) -> None:
    wire = Wire(studio.host)
    tab = open_tab(chromium, studio.address.replace(studio.host, wire.host))
    tab.get_by_role("button", name="Play").click()
    wait_until_after(tab, 0.2)
    wire.cut()
    tab.get_by_text("The connection was lost. Trying again").wait_for(timeout=WAIT)
    lost = time_of(tab)
    tab.wait_for_timeout(1500)
    assert time_of(tab) == lost
    wire.mend()
    tab.wait_for_function(f"window.suppleCanvas && suppleCanvas.frame.time > {lost + 1.0}", timeout=WAIT)
    tab.get_by_text("The connection was lost. Trying again").wait_for(timeout=WAIT, state="hidden")
    tab.get_by_role("button", name="Pause").click(timeout=WAIT)
    tab.get_by_role("status", name="State").filter(has_text="paused").wait_for(timeout=WAIT)
    tab.context.close()


def test_a_browser_that_cannot_draw_is_told(studio: Studio, chromium: Any) -> None:
    flags = ["--no-sandbox", "--disable-3d-apis"]
    blind = chromium.browser_type.launch(executable_path=find_program(), args=flags)
    page = blind.new_page()
    page.goto(studio.address)
    page.get_by_text("This browser has no WebGL 2").wait_for(timeout=WAIT)
    blind.close()
