"""The server of the studio: nicegui on loopback, in its own process apart from the simulation."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path

from supple.errors import InputError, MissingExtraError, SuppleError, check_number, check_path
from supple.studio.guard import COOKIE, EVERYWHERE, LOOPBACK, Guard, own_hosts
from supple.studio.opening import Keeping, Make
from supple.studio.running_scene import RunningScene
from supple.studio.shelf.shelf import Shelf

GRACE = 0
"""Wall time [s] that open tabs have when the studio ends."""
AWAY = 30.0
"""Wall time [s] for which a tab that has lost its connection, or has no time to answer, may come back as it was."""
MESSAGE = 1 << 16
"""Most bytes of a message from a browser."""


def view(
    make: Make | None,
    *,
    title: str = "",
    out: str | Path | None = None,
    note: Callable[[Path, str], None] | None = None,
    shelf: Shelf | None = None,
    host: str = LOOPBACK,
    port: int = 0,
    browser: bool = True,
    say: Callable[[str], None] = print,
) -> None:
    """Show a scene in the browser while it runs, until Ctrl-C.

    make: makes the scene; a function of a module, since another process calls it; None: none is open at first. title:
    what is open, in words. out: folder in which all is kept as `run` keeps it, each start of a scene in a record of its
    own, see `Recording`; None: nothing is. note: is called with the folder of each record and what was opened.
    shelf: what else can be opened from the page; None: nothing. host: the address to listen at; only this machine
    reaches the default. port: 0 for a free one. browser: whether to open one. say: prints the address.

    Raises a SuppleError where the scene that is given cannot be made or begun; one that is opened from the page tells
    there why it cannot.
    """
    if find_spec("nicegui") is None:
        raise MissingExtraError("studio", needed_for="the studio")
    check_number(port, name="port", where="view", least=0, most=65535, whole=True)
    listening = bind(host, port)
    port = listening.getsockname()[1]
    token = secrets.token_urlsafe(32)
    keeping = None if out is None else Keeping(check_path(out, where="view, out"), note=note)
    running = RunningScene(make, title=title, keeping=keeping)
    try:
        serve(running, shelf, listening, host, port, token, browser=browser, say=say)
    finally:
        running.close()
        if shelf is not None:
            shelf.close()
    if make is not None and not running.has_begun and running.failure:
        raise SuppleError(running.failure)


def bind(host: str, port: int) -> socket.socket:
    """A socket that listens; refused with a way out where the port is taken."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        raise InputError(
            "the studio cannot listen there",
            where="view",
            value=f"{host}:{port}",
            allowed="an address of this machine and a free port",
            fix="Leave out --port for a free one.",
        ) from error
    return listening


def serve(
    running: RunningScene,
    shelf: Shelf | None,
    listening: socket.socket,
    host: str,
    port: int,
    token: str,
    *,
    browser: bool,
    say: Callable[[str], None],
) -> None:
    """Until somebody ends it, or the scene that it begins with cannot be made."""
    import uvicorn
    from fastapi import FastAPI
    from nicegui import ui

    from supple.studio.looks.stream import add_looks
    from supple.studio.page import make_page
    from supple.studio.plots.stream import add_plots
    from supple.studio.shelf.routes import add_shelf
    from supple.studio.streams import add_streams

    begins_with_one = running.is_open
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    add_streams(app, running)
    add_looks(app, running)
    add_plots(app, running)
    if shelf is not None:
        add_shelf(app, shelf)
    make_page(running, shelf)
    ui.run_with(app, title="Supple", show_welcome_message=False, reconnect_timeout=AWAY)
    guarded = Guard(app, token=token, hosts=own_hosts(host, port), cookie=f"{COOKIE}_{port}")  # type: ignore[arg-type]
    address = f"http://{socket.gethostname() if host == EVERYWHERE else host}:{port}/?token={token}"
    options = {"log_level": "critical", "access_log": False, "lifespan": "on", "ws_max_size": MESSAGE}
    options["ws_per_message_deflate"] = False  # frames are packed already, and to pack them takes longer than to send
    server = uvicorn.Server(uvicorn.Config(guarded, timeout_graceful_shutdown=GRACE, **options))  # type: ignore[arg-type]

    def announce() -> None:
        while not server.started and not server.should_exit:
            threading.Event().wait(0.02)
        say(f"The studio is at {address}")
        say("Ctrl-C ends it.")
        if browser:
            webbrowser.open(address)
        if begins_with_one:
            running.known.wait()
            server.should_exit |= not running.has_begun

    threading.Thread(target=announce, daemon=True).start()
    with contextlib.suppress(KeyboardInterrupt):
        server.run(sockets=[listening])
