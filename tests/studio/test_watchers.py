"""Several watchers of one studio, watchers who come back, and browsers that cannot draw."""

from __future__ import annotations

from typing import Any

import pytest
from tests.canvas.browser import find_program, new_page
from tests.studio.process import Studio
from tests.studio.watching import (
    button,
    grab,
    height_of,
    press,
    reset,
    state,
    time_of,
    until_after,
    until_pulls,
    visit,
    watching,
)
from tests.studio.wire import Wire

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
WIDTH, HEIGHT = 480, 360
LOST = "The connection was lost. Trying again"


def pull_up(tab: Any, place: list[float], pulls: int) -> None:
    """A body by a point of the world, a little; the pulls of all are so many then."""
    x, y = grab(tab, place, pulls)
    tab.mouse.move(x, y - 40, steps=3)


def test_two_tabs_pull_at_once_and_each_lets_go_as_it_leaves(studio: Studio, chromium: Any) -> None:
    with watching(chromium, studio.address, WIDTH, HEIGHT) as first:
        reset(first)
        start = height_of(first, "ball")
        pull_up(first, [0.3, 0, 1.0], 1)
        with watching(chromium, studio.address, WIDTH, HEIGHT) as second:
            pull_up(second, [0.05, 0, 1.05], 2)
            press(first, "Play")
            until_after(first, 1.0)
            assert height_of(first, "ball") > start - 0.3
            assert height_of(first, "cube") > start - 0.3
        until_pulls(first, 1)
        until_after(first, time_of(first) + 1.5)
        assert height_of(first, "ball") > start - 0.3
        assert height_of(first, "cube") < start - 2.0


def test_a_lost_connection_is_told_and_found_again(studio: Studio, chromium: Any) -> None:
    wire = Wire(studio.host)
    with new_page(chromium, viewport={"width": WIDTH, "height": HEIGHT}) as (tab, wrong):
        visit(tab, studio.address.replace(studio.host, wire.host))
        button(tab, "Play").click()
        until_after(tab, 0.2)
        assert not wrong  # what follows, the browser notes
        wire.cut()
        tab.get_by_text(LOST).wait_for()
        lost = time_of(tab)
        tab.wait_for_timeout(1500)
        assert time_of(tab) == lost
        wire.mend()
        tab.wait_for_function(f"window.suppleCanvas && suppleCanvas.frame.time > {lost + 1.0}")
        tab.get_by_text(LOST).wait_for(state="hidden")
        until_words_come(tab)
        button(tab, "Pause").click()
        state(tab).filter(has_text="paused").wait_for()


def until_words_come(tab: Any) -> None:
    """Until the page is told of the simulation: by the way by which buttons tell it what to do."""
    tab.wait_for_function("""() => {
        const told = document.querySelector("[role=status][aria-label=State]")?.textContent;
        window.toldFirst ||= told;
        return told !== window.toldFirst;
    }""")


def test_a_browser_that_cannot_draw_is_told(studio: Studio, chromium: Any) -> None:
    flags = ["--no-sandbox", "--disable-3d-apis"]
    blind = chromium.browser_type.launch(executable_path=find_program(), args=flags)
    try:
        with new_page(blind) as (page, _):
            page.goto(studio.address)
            page.get_by_text("This browser has no WebGL 2").wait_for()
    finally:
        blind.close()
