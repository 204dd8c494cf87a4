"""What one sees on the page of a studio, as pixels, and what a person chooses to see."""

from __future__ import annotations

import io
from typing import Any

import numpy as np
from tests.canvas.browser import until_drawn


def choose(page: Any, what: str, option: str) -> None:
    """One of a list."""
    page.get_by_role("combobox", name=what).click()
    page.get_by_role("option", name=option, exact=True).click()


def show(page: Any, *names: str) -> None:
    """Switch what is drawn beside bodies."""
    page.get_by_role("button", name="Show").click()
    for name in names:
        page.get_by_role("checkbox", name=name).click()
    page.keyboard.press("Escape")
    page.get_by_role("checkbox", name=names[0]).wait_for(state="hidden")


def pixels(page: Any) -> np.ndarray:
    """The page as it is seen, (height, width, 3)."""
    from PIL import Image

    until_drawn(page, "suppleCanvas")
    return np.asarray(Image.open(io.BytesIO(page.screenshot())).convert("RGB")).astype(int)


def picture(page: Any) -> np.ndarray:
    """What is drawn, without the rest of the page, (height, width, 3)."""
    page.mouse.move(2, 2)
    page.wait_for_function("!document.querySelector('.q-tooltip, .q-menu')")  # they fade
    box = canvas_box(page)
    x, y, width, height = (int(box[name]) for name in ("x", "y", "width", "height"))
    return pixels(page)[y : y + height, x : x + width]


def canvas_box(page: Any) -> dict[str, float]:
    """Where the canvas lies in the page: x, y, width, height."""
    return page.evaluate("suppleCanvas.element.getBoundingClientRect().toJSON()")  # type: ignore[no-any-return]


def seen(page: Any, place: Any) -> list[float]:
    """Where a point of the world is seen in the page, x and y."""
    return page.evaluate(f"suppleCanvas.seen({[float(value) for value in place]})")  # type: ignore[no-any-return]


def middle_of(page: Any, body: str) -> list[float]:
    """Where the middle of a body is seen."""
    return seen(page, page.evaluate(f"suppleCanvas.extent('{body}').middle"))


def colour_at(page: Any, x: float, y: float) -> np.ndarray:
    """Mean colour of five by five pixels."""
    return pixels(page)[int(y) - 2 : int(y) + 3, int(x) - 2 : int(x) + 3].mean(axis=(0, 1))  # type: ignore[no-any-return]


def colour_of(page: Any, body: str) -> np.ndarray:
    """Of the middle of a body."""
    return colour_at(page, *middle_of(page, body))


def changed(before: np.ndarray, after: np.ndarray) -> int:
    """How many pixels differ."""
    return int((np.abs(after - before).max(axis=2) > 20).sum())
