"""supple export: a run for other programs and for looking at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The folder of a run, or its record.")],
    to: Annotated[str, typer.Option("--to", metavar="vtk|png|csv|md", help="The kind of files to write.")],
    out: Annotated[Path | None, typer.Option("--out", help="Where to write; default: in the run's folder.")] = None,
    contacts: Annotated[bool, typer.Option("--contacts", help="With forces of contacts, in png and vtk.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Write a run as VTK files, a picture or a table."""
    from supple.cli.printing import print_json
    from supple.exports import export as export_run

    written = export_run(run, out or (run if run.is_dir() else run.parent), to=to, contacts=contacts)
    if json:
        print_json({"to": to, "path": str(written)})
    else:
        print(f"Written to {written}")
