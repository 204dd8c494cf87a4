"""supple export: a run for other programs and for looking at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or its record.")],
    to: Annotated[
        str,
        typer.Option(
            "--to", metavar="vtk|png|gif|mp4|html|usd|gltf|skeleton|csv|md", help="The kind of files to write."
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", help="Where to write; default: in the run's folder.")] = None,
    frames: Annotated[
        str | None, typer.Option(metavar="NUMBERS", help="Of frames, such as 0,10,-1; default: all, in png a few.")
    ] = None,
    contacts: Annotated[bool, typer.Option("--contacts", help="With forces of contacts, in png and vtk.")] = False,
    colour: Annotated[
        str | None,
        typer.Option(metavar="speed|strain|stress", help="A field as colours with a scale; in vtk as an array."),
    ] = None,
    fps: Annotated[
        float | None,
        typer.Option(help="Frames a second of a video, default: 20; of a page at most so many, default: all."),
    ] = None,
    size: Annotated[str | None, typer.Option(metavar="WxH", help="Pixels of a video; default: 640x480.")] = None,
    length: Annotated[
        float | None, typer.Option(help="How long a video is, in seconds; default: as the run, 2 to 10.")
    ] = None,
    controls: Annotated[bool, typer.Option(help="A page with its title and controls, or only one to play.")] = True,
    joints: Annotated[
        int | None, typer.Option(metavar="COUNT", help="Most of a body in a skeleton; default: 256 of a tree, or 128.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a run for other programs (vtk, usd, gltf, skeleton), as a picture, video or page, or as a table."""
    from supple.cli.notices import shown_warnings
    from supple.cli.printing import print_json
    from supple.exports import export as export_run

    where, pixels = out or (run if run.is_dir() else run.parent), None if size is None else parse_size(size)
    given: dict[str, Any] = {"fps": fps, "size": pixels, "length": length, "colour": colour, "contacts": contacts}
    given |= {"controls": controls, "joints": joints}
    with shown_warnings():
        written = export_run(run, where, to=to, frames=None if frames is None else parse_numbers(frames), **given)
    if json:
        print_json({"to": to, "path": str(written)})
    else:
        print(f"Written to {written}")


def parse_size(given: str) -> tuple[int, int]:
    """Width and height of "640x480"."""
    from supple.errors import InputError

    parts = given.lower().split("x")
    if len(parts) != 2 or not all(part.isascii() and part.isdigit() for part in parts):
        raise InputError("--size is not a width and a height", value=given, allowed="such as 640x480")
    return int(parts[0]), int(parts[1])


def parse_numbers(given: str) -> list[int]:
    """Whole numbers of "0,10,-1"."""
    from supple.errors import InputError

    parts = [part.strip() for part in given.split(",")]
    if not all(part.isascii() and part.removeprefix("-").isdigit() for part in parts):
        raise InputError("--frames are not whole numbers", value=given, allowed="such as 0,10,-1")
    return [int(part) for part in parts]
