"""A run as a page: it plays in a browser from a file, offline, and the shader puts points where they are."""

from __future__ import annotations

import io
from base64 import b64decode
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.canvas.browser import browser, new_page, opened, until_drawn

import supple as sp
from supple.bodies.carried import carriage_of, carriers_of
from supple.bodies.tree import TreeBody
from supple.decompose import decompose
from supple.errors import InputError, MissingExtraError
from supple.examples import flower
from supple.exports import html
from supple.record.surfaces import make_surfaces

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
    """As it is seen."""
    from PIL import Image

    until_drawn(page)
    return np.asarray(Image.open(io.BytesIO(page.locator("main").screenshot())).convert("RGB"), dtype=float)


def fine_picture(page: Any) -> Array:
    """Drawn now, in full resolution."""
    from PIL import Image

    data = page.evaluate("supple.canvas.picture()").partition(",")[2]
    return np.asarray(Image.open(io.BytesIO(b64decode(data))).convert("RGB"), dtype=float)


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


def test_all_of_it_fills_the_picture(chromium: Any, page: Path, run: sp.Run) -> None:
    """The whole run at first; what is there now where one asks for it."""
    frames, last = run.frames, len(run.frames.times) - 1
    first, now = (np.concatenate([frames.points(body, k) for body in frames.body_names]) for k in (0, last))
    with opened(chromium, page) as view:
        assert 0.7 < share_seen(view, np.concatenate([first, now])) < 1
        view.evaluate(f"supple.show({last})")
        view.get_by_role("button", name="Fit").click()
        assert 0.7 < share_seen(view, now) < 1


def test_backs_that_are_not_drawn_are_not_seen(chromium: Any, page: Path, run: sp.Run) -> None:
    """Of closed surfaces: the picture is that of both sides."""
    materials = "supple.canvas.shapes.flatMap((shape) => shape.materials || [shape.material])"
    with opened(chromium, page) as view:
        view.evaluate(f"supple.show({len(run.frames.times) - 1})")
        view.get_by_role("button", name="Shadows").click()  # they are those of backs
        first = fine_picture(view)
        assert view.evaluate(f"{materials}.filter((material) => material.side === 0).length") >= 2
        view.evaluate(f"{materials}.forEach((material) => {{ material.side = 2; material.needsUpdate = true; }})")
        assert (np.abs(first - fine_picture(view)).max(axis=2) > 8).mean() < 1e-3  # seams of pixels


def test_a_domain_is_where_its_points_are(chromium: Any, tmp_path: Path) -> None:
    """Where others carry a point nearly alone, its place in a domain may be far outside of it."""
    scene = flower.make()
    system = scene.compile()
    run = sp.run(scene, until=1 / 60)
    shown = make_surfaces(system)[0].shown
    carriers = carriers_of(shown)
    assert carriers is not None
    assert carriers.weights is not None
    x = carriers.positions(carriage_of(shown, system.bodies[0].view_x(run.state.x)))
    share = np.ones(carriers.count)
    share[carriers.seams] = carriers.weights
    with opened(chromium, sp.export(run, tmp_path / "flower.html")) as view:
        view.evaluate(f"supple.show({len(run.frames.times) - 1})")
        centres = view.evaluate(
            f"Array.from({{ length: {len(carriers.kind)} }}, (_, d) => supple.canvas.shapes[0].centre(d, [0, 0, 0]))"
        )
    for d, centre in enumerate(centres):
        own = slice(carriers.starts[d], carriers.starts[d + 1])
        mine = x[own][share[own] > 0.3]
        assert (mine.min(axis=0) - 0.01 < centre).all(), d
        assert (centre < mine.max(axis=0) + 0.01).all(), d


def share_seen(view: Any, x: Array) -> float:
    """Which part of the picture points (n, 3) take, of its width or its height; more than one: some are outside."""
    seen = np.array(view.evaluate(f"{x.tolist()}.map((point) => supple.canvas.seen(point))"))
    place = view.locator("canvas").bounding_box()
    parts = (seen - [place["x"], place["y"]]) / [place["width"], place["height"]]
    return float(2 * np.abs(parts - 0.5).max())


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


def test_the_shader_puts_points_where_they_are(chromium: Any, page: Path, run: sp.Run) -> None:
    frame = len(run.frames.times) - 1
    with opened(chromium, page) as view:
        view.evaluate(f"supple.show({frame})")
        for body in ("cube", "ball", "branch"):
            x = run.frames.points(body, frame)
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
    still = sp.export(tmp_path / "run", tmp_path / "still.html", frames=[3])
    with opened(chromium, still) as view:
        assert view.get_by_role("button", name="Play").is_disabled()
        assert view.get_by_role("button", name="Fit").is_enabled()


