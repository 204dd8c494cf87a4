"""Bodies that leave the picture are told of, and found again, however far they are."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.studio.process import Studio
from tests.studio.seeing import middle_of
from tests.studio.watching import button, fit, play_until_after, reset, watching

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
FAR = 100.0
"""Over which the balls are apart in the end [m], 40 times the size of the scene."""
SCENE = """
import supple as sp

scene = sp.Scene(gravity=(0, 0, 0), name="flying apart")
scene.add(sp.RigidBody.sphere(0.5, density=1), at=(0.0, 0, 1), velocity=(-100.0, 0, 0), name="left")
scene.add(sp.RigidBody.sphere(0.5, density=1), at=(1.2, 0, 1), velocity=(100.0, 0, 0), name="right")
"""
AWAY = "All bodies have left the picture: press Fit, or tick Follow"


@pytest.fixture
def page(tmp_path_factory: pytest.TempPathFactory, chromium: Any) -> Iterator[Any]:
    path = tmp_path_factory.mktemp("apart") / "apart.py"
    path.write_text(SCENE)
    with Studio(path) as studio, watching(chromium, studio.address, 900, 600) as found:
        yield found


def test_what_has_left_the_picture_is_told_and_found(page: Any) -> None:
    word = page.get_by_role("status", name="Out of sight", include_hidden=True)
    reset(page)
    fit(page)
    word.wait_for(state="hidden")
    play_until_after(page, FAR / 200)
    word.filter(has_text=AWAY).wait_for()
    fit(page)
    word.wait_for(state="hidden")
    for body in ("left", "right"):
        x, y = middle_of(page, body)
        assert page.evaluate(f"suppleCanvas.hits({x}, {y})"), body
    reset(page)
    button(page, "Fit").click()
    page.wait_for_function("suppleCanvas.sees()")
    word.wait_for(state="hidden")
