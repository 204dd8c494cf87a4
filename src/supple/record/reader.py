"""open_record: read a record, while it is written or after, whole or cut short by a kill."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from supple.bodies.carried import Carriers
from supple.errors import InputError, RecordError, check_path
from supple.record.asked import check_body, frame_number
from supple.record.fields import FIELDS
from supple.record.files import vtkhdf
from supple.record.files.carried import (
    is_thin,
    open_values,
    read_carriage,
    read_carried_colours,
    read_carried_points,
    read_carriers,
)
from supple.record.files.changes import read_changes
from supple.record.files.contacts import Contacts, read_contacts
from supple.record.files.disk import damage_errors
from supple.record.files.heaps import GuardedFile
from supple.record.files.joints import read_joints
from supple.record.files.layout import (
    MOST_FRAMES,
    RECORD_NAME,
    SOLIDS,
    count_frames,
    open_blocks,
    open_columns,
    read_bodies,
    read_fields,
)
from supple.record.files.obstacles import RecordedObstacle, read_obstacles, read_poses
from supple.record.files.states import kept_steps, read_state
from supple.record.files.trust import check_group, plain_json, real_number
from supple.record.files.volumes import read_inner, read_tets
from supple.scene.changes import Change
from supple.scene.joints.readings import JointReading
from supple.scene.state import State

Array = np.ndarray


class Trajectory(Protocol):
    """Surfaces and measures over time, from a file (`Record`) or from memory (`MemoryRecord`)."""

    @property
    def name(self) -> str: ...
    @property
    def body_names(self) -> list[str]: ...
    @property
    def columns(self) -> dict[str, Array]: ...
    @property
    def times(self) -> Array: ...
    @property
    def ground(self) -> list[float] | None: ...
    def points(self, body: str, frame: int) -> Array: ...
    def carriers(self, body: str) -> Carriers | None: ...
    def carriage(self, body: str, frame: int) -> Array: ...
    def contacts(self, frame: int) -> Contacts: ...
    def joints(self, frame: int) -> dict[str, JointReading]: ...
    def changes(self, frame: int | None = None) -> list[Change]: ...
    @property
    def obstacles(self) -> list[RecordedObstacle]: ...
    def poses(self, frame: int) -> Array: ...
    def triangles(self, body: str) -> Array: ...
    def lines(self, body: str) -> Array: ...
    def colours(self, body: str) -> Array | None: ...
    @property
    def fields(self) -> tuple[str, ...]: ...
    def field(self, body: str, name: str, frame: int) -> Array | None: ...
    @property
    def solids(self) -> list[str]: ...
    def tets(self, body: str) -> Array | None: ...
    def inner_points(self, body: str, frame: int) -> Array: ...


@dataclass(frozen=True, eq=False)
class Record:
    """A record on disk. The file is opened for each reading only, so that a run may write it meanwhile.

    body_names, kinds: of each body. columns: what is measured at each frame, by name: step, time [s],
    kinetic, potential [J], momentum (6,), centre_of_mass (3,) [m], outcome, residual, worst_residual,
    under_converged, contacts (where those of the frame end). about: dt, solver, scene, version. obstacles: name, kind
    and shape of each, as they are given. fields: names of those that the run was asked for.
    """

    path: Path
    name: str
    body_names: list[str]
    kinds: list[str]
    columns: dict[str, Array]
    about: dict[str, Any]
    blocks: dict[str, str]
    state_steps: list[int]
    obstacles: list[RecordedObstacle]
    fields: tuple[str, ...] = ()

    @property
    def times(self) -> Array:
        """Times of the frames (frames,) [s]."""
        return self.columns["time"]

    @property
    def ground(self) -> list[float] | None:
        """Normal and offset [m] of the plane that bodies stand on; None where there is none."""
        return read_ground(self.about)

    @property
    def kinetic(self) -> Array:
        """Kinetic energies (frames,) [J]."""
        return self.columns["kinetic"]

    @property
    def potential(self) -> Array:
        """Potential energies (frames,) [J]."""
        return self.columns["potential"]

    @property
    def momentum(self) -> Array:
        """Linear [kg m/s] and angular momentum about the origin [kg m²/s], (frames, 6)."""
        return self.columns["momentum"]

    def __len__(self) -> int:
        return len(self.times)

    def points(self, body: str, frame: int) -> Array:
        """Points of the whole surface of a body in a frame, (n, 3) float32 [m]; negative frames count from the end."""
        number = self._number(frame)
        with _open(self.path) as file:
            block, own = self._block(file, body), check_group(file, "supple")
            if is_thin(own, self.blocks[body]):
                return read_carried_points(own, self.blocks[body], number)
            return vtkhdf.read_points(block, number)

    def carriers(self, body: str) -> Carriers | None:
        """What carries the surface of a body, where the record holds it; None: its points alone."""
        with _open(self.path) as file:
            self._block(file, body)
            own = check_group(file, "supple")
            return None if open_values(own, self.blocks[body]) is None else read_carriers(own, self.blocks[body])

    def carriage(self, body: str, frame: int) -> Array:
        """The numbers of a frame that carriers need, (width,) float32."""
        number = self._number(frame)
        with _open(self.path) as file:
            self._block(file, body)
            return read_carriage(check_group(file, "supple"), self.blocks[body], number)

    def contacts(self, frame: int) -> Contacts:
        """The contacts that pushed at a frame; negative frames count from the end."""
        number, ends = self._number(frame), self.columns["contacts"]
        start, stop = 0 if number == 0 else int(ends[number - 1]), int(ends[number])
        with _open(self.path) as file:
            return read_contacts(check_group(file, "supple"), start, stop)

    def joints(self, frame: int) -> dict[str, JointReading]:
        """What each joint did at a frame, by name: reactions, angle or displacement, motor power; negative frames count
        from the end."""
        number = self._number(frame)
        with _open(self.path) as file:
            return read_joints(check_group(file, "supple"), number)

    def changes(self, frame: int | None = None) -> list[Change]:
        """What was changed while the scene ran, in its order: all of it, or what was changed since the frame before
        this one; negative frames count from the end."""
        number = None if frame is None else self._number(frame)
        with _open(self.path) as file:
            return read_changes(check_group(file, "supple"), number)

    def poses(self, frame: int) -> Array:
        """Frames (n, 7) that carry the obstacles from where they are given to where they were at a frame."""
        number = self._number(frame)
        with _open(self.path) as file:
            return read_poses(check_group(file, "supple"), number, len(self.obstacles))

    def _number(self, frame: int) -> int:
        return frame_number(frame, len(self), where=str(self.path))

    def triangles(self, body: str) -> Array:
        """Surface triangles of a body, (k, 3)."""
        with _open(self.path) as file:
            block, own = self._block(file, body), check_group(file, "supple")
            if is_thin(own, self.blocks[body]):
                return read_carriers(own, self.blocks[body]).triangles
            return vtkhdf.read_cells(block, "Polygons", 3)

    def lines(self, body: str) -> Array:
        """Lines of a body (springs of particles), (l, 2)."""
        with _open(self.path) as file:
            return vtkhdf.read_cells(self._block(file, body), "Lines", 2)

    def colours(self, body: str) -> Array | None:
        """Red, green, blue, 0 to 1: of each triangle (k, 3), or of the whole body (1, 3); None: it has none."""
        with _open(self.path) as file:
            block, own = self._block(file, body), check_group(file, "supple")
            if is_thin(own, self.blocks[body]):
                return read_carried_colours(own, self.blocks[body])
            return vtkhdf.read_colours(block)

    def field(self, body: str, name: str, frame: int) -> Array | None:
        """A field at the points that the record shows of a body in a frame, (n,) or (n, 3) float32; None where the body
        has no such field. name: one of `fields`."""
        known = [field for field in self.fields if field in FIELDS]
        if name not in known:
            raise InputError(
                "the record has no such field",
                where=str(self.path),
                value=name,
                allowed=", ".join(known) or "none",
                fix=f"Run again with fields=['{name}'].",
            )
        number = self._number(frame)
        with _open(self.path) as file:
            return vtkhdf.read_field(self._block(file, body), name, number)

    @property
    def solids(self) -> list[str]:
        """Names of the bodies made of tets, whether these are recorded or not; none where the record does not know."""
        return read_solids(self.about)

    def tets(self, body: str) -> Array | None:
        """Tets of a body, (m, 4): numbers of its points, then of its inner points; None where the record holds its
        surface alone, see `run(fields=["volume"])`."""
        with _open(self.path) as file:
            block = self._block(file, body)
            return read_tets(check_group(file, "supple"), self.blocks[body], vtkhdf.point_count(block))

    def inner_points(self, body: str, frame: int) -> Array:
        """The nodes inside a body in a frame, (k, 3) float32 [m], that `tets` name behind those of `points`."""
        number = self._number(frame)
        with _open(self.path) as file:
            self._block(file, body)
            return read_inner(check_group(file, "supple"), self.blocks[body], number)

    def state(self, step: int) -> State:
        """The exact state that was kept after a step; `state_steps` lists them."""
        if step not in self.state_steps:
            raise InputError("no state was kept then", where=str(self.path), value=step, allowed=str(self.state_steps))
        with _open(self.path) as file:
            return read_state(check_group(check_group(file, "supple"), "states"), step)

    def _block(self, file: Any, body: str) -> Any:
        check_body(body, self.blocks, where=str(self.path))
        return check_group(check_group(file, "VTKHDF"), self.blocks[body])


def open_record(path: str | Path) -> Record:
    """The record in a folder that `run` was given as `out`, or a record file."""
    file_path = check_path(path, where="open_record")
    if file_path.is_dir():
        file_path = file_path / RECORD_NAME
    if not file_path.is_file():
        raise RecordError(
            "there is no record", where=str(file_path), fix="Give the folder that run wrote to (out=...)."
        )
    with _open(file_path) as file:
        bodies = read_bodies(file)
        about = _read_about(file["supple"])
        read_ground(about)
        read_solids(about)
        claimed, count = count_frames(file, open_blocks(file, bodies))
        if claimed > count + MOST_FRAMES:
            raise ValueError(f"it claims {claimed} frames and holds {count}")
        columns = {name: column[:count] for name, column in open_columns(file).items()}
        columns["outcome"] = columns["outcome"].astype("U20")
        states = kept_steps(check_group(file["supple"], "states"))
        obstacles = read_obstacles(check_group(file, "supple"))
        fields = read_fields(check_group(file, "supple"))
    return Record(
        path=file_path,
        name=about.get("name", file_path.parent.name),
        body_names=[body.name for body in bodies],
        kinds=[body.kind for body in bodies],
        columns=columns,
        about=about,
        blocks={body.name: body.block for body in bodies},
        state_steps=states,
        obstacles=obstacles,
        fields=fields,
    )


def read_ground(about: dict[str, Any]) -> list[float] | None:
    """Normal and offset [m] of the plane that bodies stand on, out of the attributes of a record."""
    ground = plain_json(about.get("ground", "null"), "the ground")
    if ground is None:
        return None
    if not isinstance(ground, list) or len(ground) != 4:
        raise ValueError("the ground is not a normal and an offset")
    return [real_number(value, "the ground") for value in ground]


def read_solids(about: dict[str, Any]) -> list[str]:
    """Names of the bodies made of tets, out of the attributes of a record."""
    names = plain_json(about.get(SOLIDS, "[]"), "the list of bodies made of tets")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("the list of bodies made of tets is not one of names")
    return names


def _read_about(own: Any) -> dict[str, Any]:
    about = {name: value for name, value in own.attrs.items() if name != "bodies"}
    for name, value in about.items():
        if not isinstance(value, str | int | float | np.integer | np.floating):
            raise ValueError(f"the attribute '{name}' is neither a text nor a number")
    if not isinstance(about.get("name", ""), str):
        raise ValueError("the name is not a text")
    return about


@contextmanager
def _open(path: Path) -> Iterator[Any]:
    import h5py

    with (
        damage_errors(path, "this is not a readable record"),
        GuardedFile(path) as guarded,
        h5py.File(guarded, "r") as file,
    ):
        yield file
