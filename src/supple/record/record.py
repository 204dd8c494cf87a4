"""RecordWriter: the trajectory of a run in one file, `record.vtkhdf`, that ParaView reads with time.

Its layout is in `record.files.layout`. A new record is written beside its place and renamed, so that a kill leaves the
old or the new one. Room is taken before a frame, and the file is flushed after it, in HDF5's default version, which
reopens after a kill. A frame counts once it is whole; a reader takes the whole ones.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import RecordError
from supple.record.files import vtkhdf
from supple.record.files.changes import append_changes, change_bytes, truncate_changes
from supple.record.files.contacts import append_contacts, contact_bytes, truncate_contacts
from supple.record.files.disk import RESERVE, check_space, damage_errors, make_folder, record_errors, reserve
from supple.record.files.joints import append_joints, joint_bytes, truncate_joints
from supple.record.files.layout import (
    COLUMNS,
    RECORD_NAME,
    close_file,
    count_frames,
    frame_bytes,
    open_blocks,
    open_columns,
    read_bodies,
    write_empty,
)
from supple.record.files.lock import FolderLock
from supple.record.files.obstacles import append_poses, truncate_poses
from supple.record.files.relaying import fits, is_same, read_shares, relay
from supple.record.files.states import kept_steps, state_name, write_state
from supple.record.files.trust import check_group
from supple.record.frame import Frame
from supple.record.surfaces import Surface, are_shown, make_surfaces
from supple.scene.changes import change_lines
from supple.scene.state import State
from supple.scene.system import System

CHECKPOINT_NAME = "checkpoint.npz"


class RecordWriter:
    """An open record; made by `create` or `reopen`, ended by `close`."""

    def __init__(self, path: Path, file: Any, surfaces: list[Surface], blocks: list[Any], lock: FolderLock) -> None:
        self.path, self.file, self.surfaces, self.blocks, self.lock = path, file, surfaces, blocks, lock
        self.frame_count = self.contact_count = 0

    @classmethod
    def create(cls, folder: Path, system: System, about: dict[str, Any]) -> RecordWriter:
        """A new record in a folder, in place of an older one. about: attributes of /supple."""
        surfaces, path = make_surfaces(system), folder / RECORD_NAME
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
        surfaces, path = make_surfaces(system), folder / RECORD_NAME
        if not path.is_file():
            raise RecordError("the record is gone", where=str(path), fix="Start the run anew, without resume.")
        writer = cls._open(path, surfaces, lock, system)
        try:
            with damage_errors(path, "the record cannot be continued"):
                writer._go_back(frames, step)
            writer.surfaces = []
            writer.follow(system)
        except BaseException:
            writer.close()
            raise
        return writer

    def follow(self, system: System) -> None:
        """Show the bodies of a system that has changed from now on; those that broke, in all frames."""
        if are_shown(self.surfaces, system):
            return
        surfaces = make_surfaces(system)
        with record_errors(self.path, "the surfaces cannot be written"):
            own = self.file["supple"]
            kept = read_shares(own, read_bodies(self.file), self.blocks)
            if not is_same(kept, surfaces, system):
                self._reserve(self.frame_count * frame_bytes(surfaces))
                self.blocks = relay(self.file, kept, surfaces, system, self.frame_count)
        self.surfaces = surfaces

    @classmethod
    def _open(cls, path: Path, surfaces: list[Surface], lock: FolderLock, system: System) -> RecordWriter:
        """A record of these surfaces, to write on."""
        import h5py

        with damage_errors(path, "the record cannot be continued"):
            file = h5py.File(path, "r+")
            try:
                bodies = read_bodies(file)
                blocks = open_blocks(file, bodies)
                if not fits(read_shares(check_group(file, "supple"), bodies, blocks), surfaces, system):
                    raise ValueError("its bodies are not those of the scene")
            except BaseException:
                file.close()
                raise
        return cls(path, file, surfaces, blocks, lock)

    def _go_back(self, frames: int, step: int) -> None:
        _, whole = count_frames(self.file, self.blocks)
        if whole < frames:
            raise ValueError(f"it holds {whole} frames, the checkpoint was made after {frames}")
        self.frame_count = frames
        self.contact_count = int(open_columns(self.file)["contacts"][frames - 1]) if frames else 0
        self._truncate()
        states = check_group(self.file["supple"], "states")
        for later in [kept for kept in kept_steps(states) if kept > step]:
            del states[state_name(later)]
        self.file.flush()

    def append(self, frame: Frame) -> None:
        """Add a frame and bring it to the file."""
        contacts, joints, done = frame.contacts, frame.joints, change_lines(frame.state)
        rows = joint_bytes(self.file["supple/joints"], self.frame_count, joints)
        self._reserve(frame_bytes(self.surfaces) + contact_bytes(contacts) + rows + change_bytes(done))
        row = frame.row() | {"contacts": self.contact_count + len(contacts.pairs)}
        try:
            with record_errors(self.path, "the frame cannot be written"):
                for surface, block in zip(self.surfaces, self.blocks):
                    vtkhdf.append_step(block, frame.time, surface.points(frame.state))
                append_contacts(self.file["supple/contacts"], contacts)
                append_joints(self.file["supple/joints"], self.frame_count, joints)
                append_changes(self.file["supple"], self.frame_count, done)
                append_poses(self.file["supple"], self.frame_count, frame.poses)
                columns = self.file["supple/frames"]
                for name in COLUMNS:
                    columns[name].resize(self.frame_count + 1, axis=0)
                    columns[name][self.frame_count] = row[name]
                self.file.flush()
        except BaseException:
            with contextlib.suppress(Exception):
                self._truncate()
            raise
        self.frame_count, self.contact_count = self.frame_count + 1, row["contacts"]

    def append_state(self, state: State, step: int) -> None:
        """Add the exact state, once a step, and bring the file to the disk."""
        self._reserve(sum(array.nbytes for array in (state.x, state.v, *state.memory.values())))
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
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            close_file(self.file, self.path)
        self.lock.release()

    def _reserve(self, needed: int) -> None:
        check_space(self.path.parent, needed)
        size = self.file.id.get_filesize() + needed + RESERVE
        reserve(self.file.id.get_vfd_handle(), size, self.path)

    def _truncate(self) -> None:
        for block in self.blocks:
            vtkhdf.truncate(block, self.frame_count)
        for name in COLUMNS:
            self.file["supple/frames"][name].resize(self.frame_count, axis=0)
        truncate_contacts(self.file["supple/contacts"], self.contact_count)
        truncate_joints(self.file["supple/joints"], self.frame_count)
        truncate_poses(self.file["supple"], self.frame_count)
        truncate_changes(self.file["supple"], self.frame_count)
        self.file.flush()
