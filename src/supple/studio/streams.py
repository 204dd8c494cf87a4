"""What the page fetches: the header, and frames by a binary socket.

A watcher has one credit: it asks for a frame when it has drawn the last one, and gets the newest. The simulation knows
nothing of this. A watcher who looks back asks for the frame of a time instead, and is told what is kept.
"""

import asyncio
import contextlib
import itertools
import json
import math
import struct
from dataclasses import dataclass, field

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from fastapi.responses import Response

from supple.studio.running_scene import RunningScene

LOOK = 2e-3
"""Wall time between looks for a newer frame [s]."""
TELL = 0.2
"""Wall time between words of what is kept [s]."""
COMMANDS = ("grab", "drag", "release")
POINTER = struct.Struct("<II9f")
numbers = itertools.count(1)
"""Of watchers."""
ANOTHER_SCENE = 4001
"""The code with which the socket closes where another scene was opened: its header must be fetched."""
NOT_YET = 202
"""The answer where the simulation is not ready, with a word why it never will be, or none."""


@dataclass
class Credit:
    """What a watcher has asked for. at: the time [s] that he looks back to; None: the newest."""

    given: asyncio.Event = field(default_factory=asyncio.Event)
    at: float | None = None

    def ask(self, text: str) -> None:
        """next, or at and a time; what is not understood is left."""
        word, _, given = text[:64].partition(" ")
        at = None
        if word == "at":
            try:
                at = float(given)
            except ValueError:
                return
            if not math.isfinite(at):
                return
        self.at = at
        self.given.set()


def add_streams(app: FastAPI, running: RunningScene) -> None:
    """The header at /header: length of its JSON (u4), the JSON, its bytes; frames of its scene at the socket
    /frames?scene=NUMBER, which x-scene of the header tells."""

    @app.get("/header")
    async def header() -> Response:
        if running.header is None:
            return Response(running.word, status_code=NOT_YET, media_type="text/plain")
        scene, told, data = running.number, running.header, running.data
        about = json.dumps(told).encode()
        about += b" " * (-len(about) % 4)
        return Response(
            struct.pack("<I", len(about)) + about + data,
            media_type="application/octet-stream",
            headers={"cache-control": "no-store", "x-scene": str(scene)},
        )

    @app.websocket("/frames")
    async def frames(stream: WebSocket, scene: int | None = None) -> None:
        await stream.accept()
        watcher, credit = next(numbers), Credit()
        sending = [asyncio.create_task(task) for task in
                   (send_frames(stream, running, credit, scene), tell_kept(stream, running))]  # fmt: skip
        try:
            while (message := await stream.receive())["type"] == "websocket.receive":
                if message.get("bytes") is not None:
                    obey(running, watcher, message["bytes"])
                else:
                    credit.ask(message.get("text") or "")
        finally:
            for task in sending:
                task.cancel()
            running.tell("release", (watcher,))


async def send_frames(stream: WebSocket, running: RunningScene, credit: Credit, scene: int | None = None) -> None:
    """For each credit the newest frame, when there is a newer one than before, or the one of a time. Ends where another
    scene is open than that of a number; None: than the present one."""
    sent, scene = 0, running.number if scene is None else scene
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await credit.given.wait()
            credit.given.clear()
            found = None
            while running.number == scene and not credit.given.is_set():
                if credit.at is not None:
                    frame = running.history.at(credit.at)
                    found = None if frame is None else (0, frame)
                else:
                    found = running.newest(sent)
                if found is not None:
                    break
                await asyncio.sleep(LOOK)
            if running.number != scene:
                await stream.close(ANOTHER_SCENE)
                return
            if found is not None:
                sent, frame = found  # 0 after a look back: the newest is sent again
                await stream.send_bytes(frame)


async def tell_kept(stream: WebSocket, running: RunningScene) -> None:
    """What can be looked back at, [begin, end] in seconds of the run, as JSON whenever it has changed."""
    told = None
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            span = running.history.span()
            if span is not None and span != told:
                told = span
                await stream.send_text(json.dumps([span.begin, span.end]))
            await asyncio.sleep(TELL)


def obey(running: RunningScene, watcher: int, message: bytes) -> None:
    """What a watcher does with the pointer: which (u4), number of the frame (u4), nine numbers (f4), see `Pointer`.
    What is not understood is left."""
    if len(message) != POINTER.size:
        return
    which, number, *numbers = POINTER.unpack(message)
    if which < len(COMMANDS):
        running.tell(COMMANDS[which], (watcher, number, numbers) if COMMANDS[which] != "release" else (watcher,))
