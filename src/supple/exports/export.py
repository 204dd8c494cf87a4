"""export: one verb for all formats, chosen by the ending of the destination or by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from supple.errors import InputError, check_path
from supple.exports.modes import save_mode_picture, save_modes_csv, save_modes_markdown, save_modes_vtk
from supple.exports.picture import save_picture
from supple.exports.table import save_csv, save_markdown
from supple.exports.vtk import save_record_copy, save_vtk
from supple.record.files.disk import make_folder, record_errors
from supple.record.reader import Trajectory, open_record
from supple.record.run_result import Run
from supple.solvers.methods.modes import Modes

Writer = Callable[[Any, Path, Sequence[int] | None], None]
"""Writes a trajectory, or modes, to a path: some frames or modes of it, or all."""

FORMATS: dict[str, tuple[str, Writer]] = {
    "vtk": (".pvd", save_vtk),
    "vtkhdf": (".vtkhdf", save_record_copy),
    "png": (".png", save_picture),
    "csv": (".csv", save_csv),
    "md": (".md", save_markdown),
}
WITH_CONTACTS: dict[str, Writer] = {
    "vtk": partial(save_vtk, contacts=True),
    "png": partial(save_picture, contacts=True),
}


MODES: dict[str, Writer] = {
    "vtk": save_modes_vtk,
    "png": save_mode_picture,
    "csv": save_modes_csv,
    "md": save_modes_markdown,
}


def export(
    run: Run | Modes | str | Path,
    destination: str | Path,
    *,
    to: str | None = None,
    frames: Sequence[int] | None = None,
    contacts: bool = False,
) -> Path:
    """Write a run, the record in a folder, or vibration modes as another format; returns the file that was written.

    to: "vtk" (a .pvd file with a folder of .vtu files, for ParaView), "vtkhdf" (the record itself), "png" (a
    picture with the energies), "csv" or "md" (times, energies, momenta); by default what the ending of
    `destination` says. frames: numbers of the frames; by default all, for a picture a few moments. contacts: with the
    forces of contacts, in a picture an arrow for each two that touch in the last moment, in VTK all points with forces.

    Of `vibration_modes`, frames are numbers of modes: "vtk" holds their shapes [1/kg^1/2], an array each, "png" shows
    one, by default the lowest that is no rigid motion, "csv" and "md" list the frequencies.
    """
    thing: Trajectory | Modes = run if isinstance(run, Modes) else _trajectory(run)
    path = check_path(destination, where="export, destination")
    kind = to or next((name for name, (suffix, _) in FORMATS.items() if path.suffix.lower() == suffix), None)
    if kind not in FORMATS:
        raise InputError(
            "unknown format to export to",
            where="export",
            value=to if to is not None else path.name,
            allowed=", ".join(f"{name} ({suffix})" for name, (suffix, _) in FORMATS.items()),
        )
    suffix, write = FORMATS[kind]
    if isinstance(thing, Modes):
        if kind not in MODES or contacts:
            value = "contacts" if contacts else kind
            raise InputError("modes are not exported so", where="export", value=value, allowed=", ".join(MODES))
        write = MODES[kind]
    elif contacts:
        if kind not in WITH_CONTACTS:
            raise InputError(
                "contacts are drawn in pictures and VTK", where="export", value=kind, allowed=", ".join(WITH_CONTACTS)
            )
        write = WITH_CONTACTS[kind]
    if path.suffix.lower() != suffix and (path.is_dir() or not path.suffix):
        name = thing.system.name if isinstance(thing, Modes) else thing.name
        path = path / f"{_plain(name)}{suffix}"
    make_folder(path.parent)
    count = len(thing.frequencies if isinstance(thing, Modes) else thing.times)
    what = "mode" if isinstance(thing, Modes) else "frame"
    chosen = None if frames is None else _check_frames(frames, count, what)
    with record_errors(path, "the export cannot be written"):
        write(thing, path, chosen)
    return path


def _trajectory(run: Run | str | Path) -> Trajectory:
    if isinstance(run, str | Path):
        return open_record(run)
    if not isinstance(run, Run) or run.frames is None:
        raise InputError(
            "this has no frames to export",
            where="export",
            value=type(run).__name__,
            allowed="a Run, its folder, or modes of vibration_modes",
        )
    return run.frames


def _check_frames(frames: Sequence[int], count: int, what: str) -> list[int]:
    for frame in frames:
        if not -count <= frame < count:
            raise InputError(f"there is no such {what}", where="export", value=frame, allowed=f"0..{count - 1}")
    return [int(frame) % count for frame in frames]


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name) or "run"
