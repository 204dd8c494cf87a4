"""Change while it runs, as a person does: a number is typed, a slider moved, a body pulled, and the file repeats it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.process import WAIT, Studio

import supple as sp

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
SCENE = """
supple = 1
name = "ball"

[[bodies]]
name = "ball"
kind = "rigid"
sphere = { radius = 0.1 }
density = 500

[solver]
kind = "midpoint"
dt = 0.01
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "ball.toml"
    path.write_text(SCENE)
    return path


@pytest.fixture
def page(studio: Studio, chromium: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 1000, "height": 600})
    found, wrong = context.new_page(), []
    found.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.goto(studio.address)
    found.wait_for_function("window.suppleCanvas && suppleCanvas.applied > 0", timeout=WAIT)
    yield found
    assert not wrong
    context.close()


def test_gravity_is_typed_a_body_is_pulled_and_the_file_repeats_it(page: Any, tmp_path: Path) -> None:
    page.get_by_role("button", name="Change", exact=True).click()
    panel = page.get_by_role("region", name="Change")
    field = panel.get_by_label("Gravity [m/s²], z", exact=True)
    field.fill("-2")
    field.press("Enter")
    page.get_by_role("status", name="State").filter(has_text="paused").wait_for(timeout=WAIT)
    x, y = page.evaluate("suppleCanvas.seen([0, 0, 0])")
    page.mouse.move(x, y)
    page.mouse.down()
    # the pointer holds the ball, so that the button is pressed without it
    page.evaluate("document.querySelectorAll('button').forEach((b) => b.textContent.trim() === 'Play' && b.click())")
    page.mouse.move(x + 80, y - 60, steps=5)
    page.wait_for_function("suppleCanvas.frame.time > 0.3", timeout=WAIT)
    page.mouse.up()
    panel.get_by_label("Gravity [m/s²], x", exact=True).focus()
    page.keyboard.press("Tab")  # to its slider
    page.keyboard.press("ArrowRight")
    page.wait_for_timeout(500)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for(timeout=WAIT)
    page.wait_for_timeout(500)
    place = page.evaluate("[suppleCanvas.frame.step, ...suppleCanvas.positions('ball', [0])]")
    with page.expect_download(timeout=WAIT) as download:
        panel.get_by_role("button", name="Save as scene file").click()
    path = tmp_path / download.value.suggested_filename
    download.value.save_as(path)
    again = sp.load(path)
    kinds = {event.name for event in again.events}
    assert "gravity" in kinds
    assert any(name.startswith("pull") for name in kinds)
    changes = [event.values for event in again.events if event.name == "gravity"]
    assert changes[0] == {"value": [0.0, 0.0, -2.0]}
    assert changes[-1]["value"][0] > 0.0
    run = sp.run(again, until=place[0] * 0.01, progress=False)
    top = run.system.points(run.state, "ball")
    # the picture has 16 bits; its first vertex is one of the ball's own
    assert np.linalg.norm(top - np.array(place[1:]), axis=1).min() < 1e-3


def test_a_field_that_no_body_has_is_told(page: Any) -> None:
    page.get_by_role("combobox", name="Colours").click()
    page.get_by_role("option", name="Stress", exact=True).click()
    page.get_by_role("img", name="No body here has a stress").wait_for(timeout=WAIT)
