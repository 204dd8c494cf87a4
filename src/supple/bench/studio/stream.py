"""studio/stream: the studio in headless Chromium.

applied        updates a second that were received and handed to the graphics card
drawn          those that a picture was made of; the renderer is named, since software draws slowly. Where fine pictures
               are slow, coarse ones are drawn while something moves: these are seen, and fine ones are counted too
felt           from a pointer event in the page to the end of the first step that has its force
slow-down      of a simulation that runs as fast as it can, by three watchers that receive without drawing
"""

from __future__ import annotations

import asyncio
import http.client
import json
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from statistics import median
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from supple.bench.row import Row, at_least, at_most, measured
from supple.bench.studio.browser import WAIT, Studio, chromium, page_of, playing, studio
from supple.bench.studio.scenes import CELLS, STEPPED
from supple.errors import MissingExtraError, SuppleError

CASE = "studio/stream"
WINDOW = 4.0
"""Wall time of a count [s]."""
PRESSES, MOVES, ROUNDS, WATCHERS = 8, 5, 4, 3
TURNS = 3
"""In which ours and viser's are counted."""
POINTS = """
window.pointed = [];
for (const name of ["pointerdown", "pointerrawupdate"])
  addEventListener(name, ({ buttons, timeStamp }) => {
    if (buttons) window.pointed.push((performance.timeOrigin + timeStamp) / 1000);
  }, true);
"""
CAMERA = """(() => {
  const { position, matrixWorld, fov } = suppleCanvas.camera, e = matrixWorld.elements, at = position.toArray();
  return [at, at.map((value, k) => value - 2 * e[8 + k]), fov * Math.PI / 180];
})()"""
"""Where the camera is, a point that it looks at, and how wide it sees [rad]."""
VISER = """
import json, sys, time
import numpy as np, viser
from supple.geometry import box_hexes
from supple.bench.studio.scenes import CELLS
mesh = box_hexes(size=(1.0, 1.0, 0.02), cells=(CELLS, CELLS, 1)).boundary.surface
server = viser.ViserServer(port=int(sys.argv[1]), verbose=False)
X, shift = np.asarray(mesh.nodes - [0.5, 0.5, 0.0], dtype=np.float32), 0.0
handle = server.scene.add_mesh_simple("/sheet", X, np.asarray(mesh.triangles, dtype=np.uint32))
eye, aim, fov = map(np.array, json.loads(sys.argv[2]))

@server.on_client_connect
def look(client):
    client.camera.up_direction, client.camera.position, client.camera.look_at = np.array([0.0, 0, 1]), eye, aim
    client.camera.fov = float(fov)

print("ready", flush=True)
while True:
    shift += 0.5 / 64
    c, s = np.cos(shift), np.sin(shift)
    handle.vertices = (X @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]], dtype=np.float32)).astype(np.float32)
    time.sleep(1 / 64)
"""


def stream() -> list[Row]:
    """All of it."""
    if find_spec("viser") is None:
        raise MissingExtraError("bench", needed_for="studio/stream, beside viser,")
    with chromium() as browser:
        rows = [*of_sheet(browser), *of_oak(browser), *of_pulls(browser), *of_voxels(browser)]
    return [*rows, *of_watchers()]


def counted(page: Any) -> tuple[float, float, float]:
    """Updates a second that were applied, large ones that were drawn, and pictures, in a window of time."""
    told = "[suppleCanvas.applied, updatesDrawn, suppleCanvas.drawn, performance.now() / 1000]"
    before = np.array(page.evaluate(told))
    page.wait_for_timeout(1000 * WINDOW)
    applied, drawn, pictures, passed = np.array(page.evaluate(told)) - before
    return applied / passed, drawn / passed, pictures / passed


