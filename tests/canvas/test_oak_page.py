"""The whole oak as a page: 1,435 domains, 540,000 vertices, placed by the shader where Python has them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.canvas.browser import browser, opened

import supple as sp
from supple.examples.oak import HEIGHT, make

LOOKED = 1000


@pytest.mark.slow
def test_the_shader_puts_the_oak_where_it_is(tmp_path: Path) -> None:
    numbers, places = np.zeros(0, dtype=int), []

    def look(frame: Any) -> None:
        nonlocal numbers
        slot = frame.system.body("oak")
        skin = slot.body.render_surface().skin
        if not len(numbers):
            numbers = np.sort(np.random.default_rng(8).choice(skin.count, LOOKED, replace=False))
        places.append(skin.positions(slot.view_x(frame.state.x))[numbers])

    sp.run(make(), until=0.6, record_every=0.1, out=tmp_path / "run", observers=[look])
    page = sp.export(tmp_path / "run", tmp_path / "oak.html")
    moved = np.linalg.norm(places[-1] - places[0], axis=1)
    assert moved.max() > 0.05 * HEIGHT
    with browser() as chromium, opened(chromium, page) as view:
        for frame, x in enumerate(places):
            view.evaluate(f"supple.show({frame})")
            found = view.evaluate(f"Array.from(supple.canvas.positions('oak', {numbers.tolist()}))")
            assert np.abs(np.reshape(found, (-1, 3)) - x).max() < 1e-4 * HEIGHT
