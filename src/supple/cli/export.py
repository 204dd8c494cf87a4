"""supple export: a run for other programs and for looking at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or its record.")],
    to: Annotated[str, typer.Option("--to", metavar="vtk|png", help="The kind of files to write.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Where to write; default: in the run's folder.")
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a run as VTK files or as a picture."""
    from supple.cli.printing import print_json
    from supple.errors import InputError
    from supple.exports import export as export_run

    names = {"vtk": "vtk", "png": "picture.png"}
    if to not in names:
        raise InputError("this kind of export is not known", value=to, allowed=", ".join(names))
    if not run.exists():
        raise InputError(
            "there is no such run", value=str(run), fix="Give the folder that `supple run` wrote."
        )
    folder = run if run.is_dir() else run.parent
    written = export_run(run, out or folder / names[to], to=to)
    place = written if isinstance(written, str | Path) else out or folder / names[to]
    if json:
        print_json({"to": to, "path": str(place)})
    else:
        print(f"Written to {place}")
