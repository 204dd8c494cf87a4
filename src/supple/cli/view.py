"""supple view: a scene in the browser while it runs."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import typer


def view(
    scene: Annotated[str, typer.Argument(metavar="SCENE", help="A built-in scene, or a file.")] = "flower",
    port: Annotated[int, typer.Option(help="Of the page; default: a free one.")] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen at; default: reached by this machine only.")
    ] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
) -> None:
    """Open the studio: see a scene while it runs, in the browser."""
    from supple.cli.compiling import compile_kernels_of
    from supple.studio import view as open_studio

    compile_kernels_of(scene)
    open_studio(partial(make_scene, scene), host=host, port=port, browser=not no_browser, say=_say)


def make_scene(given: str) -> Any:
    """The scene a person means, in the simulation's process, which says from now on what it compiles."""
    from supple.cli.compiling import tell_compilations
    from supple.cli.scenes import find_scene

    tell_compilations()
    return find_scene(given).scene


def _say(text: str) -> None:
    print(text, flush=True)
