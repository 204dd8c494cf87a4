"""Open another scene, a file and a recent run as a person does; the simulation before it leaves nothing behind."""

from __future__ import annotations

import http.client
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.canvas.browser import new_page
from tests.studio.process import READY, Studio, is_alive, own_cache, shared_memory, wait_for
from tests.studio.watching import button, until_after

from supple.studio.shelf.shelf import THUMBNAILS

pytest.importorskip("nicegui")
SIZE = {"width": 1000, "height": 700}
BALL = """
supple = 1
name = "{name}"
gravity = [0, 0, -1]

[[bodies]]
name = "ball"
kind = "rigid"
sphere = {{ radius = 0.1 }}
density = 500
"""


def test_each_built_in_scene_has_a_small_picture() -> None:
    from supple.examples import registry

    found = {path.stem for path in THUMBNAILS.glob("*.webp")}
    assert found == set(registry())
    assert sum(path.stat().st_size for path in THUMBNAILS.glob("*")) < 300_000


@pytest.fixture(scope="module")
def opened(chromium: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Studio, Any, list[str]]]:
    """A studio that begins with nothing, with a list of recent runs of its own, and what goes wrong in its page."""
    folder = tmp_path_factory.mktemp("opening")
    with (
        Studio(None, "--out", str(folder / "out"), SUPPLE_CACHE=own_cache(folder / "cache")) as studio,
        new_page(chromium, viewport=SIZE) as (page, wrong),
    ):
        page.goto(studio.address)
        page.get_by_role("dialog", name="Open").wait_for()  # by itself: there is no scene
        yield studio, page, wrong


def choose(page: Any, *files: Path) -> None:
    """Files, in the dialog."""
    if not page.get_by_role("dialog", name="Open").is_visible():
        button(page, "Open").click()
    mark_as_old(page)
    page.get_by_label("Scene file, with the meshes that it names").set_input_files([str(file) for file in files])


def mark_as_old(page: Any) -> None:
    """What is seen before another scene is opened."""
    page.evaluate("window.oldCanvas = window.suppleCanvas, null")


def until_seen(page: Any, name: str) -> None:
    page.get_by_role("heading", name=name, exact=True).wait_for()
    page.wait_for_function("window.suppleCanvas && suppleCanvas !== window.oldCanvas && suppleCanvas.applied > 0")
    page.wait_for_function("suppleCanvas.frame.time === 0")
    page.wait_for_function("document.querySelectorAll('button:not([disabled])').length > 8")


@pytest.mark.slow
def test_scenes_files_and_runs_are_opened(opened: tuple[Studio, Any, list[str]], tmp_path: Path) -> None:
    studio, page, wrong = opened
    dialog = page.get_by_role("dialog", name="Open")
    dialog.wait_for()  # by itself: there is no scene
    page.get_by_text("Open a scene to begin.").wait_for(state="attached")
    assert dialog.get_by_role("button").count() >= 19
    mark_as_old(page)
    dialog.get_by_role("button", name="rigid-on-springs", exact=True).click()
    until_seen(page, "rigid-on-springs")
    dialog.wait_for(state="hidden")
    assert "plate" in " ".join(page.evaluate("suppleCanvas.names"))
    button(page, "Play").click()
    until_after(page, 0.2)
    button(page, "Pause").click()
    before = studio.children()
    memory = set().union(*(shared_memory(pid) for pid in before))

    (tmp_path / "ball.toml").write_text(BALL.format(name="ball"))
    choose(page, tmp_path / "ball.toml")
    until_seen(page, "ball.toml")
    page.wait_for_function("suppleCanvas.names[0] === 'ball'")
    now = set().union(*(shared_memory(pid) for pid in studio.children()))
    assert memory
    assert not any(Path(name).exists() for name in memory - now)
    assert sum(is_alive(pid) and bool(shared_memory(pid)) for pid in studio.children()) == 1

    page.get_by_role("button", name="Open", exact=True).click()
    dialog.get_by_text("rigid-on-springs, 20").first.wait_for()  # the run that was kept
    with page.context.expect_page() as played:
        dialog.get_by_role("link", name="Play rigid-on-springs").first.click()
    played.value.locator("canvas").first.wait_for()
    played.value.close()
    mark_as_old(page)
    dialog.get_by_role("button", name="Run rigid-on-springs again").first.click()
    until_seen(page, "rigid-on-springs")
    assert not wrong


