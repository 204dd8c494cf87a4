"""RecordWriter: the trajectory of a run in one file, `record.vtkhdf`, that ParaView reads with time.

    /VTKHDF                surfaces over time, see `supple.record.vtkhdf`
    /supple                version, dt, solver, bodies, scene (attributes)
      frames/<column>      step, time [s], kinetic, potential [J], momentum, centre_of_mass,
                           outcome and residual of the step, worst_residual and under_converged so far
      states/<step>        t, x, v and memory in double precision, at checkpoints

A new record is written beside its place and renamed, so that a kill leaves the old or the new one. Room is taken
before a frame, and the file is flushed after it, in HDF5's default version, which reopens after a kill. A frame counts
once it is whole; a reader takes the whole ones.
"""

from __future__ import annotations

import contextlib
import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import RecordError
from supple.record import vtkhdf
from supple.record.disk import RESERVE, check_space, make_folder, record_errors, reserve
from supple.record.frame import Frame
from supple.record.lock import FolderLock
from supple.record.surfaces import Surface, make_surfaces
from supple.scene.state import State
from supple.scene.system import System

RECORD_NAME = "record.vtkhdf"
CHECKPOINT_NAME = "checkpoint.npz"
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
}


class RecordWriter:
    """An open record; made by `create` or `reopen`, ended by `close`."""

    def __init__(self, path: Path, file: Any, surfaces: list[Surface], blocks: list[Any], lock: FolderLock) -> None:
        self.path, self.file, self.surfaces, self.blocks, self.lock = path, file, surfaces, blocks, lock
        self.frame_count = 0

    @classmethod
    def create(cls, folder: Path, system: System, about: dict[str, Any]) -> RecordWriter:
        """A new record in a folder, in place of an older one. about: attributes of /supple."""
        surfaces, path = make_surfaces(system), folder / RECORD_NAME
        make_folder(folder)
        lock = FolderLock(folder)
        try:
            check_space(folder, _frame_bytes(surfaces))
            with record_errors(path, "the record cannot be written"):
                beside = path.with_name(path.name + ".writing")
                try:
                    _write_empty(beside, surfaces, about)
                    (folder / CHECKPOINT_NAME).unlink(missing_ok=True)
                    os.replace(beside, path)
                finally:
                    beside.unlink(missing_ok=True)
            return cls._open(path, surfaces, lock)
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
        writer = cls._open(path, surfaces, lock)
        try:
            with record_errors(path, "the record cannot be continued"):
                writer._go_back(frames, step)
        except BaseException:
            writer.close()
            raise
        return writer

    @classmethod
    def _open(cls, path: Path, surfaces: list[Surface], lock: FolderLock) -> RecordWriter:
        """A record of these surfaces, to write on."""
        import h5py

        with record_errors(path, "the record cannot be continued"):
            file = h5py.File(path, "r+")
            try:
                bodies = json.loads(file["supple"].attrs["bodies"])
                blocks = [file["VTKHDF"][body["block"]] for body in bodies]
                fits = [(b["name"], int(k["NumberOfPoints"][0])) for b, k in zip(bodies, blocks)]
                if fits != [(s.name, s.point_count) for s in surfaces]:
                    raise ValueError("its bodies are not those of the scene")
            except BaseException:
                file.close()
                raise
        return cls(path, file, surfaces, blocks, lock)

    def _go_back(self, frames: int, step: int) -> None:
        whole = whole_frames(self.file, self.blocks)
        if whole < frames:
            raise ValueError(f"it holds {whole} frames, the checkpoint was made after {frames}")
        self.frame_count = frames
        self._truncate()
        for name in [name for name in self.file["supple/states"] if int(name) > step]:
            del self.file["supple/states"][name]
        self.file.flush()

    def append(self, frame: Frame) -> None:
        """Add a frame and bring it to the file."""
        self._reserve(_frame_bytes(self.surfaces))
        row = frame.row()
        try:
            with record_errors(self.path, "the frame cannot be written"):
                for surface, block in zip(self.surfaces, self.blocks):
                    vtkhdf.append_step(block, frame.time, surface.points(frame.state))
                columns = self.file["supple/frames"]
                for name in COLUMNS:
                    columns[name].resize(self.frame_count + 1, axis=0)
                    columns[name][self.frame_count] = row[name]
                self.file.flush()
        except BaseException:
            with contextlib.suppress(Exception):
                self._truncate()
            raise
        self.frame_count += 1

    def append_state(self, state: State, step: int) -> None:
        """Add the exact state, once a step, and bring the file to the disk."""
        self._reserve(sum(array.nbytes for array in (state.x, state.v, *state.memory.values())))
        name = f"{step:012d}"
        with record_errors(self.path, "the state cannot be written"):
            if name not in self.file["supple/states"]:
                group = self.file["supple/states"].create_group(name)
                group.attrs["t"] = state.t
                for key, array in {"x": state.x, "v": state.v, **_memory(state)}.items():
                    group.create_dataset(key, data=array)
            self.file.flush()
            os.fsync(self.file.id.get_vfd_handle())

    def columns(self) -> dict[str, np.ndarray]:
        """What was measured at each frame, by the names of `COLUMNS`."""
        with record_errors(self.path, "the record cannot be continued"):
            return {name: self.file["supple/frames"][name][:] for name in COLUMNS}

    def close(self) -> None:
        """End writing, and give back the room that was taken ahead."""
        with contextlib.suppress(OSError, RuntimeError, ValueError):
            _close(self.file, self.path)
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
        self.file.flush()


def whole_frames(file: Any, blocks: list[Any]) -> int:
    """How many frames of an open record are whole."""
    columns = [len(file["supple/frames"][name]) for name in COLUMNS]
    return min(*columns, *(vtkhdf.step_count(block) for block in blocks))


def _write_empty(path: Path, surfaces: list[Surface], about: dict[str, Any]) -> None:
    """A record without frames, whole on the disk."""
    import h5py

    with h5py.File(path, "w") as file:
        reserve(file.id.get_vfd_handle(), _frame_bytes(surfaces) + RESERVE, path)
        blocks = vtkhdf.make_collection(file, surfaces)
        own = file.create_group("supple")
        for name, value in about.items():
            own.attrs[name] = value if isinstance(value, int | float | str) else json.dumps(value)
        own.attrs["bodies"] = json.dumps(
            [{"name": s.name, "kind": s.kind, "block": b.name.split("/")[-1]} for s, b in zip(surfaces, blocks)]
        )
        frames = own.create_group("frames")
        for name, (kind, tail) in COLUMNS.items():
            frames.create_dataset(name, (0, *tail), maxshape=(None, *tail), dtype=kind, chunks=(256, *tail))
        own.create_group("states")
        _close(file, path)
    with open(path, "rb+") as written:
        os.fsync(written.fileno())


def _close(file: Any, path: Path) -> None:
    """Close a file and give back the room that was reserved for it."""
    file.flush()
    size = file.id.get_filesize()
    file.close()
    os.truncate(path, size)


def _memory(state: State) -> dict[str, np.ndarray]:
    return {f"memory/{name}": array for name, array in state.memory.items()}


def _frame_bytes(surfaces: list[Surface]) -> int:
    """No frame takes more: points in chunks that may be begun, and the tables of steps."""
    return sum(2 * max(12 * s.point_count, vtkhdf.CHUNK_BYTES) + vtkhdf.CHUNK_BYTES for s in surfaces)
