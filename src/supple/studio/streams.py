"""What the page fetches: the header, and frames by a binary socket.

A watcher has one credit: it asks for a frame when it has drawn the last one, and gets the newest. The simulation knows
nothing of this.
"""

import asyncio
import contextlib
import itertools
import json
import struct

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from fastapi.responses import Response

from supple.studio.running_scene import RunningScene

LOOK = 4e-3
"""Wall time between looks for a newer frame [s]."""
COMMANDS = ("grab", "drag", "release")
POINTER = struct.Struct("<II9f")
numbers = itertools.count(1)
"""Of watchers."""
ANOTHER_SCENE = 4001
"""The code with which the socket closes where another scene was opened: its header must be fetched."""
NOT_YET = 202
"""The answer where the simulation is not ready, with a word why it never will be, or none."""


def add_streams(app: FastAPI, running: RunningScene) -> None:
    """The header at /header: length of its JSON (u4), the JSON, its bytes; frames at the socket /frames."""

    @app.get("/header")
    async def header() -> Response:
        if running.header is None:
            return Response(running.failure, status_code=NOT_YET, media_type="text/plain")
        about = json.dumps(running.header).encode()
        about += b" " * (-len(about) % 4)
        return Response(
            struct.pack("<I", len(about)) + about + running.data,
            media_type="application/octet-stream",
            headers={"cache-control": "no-store"},
        )

    @app.websocket("/frames")
    async def frames(stream: WebSocket) -> None:
        await stream.accept()
        watcher, credits = next(numbers), asyncio.Event()
        sending = asyncio.create_task(send_newest(stream, running, credits))
        try:
            while (message := await stream.receive())["type"] == "websocket.receive":
                if message.get("bytes") is not None:
                    obey(running, watcher, message["bytes"])
                else:
                    credits.set()
        finally:
            sending.cancel()
            running.tell("release", (watcher,))


async def send_newest(stream: WebSocket, running: RunningScene, credits: asyncio.Event) -> None:
    """For each credit the newest frame, when there is a newer one than before. Ends where another scene is opened."""
    sent, scene = 0, running.number
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await credits.wait()
            credits.clear()
            while (found := running.newest(sent)) is None and running.number == scene:
                await asyncio.sleep(LOOK)
            if found is None or running.number != scene:
                await stream.close(ANOTHER_SCENE)
                return
            sent, frame = found
            await stream.send_bytes(frame)


def obey(running: RunningScene, watcher: int, message: bytes) -> None:
    """What a watcher does with the pointer: which (u4), number of the frame (u4), nine numbers (f4), see `Pointer`.
    What is not understood is left."""
    if len(message) != POINTER.size:
        return
    which, number, *numbers = POINTER.unpack(message)
    if which < len(COMMANDS):
        running.tell(COMMANDS[which], (watcher, number, numbers) if COMMANDS[which] != "release" else (watcher,))