@pytest.mark.slow
def test_what_cannot_be_opened_is_told_and_another_can(opened: tuple[Studio, Any, list[str]], tmp_path: Path) -> None:
    _, page, wrong = opened
    (tmp_path / "broken.toml").write_text("supple = 1\n[[bodies]]\nkind = 'ghost'\n")
    (tmp_path / "evil.py").write_text("raise SystemExit")
    (tmp_path / "good.toml").write_text(BALL.format(name="good"))
    choose(page, tmp_path / "evil.py")
    page.get_by_role("status", name="Upload").filter(has_text="Python files are not taken").wait_for()
    choose(page, tmp_path / "good.toml")
    until_seen(page, "good.toml")
    choose(page, tmp_path / "broken.toml")
    told = page.get_by_role("alert").filter(has_text="broken.toml cannot be opened")
    told.wait_for()
    assert page.get_by_role("dialog").count() == 1
    wait_for(lambda: 0 < told.bounding_box()["y"] < 300, READY)  # the dialog comes in, with it at its top
    page.get_by_role("button", name="Close", exact=True).click()
    page.get_by_role("heading", name="good.toml", exact=True).wait_for()  # what was there before is there
    page.get_by_role("button", name="Step", exact=True).click()
    page.wait_for_function("suppleCanvas.names[0] === 'ball' && suppleCanvas.frame.time > 0")
    (tmp_path / "other.toml").write_text(BALL.format(name="other"))
    choose(page, tmp_path / "other.toml")
    until_seen(page, "other.toml")
    assert not [text for text in wrong if "400" not in text]  # the browser notes the refusal
    wrong.clear()


@pytest.mark.slow
def test_a_first_file_that_cannot_be_opened_is_told_and_the_studio_goes_on(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("supple = 1\n[[bodies]]\nkind = 'ghost'\n")
    (tmp_path / "good.toml").write_text(BALL.format(name="good"))
    with Studio(None) as studio, new_page(chromium, viewport=SIZE) as (page, wrong):
        page.goto(studio.address)
        page.get_by_role("dialog", name="Open").wait_for()  # by itself: there is no scene
        choose(page, tmp_path / "broken.toml")
        page.get_by_role("alert").filter(has_text="unknown kind (got 'ghost'").wait_for()
        page.wait_for_timeout(1000)
        choose(page, tmp_path / "good.toml")
        until_seen(page, "good.toml")
        assert not wrong
        assert studio.process.poll() is None


@pytest.mark.slow
def test_an_upload_is_counted_on_the_server(opened: tuple[Studio, Any, list[str]]) -> None:
    """Whatever its sender says of its length, or does not say."""
    studio, *_ = opened
    cookie = studio.cookie()
    name, port = studio.host.split(":")
    connection = http.client.HTTPConnection(name, int(port), timeout=60)
    connection.putrequest("POST", "/upload?name=a.toml")
    connection.putheader("cookie", cookie)
    connection.putheader("transfer-encoding", "chunked")
    connection.endheaders()
    part = bytes(1 << 20)
    for _ in range(80):
        connection.send(b"%x\r\n" % len(part) + part + b"\r\n")
    connection.send(b"0\r\n\r\n")
    assert connection.getresponse().status == 413
    connection.close()
    status, _, text = studio.get("/upload?name=a.toml", "POST", cookie=cookie, **{"content-length": str(1 << 40)})
    assert status == 413
    assert "too large" in text
    assert studio.get("/upload?name=../a.toml", "POST", cookie=cookie)[0] == 400
    assert studio.get("/upload?name=a.toml", "POST")[0] == 403
    assert studio.get("/upload?name=a.toml", "POST", cookie=cookie, origin="http://evil.example")[0] == 403
    assert studio.get("/thumbnails/..%2f..%2fpage.py", cookie=cookie)[0] == 404
    assert studio.get("/", cookie=cookie)[0] == 200  # and all goes on
    assert studio.process.poll() is None
