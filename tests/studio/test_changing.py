"""Change while it runs, as a person does: a number is typed, a slider moved, a body pulled, and the file repeats it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.studio.process import Studio
from tests.studio.watching import button, grab, pause, press, state, time_of, until_after, watching

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
    with watching(chromium, studio.address, 1000, 600) as found:
        yield found


def test_gravity_is_typed_a_body_is_pulled_and_the_file_repeats_it(page: Any, tmp_path: Path) -> None:
    button(page, "Change").click()
    panel = page.get_by_role("region", name="Change")
    field = panel.get_by_label("Gravity [m/s²], z", exact=True)
    field.fill("-2")
    field.press("Enter")
    state(page).filter(has_text="paused").wait_for()
    x, y = grab(page, [0, 0, 0])
    press(page, "Play")
    for k in range(1, 11):  # while time goes on, as a hand moves
        page.mouse.move(x + 8 * k, y - 6 * k)
        until_after(page, time_of(page))
    until_after(page, 0.3)
    page.mouse.up()
    field = panel.get_by_label("Gravity [m/s²], x", exact=True)
    field.focus()
    page.keyboard.press("Tab")  # to its slider
    page.keyboard.press("ArrowRight")
    page.wait_for_function("(field) => Number(field.value) > 0", arg=field.element_handle())
    pause(page)
    place = page.evaluate("[suppleCanvas.frame.step, ...suppleCanvas.positions('ball', [0])]")
    with page.expect_download() as download:
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
    page.get_by_role("img", name="No body here has a stress").wait_for()
