"""The view and the pace as a person moves them: drags, the wheel, slow motion."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from tests.studio.conftest import SCENE
from tests.studio.process import READY, Studio, wait_for
from tests.studio.seeing import canvas_box, changed, choose, middle_of, picture
from tests.studio.watching import button, fit, reset, state, time_of, until_after, watching

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
MANY = 100
"""Pixels that differ between pictures from two sides."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    path = tmp_path_factory.mktemp("view") / "falling.py"
    path.write_text(SCENE)
    with Studio(path) as found:
        yield found


@pytest.fixture
def page(studio: Studio, chromium: Any) -> Iterator[Any]:
    with watching(chromium, studio.address, 900, 600) as found:
        reset(found)
        fit(found)
        yield found


def camera(page: Any) -> np.ndarray:
    """Where it is, [m]."""
    return np.array(page.evaluate("suppleCanvas.camera.position.toArray()"))


def target(page: Any) -> np.ndarray:
    """The point of the way it looks that is nearest to the middle of the bodies, [m]."""
    found = np.array(page.evaluate(f"suppleCanvas.ray({', '.join(map(str, middle(page)))})"))
    bodies = np.mean([page.evaluate(f"suppleCanvas.extent('{name}').middle") for name in ("ball", "cube")], axis=0)
    return found[:3] + found[6:] * ((bodies - found[:3]) @ found[6:])  # type: ignore[no-any-return]


def middle(page: Any) -> tuple[float, float]:
    """Of the picture."""
    box = canvas_box(page)
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


def beside(page: Any) -> tuple[float, float]:
    """A place of the picture where no body is."""
    box = canvas_box(page)
    x, y = box["x"] + 40, box["y"] + box["height"] - 60
    assert not page.evaluate(f"suppleCanvas.hits({x}, {y})")
    return x, y


def drag(page: Any, start: tuple[float, float], way: tuple[float, float], which: str = "left") -> None:
    page.mouse.move(*start)
    page.mouse.down(button=which)
    page.mouse.move(start[0] + way[0], start[1] + way[1], steps=5)
    page.mouse.up(button=which)


def height_over_ground(page: Any) -> float:
    """Of the way from the middle of what is seen to the camera, as an angle [rad]."""
    way = camera(page) - target(page)
    return float(np.arcsin(way[2] / np.linalg.norm(way)))


def test_a_drag_beside_bodies_turns_the_view(page: Any) -> None:
    before, at, angle, far = picture(page), camera(page), height_over_ground(page), target(page)
    drag(page, beside(page), (150, 0))
    turned = camera(page)
    assert turned[2] == pytest.approx(at[2], abs=1e-6)  # level
    ways = [(place - far)[:2] for place in (at, turned)]
    assert np.linalg.norm(ways[0]) == pytest.approx(np.linalg.norm(ways[1]), rel=0.02)
    angles = [np.arctan2(y, x) for x, y in ways]
    # a drag across the height of the picture is a whole turn; to the right, the camera goes to the left
    assert (angles[0] - angles[1]) % (2 * np.pi) == pytest.approx(
        2 * np.pi * 150 / canvas_box(page)["height"], rel=0.05
    )
    assert changed(before, picture(page)) > MANY
    drag(page, beside(page), (0, 60))
    assert height_over_ground(page) > angle + 0.3  # from higher above
    assert time_of(page) == 0.0
    assert page.evaluate("suppleLooks.marks.pulls.count") == 0


def test_a_drag_with_the_right_button_moves_the_view_with_the_pointer(page: Any) -> None:
    """As far as what is as far away as the point about which the view turns; one body is nearer, one farther."""
    before, ball, cube = picture(page), middle_of(page, "ball"), middle_of(page, "cube")
    drag(page, middle(page), (60, 40), "right")
    for body, was in (("ball", ball), ("cube", cube)):
        way = np.subtract(middle_of(page, body), was)
        assert way[0] / way[1] == pytest.approx(60 / 40, rel=0.02)
        assert 0.75 < np.hypot(*way) / np.hypot(60, 40) < 1.35
    assert changed(before, picture(page)) > MANY


def test_the_wheel_comes_nearer_and_goes_away(page: Any) -> None:
    before = picture(page)

    def apart() -> float:
        return float(np.linalg.norm(np.subtract(middle_of(page, "ball"), middle_of(page, "cube"))))

    first = apart()
    page.mouse.move(*middle(page))
    page.mouse.wheel(0, -300)
    wait_for(lambda: apart() > 1.1 * first, READY)
    assert changed(before, picture(page)) > MANY
    page.mouse.move(*middle(page))
    page.mouse.wheel(0, 300)
    page.mouse.wheel(0, 300)
    wait_for(lambda: apart() < 0.95 * first, READY)
    fit(page)
    assert apart() == pytest.approx(first, rel=0.01)
    assert changed(before, picture(page)) < MANY


@pytest.mark.parametrize("how", ["Shift", "without Pull"])
def test_a_body_is_not_pulled_but_the_view_turned(page: Any, how: str) -> None:
    at, far = camera(page), target(page)
    if how == "Shift":
        page.keyboard.down("Shift")
    else:
        page.get_by_role("checkbox", name="Pull").click()
        page.wait_for_timeout(500)  # until the page has heard of it
    drag(page, tuple(middle_of(page, "ball")), (80, 0))
    page.keyboard.up("Shift")
    ways = [(place - far)[:2] for place in (at, camera(page))]
    angles = [np.arctan2(y, x) for x, y in ways]
    assert (angles[0] - angles[1]) % (2 * np.pi) == pytest.approx(2 * np.pi * 80 / canvas_box(page)["height"], rel=0.1)
    assert page.evaluate("suppleLooks.marks.pulls.count") == 0


def test_slow_motion_is_as_slow_as_it_says(page: Any) -> None:
    """On a busy machine slower, but never quicker; and what is told is what one measures."""

    def pace() -> tuple[float, float]:
        """Simulated time and wall time of a while."""
        t, wall = page.evaluate("[suppleCanvas.frame.time, performance.now() / 1000]")
        page.wait_for_timeout(2000)
        later, then = page.evaluate("[suppleCanvas.frame.time, performance.now() / 1000]")
        return later - t, then - wall

    choose(page, "Speed", "0.1")
    button(page, "Play").click()
    state(page).filter(has_text="of real time").wait_for()
    until_after(page, 0.0)
    simulated, wall = pace()
    assert 0 < simulated < 0.1 * wall + 0.05  # a frame is up to two steps old
    told = state(page).inner_text()
    assert float(re.findall(r"([\d.e-]+) of real time", told)[0]) <= 0.11
    choose(page, "Speed", "1")
    page.wait_for_function("(t) => suppleCanvas.frame.time > t + 0.5", arg=time_of(page))
    quick, wall_then = pace()
    assert quick / wall_then > 2 * simulated / wall
    button(page, "Pause").click()
