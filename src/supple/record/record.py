"""RecordWriter: the trajectory of a run in one file, `record.vtkhdf`, that ParaView reads with time.

Its layout is in `record.files.layout`. A new record is written beside its place and renamed, so that a kill leaves the
old or the new one. Frames wait in a batch, for which room is taken on the disk, and are written together; who runs the
loop says when (`UNWRITTEN`). The file is flushed after a batch, in HDF5's default version, which reopens after a kill.
A frame counts once it is whole; a reader takes the whole ones.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from supple.errors import RecordError
from supple.record.batch import FEW, Batch, KeptFrame
from supple.record.files import vtkhdf
from supple.record.files.carried import drop_carried, is_thin, open_values, read_carriers
from supple.record.files.changes import truncate_changes
from supple.record.files.contacts import truncate_contacts
from supple.record.files.disk import RESERVE, check_space, damage_errors, make_folder, record_errors, reserve
from supple.record.files.heaps import check_heaps
from supple.record.files.joints import joint_names, truncate_joints
from supple.record.files.layout import (
    COLUMNS,
    FIELD_NAMES,
    RECORD_NAME,
    close_file,
    count_frames,
    frame_bytes,
    open_blocks,
    open_columns,
    read_bodies,
    read_fields,
    write_empty,
)
from supple.record.files.lock import FolderLock
from supple.record.files.obstacles import truncate_poses
from supple.record.files.relaying import fits, is_same, read_shares, relay
from supple.record.files.rows import GrowingGroup
from supple.record.files.states import kept_steps, state_name, write_state
from supple.record.files.trust import Group, check_group, whole_number
from supple.record.files.volumes import open_inner
from supple.record.frame import Frame
from supple.record.surfaces import Surface, are_shown, make_surfaces, with_carriers
from supple.scene.state import State
from supple.scene.system import System

CHECKPOINT_NAME = "checkpoint.npz"
SURFACE_POINTS = "surface_points"
UNWRITTEN = 0.5
"""Wall time [s] for which a frame may wait to be written."""


class RecordWriter:
    """An open record; made by `create` or `reopen`, ended by `close`."""

    def __init__(self, path: Path, file: Any, surfaces: list[Surface], blocks: list[Any], lock: FolderLock) -> None:
        self.path, self.file, self.blocks, self.lock = path, file, blocks, lock
        self.batch = Batch(surfaces, 0, 0, joint_names(check_group(file["supple"], "joints")))
        self.room, self.growing = 0, GrowingGroup(file)

    @property
    def surfaces(self) -> list[Surface]:
        """Of the bodies, as they are recorded now."""
        return self.batch.surfaces

    @property
    def frame_count(self) -> int:
        """How many frames were appended, those that wait to be written too."""
        return self.batch.first + len(self.batch)

    @classmethod
    def create(
        cls,
        folder: Path,
        system: System,
        about: dict[str, Any],
        *,
        surface_points: int | None = None,
        fields: Sequence[str] = (),
    ) -> RecordWriter:
        """A new record in a folder, in place of an older one. about: attributes of /supple; surface_points: most that a
        block shows of a surface that frames carry, None: all; fields: see `supple.record.fields`."""
        surfaces = list(map(with_carriers, make_surfaces(system, surface_points, fields=fields)))
        path = folder / RECORD_NAME
        about = {**about, FIELD_NAMES: list(fields)}
        if surface_points is not None:
            about[SURFACE_POINTS] = surface_points
        make_folder(folder)
        lock = FolderLock(folder)
        try:
            check_space(folder, frame_bytes(surfaces))
            with record_errors(path, "the record cannot be written"):
                beside = path.with_name(path.name + ".writing")
                try:
                    write_empty(beside, system, surfaces, about)
                    (folder / CHECKPOINT_NAME).unlink(missing_ok=True)
                    os.replace(beside, path)
                finally:
                    beside.unlink(missing_ok=True)
            return cls._open(path, surfaces, lock, system)
        except BaseException:
            lock.release()
            raise

    @classmethod
    def reopen(cls, folder: Path, system: System, lock: FolderLock, *, frames: int, step: int) -> RecordWriter:
        """Go on with a record after its first `frames` frames; later frames and states are removed.

        lock: of the folder; the writer releases it when it is closed.
        """
        path = folder / RECORD_NAME
        if not path.is_file():
            raise RecordError("the record is gone", where=str(path), fix="Start the run anew, without resume.")
        writer = cls._open(path, None, lock, system)
        try:
            with damage_errors(path, "the record cannot be continued"):
                writer._go_back(frames, step)
            writer._show([])
            writer.follow(system)
        except BaseException:
            writer.close()
            raise
        return writer

    def follow(self, system: System) -> None:
        """Show the bodies of a system that has changed from now on; those that broke, in all frames."""
        if are_shown(self.surfaces, system):
            return
        self.write()
        self.growing = GrowingGroup(self.file)
        with record_errors(self.path, "the surfaces cannot be written"):
            own = self.file["supple"]
            surfaces = _surfaces_like(self.file, system)
            kept = read_shares(own, read_bodies(self.file), self.blocks)
            if not is_same(kept, surfaces, system):
                needed = self.frame_count * frame_bytes(surfaces)
                check_space(self.path.parent, needed)
                self._reserve(needed)
                self.blocks = relay(self.file, kept, surfaces, system, self.frame_count)
            for surface, block in zip(surfaces, self.blocks):
                if surface.carriers is None:
                    drop_carried(own, block.name.rsplit("/", 1)[-1])
        self._show(surfaces)

    def _show(self, surfaces: list[Surface]) -> None:
        assert not len(self.batch)
        self.batch = Batch(surfaces, self.batch.first, self.batch.contacts, self.batch.joints)

    @classmethod
    def _open(cls, path: Path, surfaces: list[Surface] | None, lock: FolderLock, system: System) -> RecordWriter:
        """A record of these surfaces, to write on; None: of those that it shows."""
        import h5py

        with damage_errors(path, "the record cannot be continued"):
            check_heaps(path)
            file = h5py.File(path, "r+")
            try:
                bodies = read_bodies(file)
                blocks = open_blocks(file, bodies)
                surfaces = _surfaces_like(file, system) if surfaces is None else surfaces
                if not fits(read_shares(check_group(file, "supple"), bodies, blocks), surfaces, system):
                    raise ValueError("its bodies are not those of the scene")
                return cls(path, file, surfaces, blocks, lock)
            except BaseException:
                file.close()
                raise

    def _go_back(self, frames: int, step: int) -> None:
        _, whole = count_frames(self.file, self.blocks)
        if whole < frames:
            raise ValueError(f"it holds {whole} frames, the checkpoint was made after {frames}")
        contacts = int(open_columns(self.file)["contacts"][frames - 1]) if frames else 0
        self.batch = Batch(self.surfaces, frames, contacts, self.batch.joints)
        self._truncate()
        states = check_group(self.file["supple"], "states")
        for later in [kept for kept in kept_steps(states) if kept > step]:
            del states[state_name(later)]
        self.file.flush()

    def append(self, frame: Frame) -> None:
        """Add a frame, which waits to be written; there is room for it on the disk."""
        kept = KeptFrame.of(frame, self.surfaces, self.batch.rigid)
        if not self._has_room(self.batch.bytes_with(kept)):
            alone = Batch(self.surfaces, self.batch.first, 0, self.batch.joints).bytes_with(kept)
            check_space(self.path.parent, alone)
            try:
                self._reserve(self.batch.bytes_with(kept, more=FEW))
            except RecordError:
                self.write()
                self._reserve(alone)
        self.batch.append(kept)
        if self.batch.is_full:
            self.write()

    def write_within(self, time: float) -> None:
        """Write now where frames would else wait for too long. time: until one is asked again, of the wall [s]."""
        if len(self.batch) and perf_counter() + time - self.batch.since > UNWRITTEN:
            self.write()

    def write(self) -> None:
        """Bring all frames to the file."""
        if not len(self.batch):
            return
        try:
            with record_errors(self.path, "the frames cannot be written"):
                self.batch = self.batch.write(self.growing, [b.name.rsplit("/", 1)[-1] for b in self.blocks])
        except BaseException:
            with contextlib.suppress(Exception):
                self._truncate()
            raise

    def append_state(self, state: State, step: int) -> None:
        """Add the exact state, once a step, and bring the file to the disk."""
        self.write()
        needed = sum(array.nbytes for array in (state.x, state.v, *state.memory.values()))
        check_space(self.path.parent, needed)
        self._reserve(needed)
        with record_errors(self.path, "the state cannot be written"):
            states = self.file["supple/states"]
            if state_name(step) not in states:
                write_state(states, state, step)
            self.file.flush()
            os.fsync(self.file.id.get_vfd_handle())

    def columns(self) -> dict[str, np.ndarray]:
        """What was measured at each frame, by the names of `COLUMNS`."""
        with damage_errors(self.path, "the record cannot be continued"):
            return {name: column[:] for name, column in open_columns(self.file).items()}

    def close(self) -> None:
        """End writing, and give back the room that was taken ahead."""
        with contextlib.suppress(RecordError):
            self.write()
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            close_file(self.file, self.path)
        self.lock.release()

    def _has_room(self, needed: int) -> bool:
        """Whether so many bytes can be written where room was taken before."""
        return bool(self.file.id.get_filesize() + needed + RESERVE <= self.room)

    def _reserve(self, needed: int) -> None:
        """Take room on the disk behind what is written, so that so many bytes can be."""
        size = self.file.id.get_filesize() + needed + RESERVE
        if size > self.room:
            reserve(self.file.id.get_vfd_handle(), size, self.path)
            self.room = size

    def _truncate(self) -> None:
        """Keep the frames that were written before the batch."""
        frames, own = self.batch.first, self.file["supple"]
        for block in self.blocks:
            vtkhdf.truncate(block, frames)
            name = block.name.rsplit("/", 1)[-1]
            for values in (open_values(own, name), open_inner(own, name)):
                if values is not None:
                    values.resize(frames, axis=0)
        for name in COLUMNS:
            own["frames"][name].resize(frames, axis=0)
        truncate_contacts(own["contacts"], self.batch.contacts)
        truncate_joints(own["joints"], frames)
        truncate_poses(own, frames)
        truncate_changes(own, frames)
        self.file.flush()


def _surfaces_like(file: Group, system: System) -> list[Surface]:
    """The surfaces of a system, of as few points as in a record; whole where its frames mean another surface, and
    without carriers then."""
    own = check_group(file, "supple")
    fields, bodies = read_fields(own), read_bodies(file)
    known = {b.name: read_carriers(own, b.block) for b in bodies if open_values(own, b.block) is not None}

    def is_known(surface: Surface) -> bool:
        return surface.carriers is not None and surface.name in known and surface.carriers.is_like(known[surface.name])

    most, thin = None, {b.name for b in bodies if is_thin(own, b.block)}
    if SURFACE_POINTS in own.attrs:
        most = whole_number(own.attrs[SURFACE_POINTS], "the number of points to be shown")
    surfaces = make_surfaces(system, most, thin, fields)
    if others := {s.name for s in surfaces if s.whole is not None and not is_known(s)}:
        surfaces = make_surfaces(system, most, thin - others, fields)
    return [s if is_known(s) else replace(s, carriers=None) for s in map(with_carriers, surfaces)]
