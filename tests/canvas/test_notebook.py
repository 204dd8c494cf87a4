"""Scenes and runs in a notebook: what they tell IPython, and the widget in a page that does what anywidget does."""

from __future__ import annotations

import subprocess
import sys
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from tests.canvas.browser import browser, new_page

import supple as sp
import supple.notebook
from supple.errors import InputError, MissingExtraError

pytest.importorskip("anywidget")
pytest.importorskip("nicegui")
VIEW = "application/vnd.jupyter.widget-view+json"
HOST = """async ({ esm, bytes, plain }) => {
  const unpacked = ([name, text]) => [name, new DataView(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer)];
  const state = { ...plain, ...Object.fromEntries(Object.entries(bytes).map(unpacked)) };
  const model = { get: (name) => state[name], on() {}, off() {}, send() {}, set() {}, save_changes() {} };
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const { default: widget } = await import(url), el = document.getElementById("cell");
  window.close_widget = await widget.render({ model, el });
  window.canvas = el.suppleCanvas;
}"""


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as found:
        yield found


@pytest.fixture(scope="module")
def scene() -> sp.Scene:
    made = sp.Scene(gravity=(0, 0, -9.81), name="two")
    rubber = sp.Material(1e5, 0.3, 1000)
    cube = sp.FemBody(sp.box_tets(size=(0.1, 0.1, 0.1), cells=(2, 2, 2)), rubber)
    made.add(cube, at=(0, 0, 0.3), name="cube")
    made.add(sp.RigidBody.sphere(0.05, density=500), at=(0.3, 0, 0.3), name="ball")
    return made


@pytest.fixture(scope="module")
def run(scene: sp.Scene) -> Any:
    return sp.run(scene, until=0.2)


@contextmanager
def notebook(chromium: Any, shown: Any) -> Iterator[Any]:
    """A page without a network in which a widget is shown; what goes wrong in it is a failure."""
    state = supple.notebook.show(shown, height=300).get_state()
    bytes_ = {name: b64encode(value).decode() for name, value in state.items() if isinstance(value, bytes)}
    plain = {name: state[name] for name in ("header", "times", "height")}
    with new_page(chromium, viewport={"width": 480, "height": 400}, offline=True) as (page, wrong):
        page.on("request", lambda asked: wrong.append(asked.url) if asked.url.startswith("http") else None)
        page.set_content('<div id="cell"></div>')
        page.evaluate(HOST, {"esm": state["_esm"], "bytes": bytes_, "plain": plain})
        yield page
    assert not wrong


def positions(page: Any, body: str, count: int) -> np.ndarray:
    found = page.evaluate(f"Array.from(canvas.positions('{body}', [...Array({count}).keys()]))")
    return np.reshape(found, (-1, 3))


@pytest.mark.parametrize("which", ["scene", "run"])
def test_they_show_themselves(which: str, request: pytest.FixtureRequest) -> None:
    shown = request.getfixturevalue(which)
    data, _ = shown._repr_mimebundle_(include=None, exclude=None)
    assert data[VIEW]["model_id"]
    assert data["text/plain"] == repr(shown)


def test_without_the_extra_they_are_text(scene: sp.Scene, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supple.notebook, "find_spec", lambda name: None)
    assert scene._repr_mimebundle_() is None
    with pytest.raises(MissingExtraError, match=r"supple\[notebook\]"):
        supple.notebook.show(scene)


def test_what_cannot_be_drawn_is_text() -> None:
    empty = sp.Scene()
    assert empty._repr_mimebundle_() is None
    with pytest.raises(InputError, match="no body"):
        supple.notebook.show(empty)
    with pytest.raises(InputError, match="a Scene or a Run"):
        supple.notebook.show("scene.toml")  # type: ignore[arg-type]


def test_ipython_shows_the_widget(scene: sp.Scene) -> None:
    formatters = pytest.importorskip("IPython.core.formatters")
    data, _ = formatters.DisplayFormatter().format(scene)
    assert VIEW in data


def test_a_scene_is_drawn_as_it_begins(chromium: Any, scene: sp.Scene) -> None:
    system = scene.compile()
    state = system.initial_state()
    with notebook(chromium, scene) as page:
        x = positions(page, "cube", 26)
        assert x.min(axis=0) == pytest.approx((-0.05, -0.05, 0.25), abs=0.11)
        nodes = system.bodies[0].view_x(state.x).reshape(-1, 3)
        assert all(np.abs(nodes - place).max(axis=1).min() < 1e-4 for place in x)
        assert page.get_by_role("button").count() == 0
        assert page.evaluate("canvas.applied") == 1


def test_a_run_is_played(chromium: Any, run: Any) -> None:
    last = len(run.frames.times) - 1
    with notebook(chromium, run) as page:
        page.get_by_role("button", name="Pause").click()
        moment = page.get_by_role("slider", name="Moment")
        moment.focus()
        moment.press("End")
        assert page.evaluate("canvas.frame.time") == pytest.approx(run.frames.times[last])
        for body in ("cube", "ball"):
            x = run.frames.points(body, last)
            assert np.abs(positions(page, body, len(x)) - x).max() < 1e-4 * np.ptp(x, axis=0).max()
        page.get_by_role("button", name="Play").click()
        page.wait_for_function(f"canvas.frame.number > 1 && canvas.frame.number < {last}")
        page.evaluate("close_widget()")
        assert page.locator("canvas").count() == 0


def test_a_long_run_is_thinned(run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from supple.notebook import film

    whole = film.film_of_run(run, 1000.0)
    assert len(film.film_of_run(run, 20.0).times) == pytest.approx(0.2 * 20 + 1, abs=1)
    monkeypatch.setattr(film, "LARGEST", len(whole.frames) // 3)
    thin = film.film_of_run(run, 1000.0)
    assert len(thin.frames) <= len(whole.frames) // 3
    assert set(thin.times) < set(whole.times)


def test_nothing_of_it_is_imported_before() -> None:
    loaded = "{'anywidget', 'IPython', 'nicegui', 'supple.notebook'} & set(sys.modules)"
    subprocess.run(
        [sys.executable, "-c", f"import sys, supple; supple.Scene, supple.run; assert not {loaded}"], check=True
    )