def test_all_is_reached_by_keys(chromium: Any, page: Path, run: sp.Run) -> None:
    with opened(chromium, page) as view:
        view.evaluate("supple.show(0)")
        names = []
        for _ in range(9):
            view.keyboard.press("Tab")
            names.append(view.evaluate("document.activeElement.id || document.activeElement.tagName"))
        assert names[:9] == ["fit", "wire", "shadows", "theme", "CANVAS", "play", "scrub", "speed", "BODY"]
        view.locator("body").press("ArrowRight")
        assert view.evaluate("supple.canvas.frame.number") == 1
        canvas = view.locator("canvas")
        canvas.focus()
        before = view.evaluate("supple.canvas.camera.position.toArray()")
        canvas.press("ArrowLeft")
        canvas.press("+")
        after = view.evaluate("supple.canvas.camera.position.toArray()")
        assert np.linalg.norm(np.subtract(before, after)) > 0.05
        assert view.evaluate("supple.canvas.frame.number") == 1
        canvas.press(" ")
        view.wait_for_function("supple.canvas.frame.number > 2")
        assert view.get_by_role("button", name="Pause").is_visible()
        check_narrow(view)


def check_narrow(view: Any) -> None:
    """All controls are within a window as narrow as a telephone's."""
    view.set_viewport_size({"width": 320, "height": 560})
    assert view.evaluate("document.documentElement.scrollWidth") <= 320
    for control in view.locator("button, input, select").all():
        box = control.bounding_box()
        assert box["x"] >= 0
        assert box["x"] + box["width"] <= 320
    assert view.locator("main").bounding_box()["height"] > 300


def test_a_page_asks_nothing_of_a_network(chromium: Any, page: Path) -> None:
    """Under its own policy, which lets it load nothing but what it holds."""
    asked = list[str]()
    with new_page(chromium, offline=True) as (view, wrong):
        view.on("request", lambda request: asked.append(request.url))
        view.goto(page.as_uri())
        view.get_by_role("button", name="Pause").wait_for()
        assert "default-src 'none'" in view.locator("meta[http-equiv]").get_attribute("content")
    assert [url for url in asked if not url.startswith(("blob:", "data:"))] == [page.as_uri()]
    assert not wrong


def test_a_browser_without_webgl_2_is_told(chromium: Any, page: Path) -> None:
    with new_page(chromium, offline=True) as (view, _):
        view.context.add_init_script("HTMLCanvasElement.prototype.getContext = () => null;")
        view.goto(page.as_uri())
        view.get_by_text("This browser has no WebGL 2").wait_for()
        assert view.get_by_role("button", name="Play").is_disabled()


def test_a_page_for_another_page_has_one_button(chromium: Any, run: sp.Run, page: Path, tmp_path: Path) -> None:
    bare = sp.export(run, tmp_path / "bare.html", controls=False)
    outer = tmp_path / "outer.html"
    outer.write_text(f"<iframe src='{bare.as_uri()}' width=300 height=200></iframe>"
                     f"<iframe src='{page.as_uri()}#bare&dark' width=300 height=200></iframe>")  # fmt: skip
    with new_page(chromium, offline=True) as (view, wrong):
        view.goto(outer.as_uri())
        for number, is_dark in enumerate([False, True]):
            inner = view.frames[1 + number]
            inner.get_by_role("button", name="Pause").wait_for()
            assert [button.inner_text() for button in inner.get_by_role("button").all()] == ["Pause"]
            assert not inner.get_by_role("slider").count()
            assert (inner.locator("html").get_attribute("class") == "dark") == is_dark
    assert not wrong


def test_fewer_frames_a_second(run: sp.Run) -> None:
    times = run.frames.times
    chosen = html.choose_frames(times, fps=10)
    assert chosen[0] == 0
    assert chosen[-1] == len(times) - 1
    assert np.diff(times[chosen]).min() > 0.099
    assert html.choose_frames(times, [4, 2, 2]) == [2, 4]
    assert html.choose_frames(times, [4], fps=10) == [4]
    for wrong in (0, -1, float("nan"), "ten"):
        with pytest.raises(InputError, match="fps"):
            html.choose_frames(times, fps=wrong)  # type: ignore[arg-type]


def test_a_page_says_what_it_needs(run: sp.Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="has no option"):
        sp.export(run, tmp_path / "run.html", length=10)
    with pytest.raises(InputError, match="no frame to export"):
        sp.export(run, tmp_path / "run.html", frames=[])
    monkeypatch.setattr(html, "find_spec", lambda _: None)
    with pytest.raises(MissingExtraError, match="studio"):
        sp.export(run, tmp_path / "run.html")
