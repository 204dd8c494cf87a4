"""A studio with two bodies that fall, and a page of it in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.canvas.browser import browser
from tests.studio.process import Studio
from tests.studio.watching import watching

SCENE = """
import supple as sp

scene = sp.Scene(gravity=(0, 0, -9.81), name="falling")
rubber = sp.Material(1e5, 0.3, 1000)
scene.add(sp.FemBody(sp.box_tets(size=(0.1, 0.1, 0.1), cells=(2, 2, 2)), rubber), at=(0, 0, 1.0), name="cube")
scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0.3, 0, 1.0), name="ball")
"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    path = tmp_path / "falling.py"
    path.write_text(SCENE)
    return path


@pytest.fixture
def studio(scene: Path) -> Iterator[Studio]:
    with Studio(scene) as found:
        yield found


@pytest.fixture
def page(studio: Studio, chromium: Any) -> Iterator[Any]:
    with watching(chromium, studio.address) as found:
        yield found
