"""A page of a studio, and what a person does there. Each waits for what comes of it, however long that takes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.canvas.browser import WAIT, new_page

STILL = """() => {
  const told = document.querySelector("[role=status][aria-label=State]").textContent.match(/t = (.*) s, paused/);
  const { number, time } = suppleCanvas.frame, now = performance.now();
  if (!told || window.stillSeen?.number !== number) window.stillSeen = { number, since: now };
  return told && Math.abs(time - Number(told[1])) < 0.0051 && now - stillSeen.since > 500;
}"""
"""Whether the frame that is seen is that of the time that is told, to two digits, and no other has come for a while."""
PRESS = """(name) => {
  const found = [...document.querySelectorAll("button:enabled")].find((button) => button.textContent.trim() === name);
  found?.click();
  return !!found;
}"""


@contextmanager
def watching(chromium: Any, address: str, width: int = 640, height: int = 480) -> Iterator[Any]:
    """A page with a scene in it; what goes wrong in it is a failure."""
    with new_page(chromium, viewport={"width": width, "height": height}) as (page, wrong):
        visit(page, address)
        yield page
        assert not wrong


def visit(page: Any, address: str) -> None:
    """Until the scene is seen, and the page knows how it stands."""
    page.goto(address)
    page.wait_for_function("window.suppleCanvas && suppleCanvas.applied > 0")
    state(page).filter(has_text="t = ").wait_for(state="attached")


def button(page: Any, name: str) -> Any:
    return page.get_by_role("button", name=name, exact=True)


def state(page: Any) -> Any:
    """What the page tells of the simulation."""
    return page.get_by_role("status", name="State")


def time_of(page: Any) -> float:
    return float(page.evaluate("suppleCanvas.frame.time"))


def height_of(page: Any, body: str) -> float:
    return float(page.evaluate(f"suppleCanvas.positions('{body}', [0])[2]"))


def until_after(page: Any, time: float) -> None:
    page.wait_for_function(f"suppleCanvas.frame.time > {time}")


def play_until_after(page: Any, time: float) -> None:
    """Play, and stop some time after a moment."""
    button(page, "Play").click()
    until_after(page, time)
    pause(page)


def pause(page: Any) -> None:
    """Until the last frame is seen."""
    button(page, "Pause").click()
    button(page, "Play").wait_for()
    page.wait_for_function(STILL)


def press(page: Any, name: str) -> None:
    """A button, without the pointer, which may hold a body."""
    page.wait_for_function(PRESS, arg=name)


def reset(page: Any) -> None:
    """Begin anew, and stand still there. A frame that was seen before may have been one of the start too."""
    if button(page, "Pause").count():
        pause(page)
    before = page.evaluate("suppleCanvas.frame.number")
    button(page, "Reset").click()
    page.wait_for_function(f"suppleCanvas.frame.number > {before} && suppleCanvas.frame.time === 0")


def grab(page: Any, place: list[float], pulls: int = 1) -> tuple[float, float]:
    """Press where a point of the world is seen, until the simulation tells of so many pulls; returns where that is."""
    x, y = page.evaluate(f"suppleCanvas.seen({place})")
    page.mouse.move(x, y)
    page.mouse.down()
    until_pulls(page, pulls)
    return x, y


def let_go(page: Any) -> None:
    page.mouse.up()
    until_pulls(page, 0)


def until_pulls(page: Any, count: int, patience: float = WAIT) -> None:
    """Until so many are seen, those of all who look on. patience: how long that may take [ms]."""
    page.wait_for_function(f"suppleLooks.marks.pulls.count === {count}", timeout=patience)


def fit(page: Any) -> None:
    """See all of it: the view is moved away before, so that one knows when it is done."""
    away = page.evaluate("suppleCanvas.zoom(0.5), suppleCanvas.camera.position.toArray()")
    button(page, "Fit").click()
    page.wait_for_function(
        "(away) => Math.hypot(...suppleCanvas.camera.position.toArray().map((x, i) => x - away[i])) > 1e-3", arg=away
    )
