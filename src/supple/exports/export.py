"""export: one verb for all formats, chosen by the ending of the destination or by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from supple.errors import InputError
from supple.exports.picture import save_picture
from supple.exports.table import save_csv, save_markdown
from supple.exports.vtk import save_record_copy, save_vtk
from supple.record.files.disk import make_folder, record_errors
from supple.record.reader import Trajectory, open_record
from supple.record.run_result import Run

Writer = Callable[[Trajectory, Path, Sequence[int] | None], None]

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


def export(
    run: Run | str | Path,
    destination: str | Path,
    *,
    to: str | None = None,
    frames: Sequence[int] | None = None,
    contacts: bool = False,
) -> Path:
    """Write a run, or the record in a folder, as another format; returns the file that was written.

    to: "vtk" (a .pvd file with a folder of .vtu files, for ParaView), "vtkhdf" (the record itself), "png" (a
    picture with the energies), "csv" or "md" (times, energies, momenta); by default what the ending of
    `destination` says. frames: numbers of the frames; by default all, for a picture a few moments. contacts: with the
    forces of contacts, in a picture an arrow for each two that touch in the last moment, in VTK all points with forces.
    """
    trajectory = _trajectory(run)
    path = Path(destination)
    kind = to or next((name for name, (suffix, _) in FORMATS.items() if path.suffix.lower() == suffix), None)
    if kind not in FORMATS:
        raise InputError(
            "unknown format to export to",
            where="export",
            value=to if to is not None else path.name,
            allowed=", ".join(f"{name} ({suffix})" for name, (suffix, _) in FORMATS.items()),
        )
    suffix, write = FORMATS[kind]
    if contacts:
        if kind not in WITH_CONTACTS:
            raise InputError(
                "contacts are drawn in pictures and VTK", where="export", value=kind, allowed=", ".join(WITH_CONTACTS)
            )
        write = WITH_CONTACTS[kind]
    if path.suffix.lower() != suffix:
        path = path / f"{_plain(trajectory.name)}{suffix}" if path.is_dir() or not path.suffix else path
    make_folder(path.parent)
    chosen = None if frames is None else _check_frames(frames, len(trajectory.times))
    with record_errors(path, "the export cannot be written"):
        write(trajectory, path, chosen)
    return path


def _trajectory(run: Run | str | Path) -> Trajectory:
    if isinstance(run, str | Path):
        return open_record(run)
    if not isinstance(run, Run) or run.frames is None:
        raise InputError(
            "this has no frames to export",
            where="export",
            value=type(run).__name__,
            allowed="a Run, or its folder",
        )
    return run.frames


def _check_frames(frames: Sequence[int], count: int) -> list[int]:
    for frame in frames:
        if not -count <= frame < count:
            raise InputError("there is no such frame", where="export", value=frame, allowed=f"0..{count - 1}")
    return [int(frame) % count for frame in frames]


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name) or "run"
