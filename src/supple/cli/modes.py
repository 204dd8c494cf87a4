"""supple modes: vibration modes of a scene, listed, drawn and animated."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer


def modes(
    scene: Annotated[
        str,
        typer.Argument(metavar="SCENE", help="A built-in name, or a .toml, .json, .vxa, .vxc, .vxd or .py file."),
    ],
    count: Annotated[int, typer.Option(min=1, help="How many of the lowest modes.")] = 6,
    settle: Annotated[bool, typer.Option("--settle", help="About the equilibrium under loads, not the start.")] = False,
    to: Annotated[
        str | None, typer.Option("--to", metavar="png|gif|mp4|vtk|csv|md", help="Files to write: one a mode, or one.")
    ] = None,
    mode: Annotated[int | None, typer.Option(min=1, help="Write this one alone; default: all that are drawn.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the files; default: out/NAME-modes.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the vibration modes of a scene, and draw or animate them."""
    from supple.cli.notices import shown_warnings
    from supple.cli.printing import print_json, print_table
    from supple.cli.scenes import find_scene
    from supple.errors import InputError

    if mode is not None and (to is None or mode > count):
        raise InputError("--mode names no mode that is written", value=mode, allowed=f"1 to {count}, with --to")
    with shown_warnings():
        from supple.solvers import solve_statics, vibration_modes

        chosen = find_scene(scene)
        system = chosen.scene.compile()
        found = vibration_modes(system, count, state=solve_statics(system) if settle else None)
    rows = [
        {"mode": k + 1, "frequency [Hz]": float(f), "growth [1/s]": float(g)}
        for k, (f, g) in enumerate(zip(found.frequencies, found.growth))
    ]
    folder = out if out is not None else Path("out") / f"{chosen.name}-modes"
    files = [] if to is None else write_modes(found, folder, to, mode)
    if json:
        print_json({"modes": rows, "files": [str(file) for file in files]})
        return
    print_table(list(rows[0]) if rows else ["mode"], rows)
    if files:
        print(f"Written to {folder}: {', '.join(file.name for file in files)}")


def write_modes(found: Any, folder: Path, to: str, mode: int | None) -> list[Path]:
    """A file a mode for pictures and videos, one of all for tables and VTK."""
    from supple.exports import FORMATS, export

    if to not in ("png", "gif", "mp4"):
        path = folder if to not in FORMATS else folder / f"modes{FORMATS[to].suffix}"
        return [export(found, path, to=to, frames=None if mode is None else [mode - 1])]
    numbers = range(len(found.frequencies)) if mode is None else [mode - 1]
    return [export(found, folder / f"mode-{k + 1}.{to}", frames=[k]) for k in numbers]