def frame_bytes(page: Any) -> int:
    """Of a frame, as the header tells."""
    return int(page.evaluate(
        "fetch('/header').then((a) => a.arrayBuffer()).then((b) => JSON.parse(new TextDecoder().decode("
        "new Uint8Array(b, 4, new DataView(b).getUint32(0, true)))).frame)"
    ))  # fmt: skip


def of_sheet(browser: Any) -> list[Row]:
    """Updates of 40,000 vertices, and beside them viser's, by turns."""
    name = f"{2 * (CELLS + 1) ** 2} vertices"
    with playing(browser, "sheet") as (_, page):
        applied, *_ = counted(page)
        renderer, seen = page.evaluate("suppleCanvas.renderer"), page.evaluate(CAMERA)
        coarse, fine, other = list[float](), list[float](), list[float]()
        with viser(seen) as (process, address):
            for _ in range(TURNS):
                for counts, may_be_coarse in ((coarse, "true"), (fine, "false")):
                    page.evaluate(f"suppleCanvas.setCoarse({may_be_coarse})")
                    counts.append(counted(page)[1])
                press(page, "Pause")
                process.send_signal(signal.SIGCONT)
                other.append(drawn_by(browser, address))
                process.send_signal(signal.SIGSTOP)
                press(page, "Play")
    over = [median(ours / theirs for ours, theirs in zip(counts, other)) for counts in (coarse, fine)]
    return [
        at_least(CASE, f"applied updates, {name}", applied, 60.0, unit="1/s", threads=1),
        measured(CASE, f"drawn updates, {name}, by {renderer}", median(coarse), unit="1/s", threads=1),
        measured(CASE, f"drawn updates in fine pictures alone, {name}", median(fine), unit="1/s", threads=1),
        measured(CASE, f"drawn updates of viser, {name}", median(other), unit="1/s", threads=1),
        at_least(CASE, "drawn updates over viser's", over[0], 1.5, unit="-", threads=1),
        measured(CASE, "drawn updates in fine pictures alone over viser's", over[1], unit="-", threads=1),
    ]


def press(page: Any, name: str) -> None:
    """A button of the studio, and wait until it has settled."""
    page.get_by_role("button", name=name, exact=True).click(timeout=WAIT)
    page.wait_for_timeout(1000)


