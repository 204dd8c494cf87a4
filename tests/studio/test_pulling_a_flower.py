"""The example's flower, pulled while it runs, as somebody does who opens it for the first time."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.requiring import needed
from tests.studio.process import Studio
from tests.studio.watching import button, reset, until_after, until_pulls, watching

from supple.examples.flower import RELEASE, make, part
from supple.record.surfaces import make_surfaces
from supple.studio.picking import pick
from supple.studio.pulling import point_at

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
CALM = RELEASE + 4.0
"""When the hand of the example has let go for long [s]."""
WAY = 0.04
"""How far a point goes at least with a pointer that moves by some 10 cm [m]."""
TRIES, AGAIN = 10, 5_000
"""How often one presses, and after how long again [ms]."""
HELD = ("seam of the head", "petal", "leaf")


@pytest.fixture(scope="module")
def flower(chromium: Any) -> Iterator[Any]:
    with Studio(Path("flower")) as studio, watching(chromium, studio.address, 1200, 800) as page:
        held = points_in_sight(page)
        button(page, "Step").click()
        until_after(page, 0.0)
        yield page, held


def now(page: Any, point: int) -> tuple[float, np.ndarray]:
    """The time of a frame of the simulation, and where a point is in it."""
    t, *x = page.evaluate(f"[suppleCanvas.frame.time, ...suppleCanvas.positions('flower', [{point}])]")
    return t, np.array(x)


def points_in_sight(page: Any) -> dict[str, int]:
    """A point of the page of each of `HELD`, well inside of what one sees of it at the start."""
    system = make().compile()
    state, (surface,) = system.initial_state(), make_surfaces(system)
    node, x = system.bodies[0].node, surface.points(state).astype(float)
    camera = np.array(page.evaluate("suppleCanvas.ray(600, 400)"))[:3]
    own = np.reshape(page.evaluate(f"[...suppleCanvas.positions('flower', [...Array({len(x)}).keys()])]"), (-1, 3))

    def is_in_sight(point: int) -> bool:
        around = x[point] + 0.004 * np.array([(0, 0, 0), (1, 0, 0), (-1, 0, 0), (0, 0, 1), (0, 0, -1)])
        found = [pick([surface], state, state, camera, place - camera) for place in around]
        return all(one is not None and np.linalg.norm(one.place - x[point]) < 0.012 for one in found)

    def is_seam(point: int) -> bool:
        return len(point_at(node, x[point]).mapping.chain.X) == 2  # held on two domains

    def outer(name: str) -> np.ndarray:
        """Points of a domain, those first that are nearly as far from the middle of the flower as its tip."""
        points = part(node.body, name)
        far = np.linalg.norm(x[points, :2], axis=1)
        return np.asarray(points[np.argsort(np.abs(far - 0.8 * far.max()))])

    choices = {
        HELD[0]: filter(is_seam, part(node.body, "bloom")),
        HELD[1]: outer("petal 1"),
        HELD[2]: outer("leaf left"),
    }
    chosen = {name: next(int(point) for point in points if is_in_sight(point)) for name, points in choices.items()}
    return {name: int(np.argmin(np.linalg.norm(own - x[point], axis=1))) for name, point in chosen.items()}


def at_rest(page: Any) -> None:
    """Begin anew, and wait until the flower hardly swings."""
    reset(page)
    button(page, "Play").click()
    until_after(page, CALM)


def grab_point(page: Any, point: int) -> tuple[np.ndarray, float, float]:
    """Press where a point is seen, and again where it has swung away meanwhile; returns where it was, and was seen."""
    for _ in range(TRIES):
        _, rest = now(page, point)
        x, y = page.evaluate(f"suppleCanvas.seen({rest.tolist()})")
        page.mouse.move(x, y)
        page.mouse.down()
        with suppress(needed("playwright.sync_api").TimeoutError):
            until_pulls(page, 1, AGAIN)
            return rest, x, y
        page.mouse.up()
    pytest.fail("nothing is held")


@pytest.mark.parametrize("part", HELD)
def test_it_follows_the_pointer_and_comes_back(flower: Any, part: str) -> None:
    page, held = flower
    at_rest(page)
    point = held[part]
    rest, x, y = grab_point(page, point)
    aside = np.subtract(*(page.evaluate(f"suppleCanvas.ray({x + dx}, {y})")[3:6] for dx in (150, 0)))
    try:
        page.mouse.move(x + 150, y + 20, steps=6)
        until_after(page, now(page, point)[0] + 1.5)
        _, pulled = now(page, point)
    finally:
        page.mouse.up()
    way = (pulled - rest) @ aside / np.linalg.norm(aside)
    assert WAY < way < 0.25
    until_after(page, now(page, point)[0] + 2.0)
    back = (now(page, point)[1] - rest) @ aside / np.linalg.norm(aside)
    assert abs(back) < 0.75 * way  # it swings about its place
    assert button(page, "Pause").count()  # it has never stopped
