"""supple run: a scene from its start to `until`, recorded."""

from __future__ import annotations

import os
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer


class Device(StrEnum):
    """Where a scene runs."""

    cpu = "cpu"
    cuda = "cuda"


class Video(StrEnum):
    """Kinds of videos."""

    gif = "gif"
    mp4 = "mp4"


def run(
    scene: Annotated[
        str,
        typer.Argument(metavar="SCENE", help="A built-in name, or a .toml, .json, .vxa, .vxc, .vxd or .py file."),
    ],
    until: Annotated[float | None, typer.Option(help="Simulated time, in seconds.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder of the results; default: out/NAME.")] = None,
    dt: Annotated[float | None, typer.Option(help="Step, in seconds.")] = None,
    base: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The .vxa file that a .vxd file changes; default: base.vxa beside it."),
    ] = None,
    device: Annotated[Device, typer.Option(help="Where it runs.")] = Device.cpu,
    threads: Annotated[int | None, typer.Option(help="Threads of the CPU; default: all.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON at the end.")] = False,
    record_every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Simulated time between frames; default: the scene's, or 1/30."),
    ] = None,
    checkpoint_every: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", help="Wall time between checkpoints, in seconds; default: 30."),
    ] = None,
    surface_points: Annotated[
        int | None,
        typer.Option(metavar="COUNT", help="Most points of a tree's surface that ParaView is shown; default: 20000."),
    ] = None,
    field: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Record velocity, strain, stress, or volume (tets for USD) too; repeatable."),
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on from the last checkpoint.")] = False,
    picture: Annotated[bool, typer.Option("--picture", help="Write picture.png and table.csv too.")] = False,
    contacts: Annotated[bool, typer.Option("--contacts", help="Draw the forces of contacts in the picture.")] = False,
    video: Annotated[Video | None, typer.Option(help="Write video.gif or video.mp4 too.")] = None,
    measure: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME", help="Measure the robot: travel, energy, ..., or FILE.py:FUNCTION; repeatable."),
    ] = None,
    body: Annotated[str | None, typer.Option(metavar="NAME", help="The body that is measured.")] = None,
    settle: Annotated[float | None, typer.Option(help="Seconds at the start that are not measured.")] = None,
) -> None:
    """Run a scene and record it."""
    from supple.cli.compiling import compile_kernels_of, shown_compilations
    from supple.cli.notices import going_on, shown_warnings, tell

    compile_kernels_of(scene)
    with shown_warnings(), shown_compilations(), going_on(f"preparing {scene}"):
        chosen = _found(scene, base, device)
        for note in chosen.notes:
            tell(note)
        given = {"until": until, "dt": dt, "checkpoint_every": checkpoint_every, "surface_points": surface_points}
        given |= {"fields": field or None, "record_every": record_every}  # type: ignore[dict-item]
        settings = chosen.settings | {k: v for k, v in given.items() if v is not None}
        _check_settings(settings, threads)
        measuring = None
        if measure or body is not None or settle is not None:
            from supple.cli.measuring import Measuring

            measuring = Measuring(scene, chosen, measure or [], body, settle, settings["until"], resume=resume)
            settings = measuring.settings() | settings
        folder = out if out is not None else Path("out") / chosen.name
        _check_writable(folder)
        if video is not None:
            from supple.exports.video import writer_of

            writer_of(folder / f"video.{video}")  # refused now where it cannot be written

        from supple.running import run as run_scene
        from supple.studio.shelf.recent import note_run

        note_run(folder, scene)
        result = run_scene(chosen.scene, out=folder, resume=resume, threads=threads, **settings)
    checks = _checks(chosen.example, result)
    if picture or contacts:
        from supple.exports import export

        export(result, folder / "picture.png", contacts=contacts)
        export(result, folder / "table.csv")
    if video is not None:
        from supple.exports import export

        export(result, folder / f"video.{video}")
    measures = None if measuring is None else measuring.rows(result)
    _print(chosen, result, checks, measures, folder, as_json=json)
    if result.outcome == "interrupted":
        raise typer.Exit(130)
    if not all(row["ok"] for row in checks):
        raise typer.Exit(1)


def _found(scene: str, base: Path | None, device: Device) -> Any:
    from supple.cli.scenes import find_scene

    chosen = find_scene(scene, base=base)
    if device is Device.cuda:
        from supple.errors import InputError

        raise InputError("this scene runs on the CPU only", where=chosen.name, fix="Leave out --device cuda.")
    return chosen


def _print(
    chosen: Any,
    result: Any,
    checks: list[dict[str, Any]],
    measures: list[dict[str, Any]] | None,
    folder: Path,
    *,
    as_json: bool,
) -> None:
    """What a run tells at its end."""
    from supple.cli.printing import print_json, print_table
    from supple.cli.travel import travel, travel_sentence
    from supple.errors import printable

    way = None if chosen.voxcad is None else travel(chosen.voxcad, result)
    if as_json:
        more: dict[str, Any] = {"checks": checks} if checks else {}
        if chosen.voxcad is not None:
            more |= {"travel": way, "unsupported": list(chosen.voxcad.unsupported)}
        if measures is not None:
            more["measures"] = {row["measure"]: row["value"] for row in measures}
        print_json(result.to_json() | more)
        return
    print(result.report())
    if chosen.voxcad is not None:
        print(f"  {travel_sentence(chosen.voxcad, way)}")
    if measures is not None:
        print_table(("measure", "value", "unit"), measures)
    if checks:
        print_table(("quantity", "value", "reference", "limit", "ok"), checks)
    print(printable(f"Results are in {folder}"))


def _checks(example: Any, result: Any) -> list[dict[str, Any]]:
    """What physics says about a built-in scene that was run to its own end."""
    from supple.cli.printing import as_row

    is_whole = example is not None and result.outcome == "finished" and result.time >= example.until * (1 - 1e-9)
    return [as_row(row) for row in example.check(result)] if is_whole else []


def _check_settings(settings: dict[str, Any], threads: int | None) -> None:
    from math import isfinite

    from supple.errors import InputError

    if settings.get("until") is None:
        raise InputError("nothing says how long to run", fix="Give --until SECONDS, or `until` in the scene.")
    for name in ("until", "dt"):
        value = settings.get(name, 1.0)
        if not isinstance(value, int | float) or not isfinite(value) or value <= 0:
            raise InputError(f"{name} is not a positive time", value=value, allowed="> 0 s")
    if threads is not None and threads < 1:
        raise InputError("the number of threads is not positive", value=threads)


def _check_writable(folder: Path) -> None:
    """Refuse a folder that cannot be written, before anything is computed."""
    from supple.errors import InputError

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"the folder cannot be made: {error.strerror}", value=str(folder)) from error
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError("the folder cannot be written", value=str(folder), fix="Give another one with --out.")
