"""export: one verb for all formats, chosen by the ending of the destination or by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from numbers import Integral
from pathlib import Path
from typing import Any, NamedTuple

from supple.errors import InputError, check_flag, check_instance, check_path, check_row
from supple.exports.formats.gltf import save_gltf
from supple.exports.formats.skeleton import save_skeleton
from supple.exports.formats.usd import save_usd
from supple.exports.html import save_html
from supple.exports.modes import (
    save_mode_picture,
    save_mode_video,
    save_modes_csv,
    save_modes_markdown,
    save_modes_vtk,
)
from supple.exports.picture import save_picture
from supple.exports.table import save_csv, save_markdown
from supple.exports.video import save_video
from supple.exports.vtk import save_record_copy, save_vtk
from supple.record.files.disk import make_folder, record_errors
from supple.record.memory import MemoryRecord
from supple.record.reader import Record, Trajectory, open_record
from supple.record.run_result import Run
from supple.solvers.methods.modes import Modes


class Format(NamedTuple):
    """suffix: of its files. write: a trajectory or modes to a path, some frames or modes of it or all. options: what
    else `write` may be told. others: endings that are written too. label: what is put behind a run's name."""

    suffix: str
    write: Callable[..., None]
    options: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    label: str = ""

    @property
    def suffixes(self) -> tuple[str, ...]:
        """All endings of its files."""
        return self.suffix, *self.others


VIDEO = ("fps", "size", "length")
COLOURED = (*VIDEO, "colour")
FORMATS: dict[str, Format] = {
    "vtk": Format(".pvd", save_vtk, ("contacts", "colour")),
    "vtkhdf": Format(".vtkhdf", save_record_copy),
    "png": Format(".png", save_picture, ("contacts", "colour")),
    "gif": Format(".gif", save_video, COLOURED),
    "mp4": Format(".mp4", save_video, COLOURED),
    "html": Format(".html", save_html, ("fps", "controls")),
    "gltf": Format(".glb", save_gltf),
    "skeleton": Format(".glb", save_skeleton, ("joints",), label="_skeleton"),
    "usd": Format(".usdc", save_usd, others=(".usda", ".usd")),
    "csv": Format(".csv", save_csv),
    "md": Format(".md", save_markdown),
}
MODES: dict[str, Format] = {
    "vtk": Format(".pvd", save_modes_vtk),
    "png": Format(".png", save_mode_picture),
    "gif": Format(".gif", save_mode_video, VIDEO),
    "mp4": Format(".mp4", save_mode_video, VIDEO),
    "csv": Format(".csv", save_modes_csv),
    "md": Format(".md", save_modes_markdown),
}