@contextmanager
def viser(seen: Any) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """viser with the same mesh, seen from the same place: its process, which stands still, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", VISER, str(port), json.dumps(seen)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        if not any(line.strip() == "ready" for line in process.stdout):
            raise SuppleError("viser did not begin", where=CASE, fix="Run it alone to see why.")
        process.send_signal(signal.SIGSTOP)
        yield process, f"http://127.0.0.1:{port}"
    finally:
        process.kill()


def drawn_by(browser: Any, address: str) -> float:
    """Updates a second that a page at an address draws."""
    with page_of(browser, address) as page:
        page.wait_for_function("window.updatesDrawn > 5", timeout=WAIT)
        before = page.evaluate("[updatesDrawn, performance.now() / 1000]")
        page.wait_for_timeout(1000 * WINDOW)
        after = page.evaluate("[updatesDrawn, performance.now() / 1000]")
    return float((after[0] - before[0]) / (after[1] - before[1]))


def of_oak(browser: Any) -> list[Row]:
    """Updates of a large tree, and what they take of the network."""
    with playing(browser, "oak") as (_, page):
        applied, _, drawn = counted(page)
        size = frame_bytes(page)
    return [
        at_least(CASE, "applied updates, oak", applied, 60.0, unit="1/s", threads=1),
        measured(CASE, "pictures, oak", drawn, unit="1/s", threads=1),
        at_most(CASE, "received, oak", applied * size / 1e6, 3.0, unit="MB/s", threads=1),
    ]


def of_pulls(browser: Any) -> list[Row]:
    """How soon a pull is felt, the first touch included."""
    with playing(browser, "block", script=POINTS) as (found, page):
        page.evaluate("pointed.length = 0")  # the press on Play
        for press in range(PRESSES):
            x, y = page.evaluate("suppleCanvas.seen([0.35, 0.0, 0.05])")
            page.mouse.move(x, y)
            page.mouse.down()
            for k in range(MOVES):
                page.wait_for_timeout(120)
                page.mouse.move(x + 10 * np.sin(1 + k + press), y - 4 * k)
            page.wait_for_timeout(120)
            page.mouse.up()
            page.wait_for_timeout(400)
        pointed = page.evaluate("pointed")
        acted = [float(line.split()[-1]) for line in found.lines if line.startswith(STEPPED)]
    felt = [min((t - at for t in acted if t >= at), default=float("inf")) for at in pointed]
    return [
        at_most(CASE, "95 % of pulls are felt within", 1e3 * np.quantile(felt, 0.95), 50.0, unit="ms", threads=1),
        measured(CASE, "half of pulls are felt within", 1e3 * median(felt), unit="ms", threads=1),
        at_most(CASE, "the first touch is felt within", 1e3 * felt[0], 50.0, unit="ms", threads=1),
        at_least(CASE, f"presses and moves of {PRESSES} pulls", len(felt), PRESSES * (1 + MOVES), unit="-", threads=1),
    ]


def of_voxels(browser: Any) -> list[Row]:
    """Updates of 4,000 voxels with floor and self-contact while they are pulled."""
    with playing(browser, "voxels") as (_, page):
        x, y = page.evaluate("suppleCanvas.seen([0.1, 0.1, 0.095])")
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x, y - 60, steps=6)
        applied, _, drawn = counted(page)
        page.mouse.up()
    return [
        at_least(CASE, "applied updates, 4,000 voxels while pulled", applied, 30.0, unit="1/s", threads=1),
        measured(CASE, "pictures, 4,000 voxels while pulled", drawn, unit="1/s", threads=1),
    ]


def of_watchers() -> list[Row]:
    """What three watchers that do not draw cost a simulation that runs as fast as it can."""
    with studio("hurrying_oak") as found:
        alone, watched = asyncio.run(speeds(found))
    slower = 100 * (1 - median(watched) / median(alone))
    return [
        measured(CASE, "steps of the oak, nobody looks on", median(alone), unit="1/s", threads=1),
        at_most(CASE, f"slow-down by {WATCHERS} watchers", slower, 10.0, unit="%", threads=1),
    ]


async def speeds(found: Studio) -> tuple[list[float], list[float]]:
    """Steps a second without and with watchers, by turns."""
    import websockets

    parts = urlsplit(found.address)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request("GET", f"/?{parts.query}")
    cookie = (connection.getresponse().getheader("set-cookie") or "").split(";")[0]
    headers = {"Cookie": cookie, "Origin": f"http://{parts.netloc}"}

    async def get(stream: Any) -> int:
        await stream.send("next")
        while isinstance(message := await stream.recv(), str):
            pass  # a word of what is kept
        return int(struct.unpack_from("<IId", message)[1])

    async def watch() -> None:
        async with websockets.connect(f"ws://{parts.netloc}/frames", additional_headers=headers) as stream:
            while True:
                await get(stream)

    async with websockets.connect(f"ws://{parts.netloc}/frames", additional_headers=headers) as probe:
        await get(probe)
        alone: list[float] = []
        watched: list[float] = []
        for turn in range(2 * ROUNDS):
            watchers = [asyncio.create_task(watch()) for _ in range(WATCHERS * (turn % 2))]
            await asyncio.sleep(0.5)
            first, begun = await get(probe), time.perf_counter()
            await asyncio.sleep(WINDOW / 2)
            last, ended = await get(probe), time.perf_counter()
            (watched if turn % 2 else alone).append((last - first) / (ended - begun))
            for task in watchers:
                task.cancel()
            await asyncio.gather(*watchers, return_exceptions=True)
    return alone, watched


CASES = {CASE: stream}
