"""start/view: `supple view flower` with an empty cache of kernels, until the flower follows a pointer in Chromium.

The clock begins with the command. A person then opens the page, presses Play and drags the flower's head; here a
browser without a screen does.
"""

from __future__ import annotations

import os
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import numpy as np

from supple.algebra.compiling.ahead import process_count
from supple.bench.row import Row, at_most, measured
from supple.bench.studio.browser import WAIT, chromium, page_of, started
from supple.errors import SuppleError

Array = np.ndarray
VIEW = "start/view"
SCENE = "flower"
LIMIT = 180.0
"""From the command to the flower that is pulled [s]."""
ASIDE, WAY = 150, 0.02
"""How far the pointer goes [pixels], and a point of the flower at least [m]."""
POINTS = 500
"""How many of its points are looked at."""


def view() -> list[Row]:
    """The studio's first minute."""
    with TemporaryDirectory() as folder, chromium() as browser:
        environment = {**os.environ, "SUPPLE_CACHE": str(Path(folder) / "cache")}
        begin = perf_counter()
        with started(["-m", "supple", "view", SCENE, "--no-browser"], environment) as studio:
            addressed = perf_counter() - begin
            with page_of(browser, studio.address) as page:
                page.wait_for_function("window.suppleCanvas && suppleCanvas.applied > 0", timeout=WAIT)
                seen = perf_counter() - begin
                page.get_by_role("button", name="Play", exact=True).click(timeout=WAIT)
                page.wait_for_function("suppleCanvas.frame.time > 0.1", timeout=WAIT)
                pull(page)
                pulled = perf_counter() - begin
    cores = process_count()
    return [
        measured(VIEW, "the page's address", addressed, unit="s", threads=cores),
        measured(VIEW, "first picture", seen, unit="s", threads=cores),
        at_most(VIEW, "pulled", pulled, LIMIT, unit="s", threads=cores),
    ]


def pull(page: Any) -> None:
    """Drag the head aside and wait until points of the flower have followed."""
    before, (x, y) = places(page), head(page)
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + ASIDE, y, steps=6)
    for _ in range(WAIT // 100):
        if np.linalg.norm(places(page) - before, axis=1).max() > WAY:
            page.mouse.up()
            return
        page.wait_for_timeout(100)
    raise SuppleError("the flower did not follow the pointer", where=VIEW)


def places(page: Any) -> Array:
    """Where some points of the flower are, (POINTS, 3) [m]."""
    found = page.evaluate(f"[...suppleCanvas.positions('{SCENE}', [...Array({POINTS}).keys()])]")
    return np.reshape(found, (-1, 3))


def head(page: Any) -> tuple[float, float]:
    """A pixel of the flower, high above its middle."""
    extent = page.evaluate(f"suppleCanvas.extent('{SCENE}')")
    for part in (0.45, 0.42, 0.38, 0.3, 0.2, 0.0):
        top = np.add(extent["middle"], (0, 0, part * extent["size"][2]))
        x, y = page.evaluate(f"suppleCanvas.seen({top.tolist()})")
        for aside in sorted(range(-80, 81, 4), key=abs):
            if page.evaluate(f"suppleCanvas.hits({x + aside}, {y})"):
                return x + aside, y
    raise SuppleError("the flower is not in the picture", where=VIEW)


CASES = {VIEW: view}
