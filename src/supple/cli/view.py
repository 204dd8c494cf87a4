"""supple view: a scene in the browser while it runs."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer


def view(
    scene: Annotated[
        str | None,
        typer.Argument(metavar="SCENE", help="A built-in scene, or a file; default: the page offers some to open."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Folder in which all that happens is kept, as `supple run --out` keeps it.")
    ] = None,
    port: Annotated[int, typer.Option(help="Of the page; default: a free one.")] = 0,
    host: Annotated[
        str, typer.Option(help="Address to listen at; default: reached by this machine only.")
    ] = "127.0.0.1",
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Print the address only.")] = False,
) -> None:
    """Open the studio: see a scene while it runs, in the browser."""
    from supple.cli.compiling import compile_kernels_of
    from supple.examples import registry
    from supple.studio import view as open_studio
    from supple.studio.shelf.recent import note_run
    from supple.studio.shelf.shelf import Shelf

    if scene is not None:
        compile_kernels_of(scene)
    open_studio(
        None if scene is None else partial(make_scene, scene),
        title="" if scene is None else Path(scene).name,
        out=out,
        note=note_run,
        shelf=Shelf({name: example.summary for name, example in registry().items()}, make_scene),
        host=host,
        port=port,
        browser=not no_browser,
        say=_say,
    )


def make_scene(given: str) -> Any:
    """The scene a person means, in the simulation's process, which says from now on what it compiles."""
    from supple.cli.compiling import tell_compilations
    from supple.cli.scenes import find_scene
    from supple.studio.opening import RECORD_EVERY, Opened

    tell_compilations()
    chosen = find_scene(given)
    return Opened(chosen.scene, given, chosen.settings.get("record_every", RECORD_EVERY))


def _say(text: str) -> None:
    print(text, flush=True)
