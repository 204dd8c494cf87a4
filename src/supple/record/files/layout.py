"""The layout of a record: an empty one is written, bodies and whole frames of one are read.

/VTKHDF                surfaces over time, see `supple.record.files.vtkhdf`
/supple                version, dt, solver, bodies, solids (names of those made of tets), scene (attributes)
  frames/<column>      step, time [s], kinetic, potential [J], momentum, centre_of_mass,
                       outcome and residual of the step, worst_residual and under_converged so far, and where the
                       frame's contacts end
  carried              see `supple.record.files.carried`
  changes              see `supple.record.files.changes`
  contacts             see `supple.record.files.contacts`
  joints               see `supple.record.files.joints`
  obstacles, poses     see `supple.record.files.obstacles`
  states/<step>        see `supple.record.files.states`
  volumes              see `supple.record.files.volumes`
"""

from __future__ import annotations

import json
import os
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from supple.record.fields import FIELDS, NAMES
from supple.record.files import vtkhdf
from supple.record.files.carried import carried_bytes, make_carried, open_values
from supple.record.files.changes import make_changes
from supple.record.files.contacts import make_contacts
from supple.record.files.disk import RESERVE, reserve
from supple.record.files.joints import make_joints
from supple.record.files.obstacles import make_obstacles
from supple.record.files.trust import Dataset, Group, check_dataset, check_group, plain_json, stored_rows
from supple.record.files.volumes import make_volume, open_inner
from supple.record.surfaces import Surface
from supple.scene.system import System

RECORD_NAME, FIELD_NAMES, SOLIDS = "record.vtkhdf", "fields", "solids"
MOST_FRAMES = 256
"""Frames that are written at once, at most."""
COLUMNS: dict[str, tuple[str, tuple[int, ...]]] = {
    "step": ("i8", ()),
    "time": ("f8", ()),
    "kinetic": ("f8", ()),
    "potential": ("f8", ()),
    "momentum": ("f8", (6,)),
    "centre_of_mass": ("f8", (3,)),
    "outcome": ("S20", ()),
    "residual": ("f8", ()),
    "worst_residual": ("f8", ()),
    "under_converged": ("i8", ()),
    "contacts": ("i8", ()),
}


class RecordedBody(NamedTuple):
    """A body of a record, and the block of its surface."""

    name: str
    kind: str
    block: str


def write_empty(path: Path, system: System, surfaces: list[Surface], about: dict[str, Any]) -> None:
    """A record without frames, whole on the disk. about: attributes of /supple."""
    import h5py

    with h5py.File(path, "w") as file:
        reserve(file.id.get_vfd_handle(), frame_bytes(surfaces) + RESERVE, path)
        blocks = vtkhdf.make_collection(file, surfaces)
        own = file.create_group("supple")
        for name, value in about.items():
            own.attrs[name] = value if isinstance(value, int | float | str) else json.dumps(value)
        bodies = [RecordedBody(s.name, s.kind, b.name.split("/")[-1])._asdict() for s, b in zip(surfaces, blocks)]
        own.attrs["bodies"] = json.dumps(bodies)
        own.attrs[SOLIDS] = json.dumps([surface.name for surface in surfaces if surface.is_solid])
        frames = own.create_group("frames")
        for name, (kind, tail) in COLUMNS.items():
            frames.create_dataset(name, (0, *tail), maxshape=(None, *tail), dtype=kind, chunks=(256, *tail))
        own.create_group("states")
        for body, surface in zip(bodies, surfaces):
            if surface.carriers is not None:
                is_thin, colours = surface.whole is not None, surface.whole_colours
                make_carried(own, body["block"], surface.carriers, is_thin=is_thin, colours=colours)
            if surface.volume is not None:
                make_volume(own, body["block"], surface.volume.tets, surface.inner_count)
        make_changes(own)
        make_contacts(own, system)
        make_joints(own, system)
        make_obstacles(own, system)
        close_file(file, path)
    with open(path, "rb+") as written:
        os.fsync(written.fileno())


def close_file(file: Any, path: Path) -> None:
    """Close a file and give back the room that was reserved for it."""
    file.flush()
    size = file.id.get_filesize()
    file.close()
    os.truncate(path, size)


def frame_bytes(surfaces: list[Surface], count: int = 1) -> int:
    """So many frames take no more: points in chunks that may be begun, what carries them, and the tables of steps."""
    carried = sum(carried_bytes(s.carriers.width, count) for s in surfaces if s.carriers is not None)
    chunks = sum((1 + len(s.fields)) * vtkhdf.CHUNK_BYTES for s in surfaces)
    return carried + 3 * chunks + sum(2 * shown_bytes(s) * count for s in surfaces)


def shown_bytes(surface: Surface) -> int:
    """Of the points and fields of a surface in a frame, and of the points inside."""
    numbers = 3 + sum(prod(FIELDS[name]) for name in surface.fields)
    return 4 * (numbers * surface.point_count + 3 * surface.inner_count)


def read_fields(own: Group) -> tuple[str, ...]:
    """Names of the fields that a record was asked for; none in those that know no fields."""
    if FIELD_NAMES not in own.attrs:
        return ()
    names = plain_json(own.attrs[FIELD_NAMES], "the list of fields")
    if not isinstance(names, list) or not all(name in NAMES for name in names):
        raise ValueError("the list of fields is not understood")
    return tuple(names)


def read_bodies(file: Group) -> list[RecordedBody]:
    """The bodies of an open record."""
    listed = plain_json(check_group(file, "supple").attrs.get("bodies"), "the list of bodies")
    if not isinstance(listed, list) or not all(_is_body(body) for body in listed):
        raise ValueError("the list of bodies is not one of tables with name, kind and block")
    bodies = [RecordedBody(**body) for body in listed]
    if len({body.name for body in bodies}) < len(bodies):
        raise ValueError("two bodies have one name")
    return bodies


def _is_body(body: Any) -> bool:
    return (
        isinstance(body, dict)
        and set(body) == set(RecordedBody._fields)
        and all(isinstance(value, str) for value in body.values())
    )


def open_blocks(file: Group, bodies: list[RecordedBody]) -> list[Group]:
    """The blocks of bodies."""
    root = check_group(file, "VTKHDF")
    return [check_group(root, body.block) for body in bodies]


def open_columns(file: Group) -> dict[str, Dataset]:
    """What is measured at each frame, by the names of `COLUMNS`."""
    frames = check_group(check_group(file, "supple"), "frames")
    return {name: check_dataset(frames, name, kind, tail) for name, (kind, tail) in COLUMNS.items()}


def count_frames(file: Group, blocks: list[Group]) -> tuple[int, int]:
    """How many frames an open record claims, and how many of them are whole.

    A writer that was killed leaves parts of so many more as it writes at once, `MOST_FRAMES`.
    """
    columns = list(open_columns(file).values())
    counts = [vtkhdf.count_steps(block) for block in blocks]
    own, names = check_group(file, "supple"), [block.name.rsplit("/", 1)[-1] for block in blocks]
    for name in names:
        columns += [table for opened in (open_values, open_inner) if (table := opened(own, name)) is not None]
    claimed = min(*(len(column) for column in columns), *(c for c, _ in counts))
    stored = min(*(stored_rows(column) for column in columns), *(s for _, s in counts))
    return claimed, min(claimed, stored)
