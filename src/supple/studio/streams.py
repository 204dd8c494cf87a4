"""What the page fetches: the header, and frames by a binary socket.

A watcher has one credit: it asks for a frame when it has drawn the last one, and gets the newest. The simulation knows
nothing of this.
"""

import asyncio
import contextlib
import json
import struct

from fastapi import FastAPI, WebSocket, WebSocketDisconnect
from fastapi.responses import Response

from supple.studio.running_scene import RunningScene

LOOK = 4e-3
"""Wall time between looks for a newer frame [s]."""
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
        sent = 0
        with contextlib.suppress(WebSocketDisconnect, RuntimeError):
            while True:
                await stream.receive_text()  # a credit
                while (found := running.newest(sent)) is None:
                    await asyncio.sleep(LOOK)
                sent, frame = found
                await stream.send_bytes(frame)