def export(
    run: Run | Modes | str | Path,
    destination: str | Path,
    *,
    to: str | None = None,
    frames: Sequence[int] | None = None,
    contacts: bool = False,
    fps: float | None = None,
    size: tuple[int, int] | None = None,
    length: float | None = None,
    colour: str | None = None,
    controls: bool = True,
    joints: int | None = None,
) -> Path:
    """Write a run, the record in a folder, or vibration modes as another format; returns the file that was written.

    to: "vtk" (a .pvd file with a folder of .vtu files, for ParaView), "vtkhdf" (the record itself), "png" (a picture
    with the energies), "gif" or "mp4" (a video; "mp4" needs the extra `video`), "html" (a page that plays the run in a
    browser, offline; needs the extra `studio`), "usd" (.usdc, .usda: shapes over time for Blender and other programs;
    needs the extra `usd`), "gltf" (.glb: rigid bodies and copies that move, for game engines and browsers; of one frame
    a still of everything), "skeleton" (.glb, by name only: bodies that bend as skins with joints, fitted to the
    frames), "csv" or "md" (times, energies, momenta); by default what the ending of `destination` says. frames: numbers
    of the frames; by default all, for a picture a few moments. contacts: with the forces of contacts, in a picture an
    arrow for each two that touch in the last moment, in VTK all points with forces. fps: frames a second of a video,
    default about 20, fewer where fewer are recorded; of a page at most so many, all by default. size: width and height
    of a video [pixels], default 640 and 480. length: how long it is [s], by default as the run, but two to ten seconds.
    controls: whether a page has a title and controls, or a button to play and pause alone, for a frame in another page;
    #bare at the end of its address says the same, #dark or #light its theme. colour: "speed" [m/s], "strain" [-] or
    "stress" [Pa] of the surfaces as colours with a scale, in VTK as an array of the points; see
    `supple.exports.fields`. joints: of a body in a skeleton, at most; by default 256 of a tree, 128 of others.

    What a file does not hold, or how near it comes, is told by an `ExportNotice`, a warning.

    Of `vibration_modes`, frames are numbers of modes: "vtk" holds their shapes [1/kg^1/2], an array each, "png" and
    "gif" show one, by default the lowest that is no rigid motion, "csv" and "md" list the frequencies.
    """
    thing: Trajectory | Modes = run if isinstance(run, Modes) else trajectory_of(run)
    path = check_path(destination, where="export, destination")
    if to is not None:
        check_instance(to, str, "the name of a format", where="export, to")
    if frames is not None:
        check_row(frames, Integral, "numbers of frames", where="export, frames")
    check_flag(contacts, name="contacts", where="export")
    check_flag(controls, name="controls", where="export")
    kind = to or next((name for name, form in FORMATS.items() if path.suffix.lower() in form.suffixes), None)
    if kind not in FORMATS:
        raise InputError(
            "unknown format to export to",
            where="export",
            value=to if to is not None else path.name,
            allowed=", ".join(f"{name} ({' '.join(form.suffixes)})" for name, form in FORMATS.items()),
        )
    known, name = (MODES, thing.system.name) if isinstance(thing, Modes) else (FORMATS, thing.name)
    if kind not in known:
        raise InputError("modes are not exported so", where="export", value=kind, allowed=", ".join(known))
    form = known[kind]
    given: dict[str, Any] = {"contacts": contacts or None, "fps": fps, "size": size, "length": length}
    given |= {"colour": colour, "controls": None if controls else False, "joints": joints}
    options = {option: value for option, value in given.items() if value is not None}
    _check_options(options, kind, known)
    if path.suffix.lower() not in form.suffixes and (path.is_dir() or not path.suffix):
        path = path / f"{_plain(name)}{form.label}{form.suffix}"
    make_folder(path.parent)
    count = len(thing.frequencies if isinstance(thing, Modes) else thing.times)
    what = "mode" if isinstance(thing, Modes) else "frame"
    if not count or (frames is not None and not len(frames)):
        fix = "Leave frames out for all." if count else "Run the scene again: it ended before anything was kept."
        raise InputError(f"there is no {what} to export", where="export", value=name, fix=fix)
    chosen = None if frames is None else _check_frames(frames, count, what)
    with record_errors(path, "the export cannot be written"):
        form.write(thing, path, chosen, **options)
    return path


def _check_options(options: dict[str, Any], kind: str, known: dict[str, Format]) -> None:
    for option in options:
        takes = [name for name, form in known.items() if option in form.options]
        if kind not in takes:
            allowed = ", ".join(takes) or "exports of runs"
            raise InputError(f"{kind} has no option '{option}'", where="export", value=option, allowed=f"in {allowed}")


def trajectory_of(run: Run | Trajectory | str | Path, *, where: str = "export") -> Trajectory:
    """The frames of a run, or of the record in a folder."""
    if isinstance(run, str | Path):
        return open_record(run)
    if isinstance(run, Record | MemoryRecord):
        return run
    if not isinstance(run, Run) or run.frames is None:
        raise InputError(
            "this has no frames",
            where=where,
            value=type(run).__name__,
            allowed="a Run, its record or folder, or modes of vibration_modes",
        )
    return run.frames


def _check_frames(frames: Sequence[int], count: int, what: str) -> list[int]:
    for frame in frames:
        if not -count <= frame < count:
            raise InputError(f"there is no such {what}", where="export", value=frame, allowed=f"0..{count - 1}")
    return [int(frame) % count for frame in frames]


def _plain(name: str) -> str:
    return "".join(c if c.isalnum() or c in "-_" else "_" for c in name) or "run"
