"""Bodies that are copies of each other are drawn together, and look as they do alone."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.canvas.browser import browser, new_page
from tests.canvas.test_page import fine_picture
from tests.trees.welds import welded_beams

import supple as sp
from supple.canvas import header
from supple.modal import ElasticSolid

Array = np.ndarray
BOXES = 30
CALLS = """(() => {
  window.calls = 0;
  const kind = WebGL2RenderingContext.prototype;
  for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) {
    const own = kind[name];
    kind[name] = function (...given) { window.calls += 1; return own.apply(this, given); };
  }
})();"""
"""Counts what is drawn."""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


def make_run() -> sp.Run:
    """Boxes of one size in two colours, two equal trees with seams, three floating rods, and a ball alone."""
    scene = sp.Scene(gravity=(0, 0, -9.81), name="copies")
    for k in range(BOXES):
        at = (0.15 * (k % 6), 0.15 * (k // 6), 0.1)
        box = sp.RigidBody.box((0.1, 0.1, 0.1), density=500)
        scene.add(box, at=at, spin=(k, 1, 0), name=f"box {k}", colour="#c2477f" if k % 2 else "#3f72b8")
    for k in range(2):
        tree = sp.TreeBody(welded_beams(3, 6), stiffness_damping=0.01)
        scene.add(tree, at=(0, -1 - 0.3 * k, 0.5), rotation=(0, 0, 0.4 * k), name=f"tree {k}")
    solid = ElasticSolid(sp.box_tets((0.6, 0.05, 0.05), (12, 1, 1)), sp.Material(1e6, 0.3, 1000))
    for k in range(3):
        scene.add(
            sp.FloatingBody.from_solid(solid, modes=4), at=(0, 1 + 0.2 * k, 0.5), spin=(0, 3 * k, 1), name=f"rod {k}"
        )
    scene.add(sp.RigidBody.sphere(0.1, density=500), at=(1.2, 0, 0.3), name="ball")
    return sp.run(scene, until=0.1, dt=0.01)


@pytest.fixture(scope="module")
def run() -> sp.Run:
    return make_run()


@pytest.fixture(scope="module")
def pages(run: sp.Run, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Of the run, and of the same with a model for each body."""
    folder, number, shared = tmp_path_factory.mktemp("pages"), itertools.count(), header._model_of
    together = sp.export(run, folder / "together.html")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(header, "_model_of", lambda *given: {**shared(*given), "own": next(number)})
        alone = sp.export(run, folder / "alone.html")
    return together, alone


TINTS = [
    "supple.canvas.tint('box 7', 'all', [255, 0, 0])",
    "supple.canvas.tint('tree 1', 'domain', [255, 0, 0, 0, 255, 0, 0, 0, 255])",
    "supple.canvas.tint('rod 2', 'point', Array.from({ length: 3000 }, (_, k) => (k * 13) % 256))",
    "supple.canvas.tint('box 8', 'all', [0, 255, 0])",
    "supple.canvas.tint('box 7', 'all', null)",
    "supple.canvas.setWire(true)",
]


def seen(chromium: Any, path: Path, frame: int) -> tuple[list[Array], int, int]:
    """Pictures, plain and after each of the tints; calls that draw one; triangles that are told."""
    with new_page(chromium, viewport={"width": 640, "height": 480}, offline=True, bypass_csp=True) as (view, wrong):
        view.context.add_init_script(CALLS)
        view.goto(path.as_uri())
        view.wait_for_function("window.supple !== undefined")
        view.evaluate(f"supple.show({frame})")
        pictures = [fine_picture(view)]
        view.evaluate("calls = 0")
        fine_picture(view)
        calls = view.evaluate("calls")
        for tint in TINTS:
            view.evaluate(tint)
            pictures.append(fine_picture(view))
        triangles = view.evaluate("supple.canvas.triangles")
    assert not wrong
    return pictures, calls, triangles


def test_the_picture_is_the_same_in_fewer_calls(chromium: Any, run: sp.Run, pages: tuple[Path, Path]) -> None:
    frame = len(run.frames.times) - 1
    (together, few, count), (alone, many, same) = (seen(chromium, path, frame) for path in pages)
    for one, other in zip(together, alone):
        assert np.array_equal(one, other)
    for before, after in itertools.pairwise(together):
        assert not np.array_equal(before, after)
    assert count == same
    kinds, bodies = 4, BOXES + 2 + 3 + 1
    assert few <= 2 * kinds + 3  # with the map of shadows, the ground
    assert many >= 2 * bodies


def test_each_is_where_its_points_are(chromium: Any, run: sp.Run, pages: tuple[Path, Path]) -> None:
    frame = len(run.frames.times) - 1
    with new_page(chromium, offline=True, bypass_csp=True) as (view, wrong):
        view.goto(pages[0].as_uri())
        view.wait_for_function("window.supple !== undefined")
        view.evaluate(f"supple.show({frame})")
        for body in ("box 0", f"box {BOXES - 1}", "tree 0", "tree 1", "rod 1", "ball"):
            x = run.frames.points(body, frame)
            found = view.evaluate(f"Array.from(supple.canvas.positions('{body}', [...Array({len(x)}).keys()]))")
            assert np.abs(np.reshape(found, (-1, 3)) - x).max() < 1e-4 * np.ptp(x, axis=0).max(), body
            extent = view.evaluate(f"supple.canvas.extent('{body}')")
            assert np.abs(np.array(extent["middle"]) - (x.min(axis=0) + x.max(axis=0)) / 2).max() < 0.1
    assert not wrong
