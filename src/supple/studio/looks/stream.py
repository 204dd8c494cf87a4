"""The socket of looks: a watcher says what it wants, and gets the newest look for each credit."""

import asyncio
import contextlib
import itertools

from fastapi import FastAPI, WebSocket, WebSocketDisconnect

from supple.studio.looks.wishes import Click, Wish, read_wish
from supple.studio.running_scene import RunningScene

PAUSE = 0.02
"""Wall time between glances at what is new [s]."""
NEXT = "next"
"""What a watcher says when it has shown the last look."""
numbers = itertools.count(1)
"""Of watchers."""


def add_looks(app: FastAPI, running: RunningScene) -> None:
    """Looks at the socket /looks: texts come in, see `wishes`, bytes go out, see `looks`."""

    @app.websocket("/looks")
    async def looks(stream: WebSocket) -> None:
        await stream.accept()
        watcher, credits = next(numbers), asyncio.Event()
        running.looks[watcher] = {}
        sending = asyncio.create_task(send_looks(stream, running, watcher, credits))
        try:
            while (message := await stream.receive())["type"] == "websocket.receive":
                text = message.get("text") or ""
                if text == NEXT:
                    credits.set()
                else:
                    hear(running, watcher, read_wish(text))
        finally:
            sending.cancel()
            running.looks.pop(watcher, None)
            running.tell("leave", watcher)


def hear(running: RunningScene, watcher: int, given: Wish | Click | None) -> None:
    """Tell the simulation; what is not understood is left."""
    if isinstance(given, Wish):
        running.tell("wish", (watcher, given))
    elif isinstance(given, Click):
        running.tell("click", (watcher, given))


async def send_looks(stream: WebSocket, running: RunningScene, watcher: int, credits: asyncio.Event) -> None:
    """For each credit the next look."""
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await credits.wait()
            credits.clear()
            while not (waiting := running.looks[watcher]):
                await asyncio.sleep(PAUSE)
            await stream.send_bytes(waiting.pop(next(iter(waiting))))
