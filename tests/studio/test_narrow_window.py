"""The page in a window as narrow as a telephone: all of it can be reached, and what belongs together stays together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.studio.process import Studio
from tests.studio.watching import button, watching

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
WIDTH, HEIGHT = 420, 800
TOOLS = ("Open", "Fit", "Show", "Plots", "Change", "Help", "Play", "Step", "Reset")


def box_of(found: Any) -> dict[str, float]:
    box = found.bounding_box()
    assert box is not None
    return box  # type: ignore[no-any-return]


def test_all_lies_in_the_window(scene: Path, chromium: Any) -> None:
    with Studio(scene) as studio, watching(chromium, studio.address, WIDTH, HEIGHT) as page:
        for name in TOOLS:
            box = box_of(button(page, name))
            assert box["x"] >= 0
            assert box["x"] + box["width"] <= WIDTH, name
            assert box["y"] + box["height"] <= HEIGHT, name
        word, slider = box_of(page.locator("#strength")), box_of(page.get_by_role("slider", name="Strength"))
        assert abs(word["y"] + word["height"] / 2 - slider["y"] - slider["height"] / 2) < 8  # in one row
        for name in ("Plots", "Change"):
            button(page, name).click()
            page.get_by_role("region", name=name).wait_for()
        assert page.evaluate("document.documentElement.scrollWidth") <= WIDTH
        assert box_of(page.locator("canvas").first)["height"] > 100
        last = page.get_by_role("spinbutton", name="Gravity [m/s²], z")
        last.scroll_into_view_if_needed()
        box = box_of(last)
        assert box["x"] + box["width"] <= WIDTH
        assert box_of(button(page, "Play"))["y"] > box["y"] + box["height"]
