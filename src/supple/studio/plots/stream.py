"""The socket of plots: a page that is open here wants samples, and gets those that are new for each credit."""

import asyncio
import contextlib

from fastapi import FastAPI, WebSocket, WebSocketDisconnect

from supple.studio.running_scene import RunningScene

PAUSE = 0.1
"""Wall time between messages [s], at least."""
NEXT, UNTRACK = "next", "untrack "


def add_plots(app: FastAPI, running: RunningScene) -> None:
    """Samples at the socket /plots: bytes go out, see `Traces.since`; `next` asks for them, `untrack N` lets a point
    be."""

    @app.websocket("/plots")
    async def plots(stream: WebSocket) -> None:
        await stream.accept()
        credits = asyncio.Event()
        running.want_plots(1)
        sending = asyncio.create_task(send_samples(stream, running, credits))
        try:
            while (message := await stream.receive())["type"] == "websocket.receive":
                text = (message.get("text") or "")[:40]
                if text == NEXT:
                    credits.set()
                elif text.startswith(UNTRACK) and text.removeprefix(UNTRACK).isdecimal():
                    running.tell("untrack", int(text.removeprefix(UNTRACK)))
        finally:
            sending.cancel()
            running.want_plots(-1)


async def send_samples(stream: WebSocket, running: RunningScene, credits: asyncio.Event) -> None:
    """For each credit what is new."""
    generation, end = -1, 0
    with contextlib.suppress(WebSocketDisconnect, RuntimeError):
        while True:
            await credits.wait()
            credits.clear()
            while (found := running.traces.since(generation, end)) is None:
                await asyncio.sleep(PAUSE)
            generation, end, message = found
            await stream.send_bytes(message)
            await asyncio.sleep(PAUSE)
