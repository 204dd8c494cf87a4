"""A run as a page: it plays in a browser from a file, offline, and the shader puts points where they are."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.canvas.browser import browser, opened

import supple as sp
from supple.bodies.tree import TreeBody
from supple.decompose import decompose
from supple.errors import InputError, MissingExtraError
from supple.exports import html

Array = np.ndarray


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def run() -> sp.Run:
    """A soft cube and a rigid ball fall beside a post on which a tree hangs, over a floor."""
    scene = sp.Scene(gravity=(0, 0, -9.81), name="three <kinds>")
    rubber = sp.Material(1e5, 0.3, 1000)
    cube = sp.FemBody(sp.box_tets(size=(0.1, 0.1, 0.1), cells=(2, 2, 2)), rubber)
    scene.add(cube, at=(0, 0, 0.3), name="cube")
    scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0.3, 0, 0.3), name="ball")
    mesh = sp.box_tets(size=(0.4, 0.05, 0.05), cells=(8, 1, 1))
    labels = (mesh.nodes[mesh.elements].mean(axis=1)[:, 0] // 0.2).astype(int)
    held = np.flatnonzero(mesh.nodes[:, 0] < 1e-9)
    tree = decompose(mesh, labels, material=sp.Material(1e6, 0.3, 1000), modes=8, fixed=held)
    scene.add(TreeBody(tree, stiffness_damping=0.01), at=(0, 0.3, 0.4), name="branch")
    scene.add(sp.Floor())
    return sp.run(scene, until=0.2)


@pytest.fixture(scope="module")
def page(run: sp.Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return sp.export(run, tmp_path_factory.mktemp("page") / "run.html")


def picture(page: Any) -> Array:
    from PIL import Image

    page.wait_for_timeout(400)  # a picture is drawn at the browser's next chance
    return np.asarray(Image.open(io.BytesIO(page.locator("main").screenshot())).convert("RGB"), dtype=float)


def test_the_page_shows_the_bodies_and_moves(chromium: Any, page: Path, run: sp.Run) -> None:
    with opened(chromium, page) as view:
        assert view.get_by_role("heading").inner_text() == "three <kinds>"
        view.evaluate("supple.show(0)")
        first = picture(view)
        moment = view.get_by_role("slider", name="Moment")
        moment.focus()
        moment.press("End")
        last = picture(view)
        assert view.evaluate("supple.canvas.frame.number") == len(run.frames.times) - 1
        assert view.evaluate("supple.canvas.frame.time") == pytest.approx(0.2)
        assert (np.abs(first - last).max(axis=2) > 30).mean() > 0.005
        assert len(np.unique(first.reshape(-1, 3), axis=0)) > 50  # bodies, shadows and a grid, not one colour


def test_play_and_pause(chromium: Any, page: Path) -> None:
    with opened(chromium, page) as view:
        view.evaluate("supple.show(0)")
        view.get_by_role("button", name="Play").click()
        view.wait_for_function("supple.canvas.frame.number > 1")
        view.get_by_role("button", name="Pause").click()
        at = view.evaluate("supple.canvas.frame.number")
        view.wait_for_timeout(300)
        assert view.evaluate("supple.canvas.frame.number") == at
        view.get_by_role("button", name="Dark").click()
        assert view.get_by_role("button", name="Dark").get_attribute("aria-pressed") == "true"
        assert picture(view)[:40].mean() < 100


@pytest.mark.parametrize("body", ["cube", "ball", "branch"])
def test_the_shader_puts_points_where_they_are(chromium: Any, page: Path, run: sp.Run, body: str) -> None:
    frame = len(run.frames.times) - 1
    x = run.frames.points(body, frame)
    with opened(chromium, page) as view:
        view.evaluate(f"supple.show({frame})")
        found = view.evaluate(f"Array.from(supple.canvas.positions('{body}', [...Array({len(x)}).keys()]))")
    assert np.abs(np.reshape(found, (-1, 3)) - x).max() < 1e-4 * np.ptp(x, axis=0).max()


def test_the_same_page_of_a_record(chromium: Any, tmp_path: Path) -> None:
    scene = sp.Scene(gravity=(0, 0, -9.81))
    scene.add(sp.RigidBody.box((0.1, 0.2, 0.3), density=500), spin=(1, 2, 3), name="box")
    sp.run(scene, until=0.5, out=tmp_path / "run")
    path = sp.export(tmp_path / "run", tmp_path / "run.html", frames=[0, 5, 10])
    with opened(chromium, path) as view:
        assert view.evaluate("supple.times.length") == 3
        view.evaluate("supple.show(2)")
        assert view.evaluate("supple.canvas.frame.number") == 2


def test_a_page_says_what_it_needs(run: sp.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="has no option"):
        sp.export(run, tmp_path / "run.html", fps=10)
    monkeypatch.setattr(html, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="studio"):
        sp.export(run, tmp_path / "run.html")
