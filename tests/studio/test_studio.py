"""The studio as a person uses it: `supple view` as a process, a real browser, tools found by role and name."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.canvas.browser import browser

pytest.importorskip("nicegui")
pytestmark = pytest.mark.slow
SCENE = """
import supple as sp

scene = sp.Scene(gravity=(0, 0, -9.81), name="falling")
rubber = sp.Material(1e5, 0.3, 1000)
scene.add(sp.FemBody(sp.box_tets(size=(0.1, 0.1, 0.1), cells=(2, 2, 2)), rubber), at=(0, 0, 1.0), name="cube")
scene.add(sp.RigidBody.sphere(0.05, density=500), at=(0.3, 0, 1.0), name="ball")
"""
WAIT = 120_000  # [ms]


class Studio:
    """A process, and the address that it prints."""

    def __init__(self, scene: Path) -> None:
        command = [sys.executable, "-m", "supple", "view", str(scene), "--no-browser"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line)
            if found := re.search(r"http\S+", line):
                self.address = found[0]
                return
        pytest.fail("".join(lines))

    def children(self) -> list[int]:
        found = subprocess.run(["pgrep", "-P", str(self.process.pid)], capture_output=True, text=True, check=False)
        return [int(pid) for pid in found.stdout.split()]

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.process.kill()


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
    found = Studio(scene)
    yield found
    found.end()


@pytest.fixture
def page(studio: Studio, chromium: Any) -> Iterator[Any]:
    context = chromium.new_context(viewport={"width": 640, "height": 480})
    found, wrong = context.new_page(), []
    found.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    found.on("pageerror", lambda error: wrong.append(str(error)))
    found.goto(studio.address)
    found.wait_for_function("window.suppleCanvas && suppleCanvas.applied > 0", timeout=WAIT)
    yield found
    assert not wrong
    context.close()


def time_of(page: Any) -> float:
    return float(page.evaluate("suppleCanvas.frame.time"))


def height_of(page: Any, body: str) -> float:
    return float(page.evaluate(f"suppleCanvas.positions('{body}', [0])[2]"))


def wait_until_after(page: Any, time: float) -> None:
    page.wait_for_function(f"suppleCanvas.frame.time > {time}", timeout=WAIT)


def test_a_scene_is_played_stopped_stepped_and_begun_anew(page: Any) -> None:
    assert "token" not in page.url
    assert time_of(page) == 0.0
    start = height_of(page, "ball")
    page.get_by_role("button", name="Play").click()
    wait_until_after(page, 0.2)
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for(timeout=WAIT)
    page.wait_for_timeout(500)
    t = time_of(page)
    page.wait_for_timeout(500)
    assert time_of(page) == t
    # the ball has fallen freely, up to the order of the step
    assert height_of(page, "ball") - start == pytest.approx(-9.81 / 2 * t * t, rel=0.1)
    page.get_by_role("button", name="Step").click()
    wait_until_after(page, t)
    assert time_of(page) < t + 0.05
    page.get_by_role("button", name="Reset").click()
    page.wait_for_function("suppleCanvas.frame.time === 0", timeout=WAIT)
    assert height_of(page, "ball") == pytest.approx(start, abs=1e-4)
    page.get_by_role("status", name="State").filter(has_text="t = 0.00 s, paused").wait_for(timeout=WAIT)


def test_a_body_is_pulled_and_let_go(page: Any) -> None:
    """The ball hangs on the pointer while the cube falls, and falls when it is let go."""
    page.get_by_role("button", name="Reset").click()  # when the buttons are enabled
    start = height_of(page, "ball")
    x, y = page.evaluate("suppleCanvas.seen([0.3, 0, 1.0])")
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 120, steps=5)
    # the pointer holds the ball, so that the button is pressed without it
    page.evaluate("document.querySelectorAll('button').forEach((b) => b.textContent.trim() === 'Play' && b.click())")
    wait_until_after(page, 1.0)
    assert height_of(page, "ball") > start + 0.02
    assert height_of(page, "cube") < start - 1.0
    page.mouse.up()
    t = time_of(page)
    wait_until_after(page, t + 1.0)
    assert height_of(page, "ball") < start - 1.0


def test_nobody_else_is_let_in(studio: Studio) -> None:
    bare = studio.address.split("?")[0]
    for address in (bare, f"{bare}header", f"{bare}?token=guess"):
        with pytest.raises(urllib.error.HTTPError) as error:
            urllib.request.urlopen(address)
        assert error.value.code == 403
    other = urllib.request.Request(studio.address, headers={"Origin": "http://evil.example"})
    with pytest.raises(urllib.error.HTTPError):
        urllib.request.urlopen(other)


@pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="looks at processes as Linux shows them")
def test_a_killed_server_leaves_nothing_behind(studio: Studio) -> None:
    deadline, made, simulation = time.monotonic() + 60, set[str](), list[int]()
    while not made and time.monotonic() < deadline:  # until the ring is there
        time.sleep(0.2)
        simulation = studio.children()
        made = {name for pid in simulation for name in shared_memory(pid)}
    assert made
    studio.process.kill()
    deadline = time.monotonic() + 20
    while any(_is_alive(pid) for pid in simulation) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert not any(_is_alive(pid) for pid in simulation)
    assert not [name for name in made if Path(name).exists()]


def shared_memory(pid: int) -> set[str]:
    """Files of shared memory that a process has open."""
    try:
        return set(re.findall(r"/dev/shm/psm_\w+", Path(f"/proc/{pid}/maps").read_text()))
    except OSError:
        return set()


def test_a_port_that_is_taken_is_refused(studio: Studio, scene: Path) -> None:
    port = re.search(r":(\d+)/", studio.address)
    assert port is not None
    command = [sys.executable, "-m", "supple", "view", str(scene), "--no-browser", "--port", port[1]]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode != 0
    assert "cannot listen there" in found.stderr + found.stdout


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z" if Path("/proc").is_dir() else True
