"""Checkpoints: the exact doubles of a state in one file, replaced as a whole or not at all.

A checkpoint is an npz archive without pickled objects. It is written beside its place, brought to the disk
and renamed, so that a kill at any moment leaves the old or the new one, never a part.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import RecordError
from supple.record.disk import check_space, record_errors
from supple.record.identity import check_same, content_hash, describe
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
FORMAT = 1
MEMORY = "memory/"
MOST_BYTES = 1 << 30  # a file may declare, beside a hundred times what the state takes


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A state with what a run must know to go on from it.

    step: how many led to it. frames: recorded up to it that an uninterrupted run would have. worst_residual,
    under_converged: of all steps so far.
    """

    state: State
    step: int
    frames: int
    worst_residual: float = 0.0
    under_converged: int = 0


def save_checkpoint(path: Path, checkpoint: Checkpoint, system: System, solver: Any) -> None:
    """Write or replace the checkpoint file."""
    identity = describe(system, solver)
    state = checkpoint.state
    arrays: dict[str, Array] = {
        "format": np.array(FORMAT),
        "identity": np.array(json.dumps(identity)),
        "hash": np.array(content_hash(identity)),
        "step": np.array(checkpoint.step),
        "frames": np.array(checkpoint.frames),
        "worst_residual": np.array(checkpoint.worst_residual),
        "under_converged": np.array(checkpoint.under_converged),
        "t": np.array(state.t),
        "x": state.x,
        "v": state.v,
        **{f"{MEMORY}{name}": np.asarray(a) for name, a in state.memory.items()},
    }
    objects = [name for name, a in arrays.items() if a.dtype.hasobject]
    if objects:
        raise RecordError(
            "the state holds Python objects", where="checkpoint", value=objects, allowed="arrays of numbers"
        )
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)  # type: ignore[arg-type]
    check_space(path.parent, packed.getbuffer().nbytes)
    with record_errors(path, "the checkpoint cannot be written"):
        _replace(path, packed.getbuffer())


def check_there(path: Path) -> None:
    """Refuse to go on where no checkpoint was written."""
    if not path.is_file():
        raise RecordError(
            "there is no checkpoint to resume from",
            where=str(path),
            fix="Run without resume first, with the same out.",
        )


def load_checkpoint(path: Path, system: System, solver: Any) -> Checkpoint:
    """Read the checkpoint of exactly this system and solver."""
    check_there(path)
    arrays = _read(path, 8 * (system.x_size + system.v_size))
    check_same(json.loads(str(arrays["identity"])), describe(system, solver), where=str(path))
    x, v = arrays["x"], arrays["v"]
    if x.shape != (system.x_size,) or v.shape != (system.v_size,) or x.dtype != float or v.dtype != float:
        raise RecordError("the checkpoint does not fit the scene", where=str(path), value=(x.shape, v.shape))
    memory = {name.removeprefix(MEMORY): a for name, a in arrays.items() if name.startswith(MEMORY)}
    return Checkpoint(
        State(float(arrays["t"]), x, v, memory),
        int(arrays["step"]),
        int(arrays["frames"]),
        float(arrays["worst_residual"]),
        int(arrays["under_converged"]),
    )


def _read(path: Path, expected: int) -> dict[str, Array]:
    needed = {
        "format",
        "identity",
        "hash",
        "step",
        "frames",
        "worst_residual",
        "under_converged",
        "t",
        "x",
        "v",
    }
    try:
        with zipfile.ZipFile(path) as archive:
            declared = sum(entry.file_size for entry in archive.infolist())
        if declared > MOST_BYTES + 100 * expected:
            raise ValueError(f"it declares {declared} bytes")
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        if missing := needed - set(arrays):
            raise ValueError(f"it lacks {', '.join(sorted(missing))}")
        if int(arrays["format"]) != FORMAT:
            raise ValueError(f"its format is {int(arrays['format'])}, this version reads {FORMAT}")
        if content_hash(json.loads(str(arrays["identity"]))) != str(arrays["hash"]):
            raise ValueError("its description and its hash disagree")
    except (
        OSError,
        ValueError,
        KeyError,
        EOFError,
        MemoryError,
        RuntimeError,
        TypeError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise RecordError(
            f"the checkpoint cannot be read: {error}",
            where=str(path),
            fix="Start the run anew, without resume.",
        ) from error
    return arrays


def _replace(path: Path, data: Any) -> None:
    beside = path.with_name(path.name + ".writing")
    try:
        with open(beside, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, path)
    finally:
        beside.unlink(missing_ok=True)
    if hasattr(os, "O_DIRECTORY"):
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
