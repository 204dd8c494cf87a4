"""Checkpoints: the exact doubles of a state in one file, replaced as a whole or not at all.

A checkpoint is an npz archive without pickled objects, with a hash of all its arrays. It is written beside its place,
brought to the disk and renamed, so that a kill at any moment leaves the old or the new one, never a part.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from supple.errors import RecordError, check_instance, check_path
from supple.modal.cache import content_key
from supple.record.files.disk import check_space, damage_errors, record_errors
from supple.record.files.trust import PLAIN_KINDS, plain_json, real_number, whole_number
from supple.record.identity import check_same, describe
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.protocol import Solver
from supple.solvers.report import Outcome

Array = np.ndarray
FORMAT = 2
MEMORY = "memory/"
MAX_BYTES = 1 << 30  # a file may declare, beside a hundred times what the state takes
COUNTED = ("outcome", "residual", "worst_residual", "under_converged")
SINGLE = ("format", "identity", "seal", "step", "frames", "t", *COUNTED)


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A state with what a run must know to go on from it.

    step: how many led to it. frames: recorded up to it that an uninterrupted run would have. worst_residual,
    under_converged: of all steps so far. outcome, residual: of the last step.
    """

    state: State
    step: int
    frames: int
    worst_residual: float = 0.0
    under_converged: int = 0
    outcome: Outcome = Outcome.SOLVED
    residual: float = 0.0


def save_checkpoint(path: Path, checkpoint: Checkpoint, system: System, solver: Any) -> None:
    """Write or replace the checkpoint file."""
    state = checkpoint.state
    arrays: dict[str, Array] = {
        "format": np.array(FORMAT),
        "identity": np.array(json.dumps(describe(system, solver))),
        "step": np.array(checkpoint.step),
        "frames": np.array(checkpoint.frames),
        "outcome": np.array(checkpoint.outcome.name),
        "residual": np.array(checkpoint.residual),
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
    np.savez(packed, allow_pickle=False, **arrays, seal=np.array(seal(arrays)))  # type: ignore[arg-type]
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
    """Read the checkpoint of exactly this system and solver, and make the changes that led to it."""
    path = check_path(path, where="load_checkpoint")
    check_instance(system, System, "a compiled scene", where="load_checkpoint")
    check_instance(solver, Solver, "a solver that steps through time", where="load_checkpoint")
    check_there(path)
    with damage_errors(path, "the checkpoint cannot be read"):
        arrays = _read(path, 8 * (system.x_size + system.v_size))
        identity = plain_json(str(arrays["identity"]), "its description")
        if not isinstance(identity, dict):
            raise ValueError("its description is not a table")
    check_same(identity, describe(system, solver), where=str(path))
    with damage_errors(path, "the checkpoint cannot be read"):
        return _checked(arrays, system)


def seal(arrays: Mapping[str, Array]) -> str:
    """A hash of the arrays of a checkpoint, which tells one that was changed."""
    return content_key(*(part for name in sorted(arrays) if name != "seal" for part in (name, arrays[name])))


def _read(path: Path, expected: int) -> dict[str, Array]:
    with zipfile.ZipFile(path) as archive:
        declared = sum(entry.file_size for entry in archive.infolist())
    if declared > MAX_BYTES + 100 * expected:
        raise ValueError(f"it declares {declared} bytes")
    with np.load(path, allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    if missing := {*SINGLE, "x", "v"} - set(arrays):
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    if longer := [name for name in SINGLE if arrays[name].shape != ()]:
        raise ValueError(f"'{longer[0]}' is not a single value")
    if (version := whole_number(arrays["format"], "its format")) != FORMAT:
        raise ValueError(f"its format is {version}, this version reads {FORMAT}")
    if str(arrays["seal"]) != seal(arrays):
        raise ValueError("its values are not those that were saved")
    return arrays


def _checked(arrays: dict[str, Array], system: System) -> Checkpoint:
    """The checkpoint of arrays, each of which is what it must be, and fits the system with its changes."""
    memory = {name.removeprefix(MEMORY): a for name, a in arrays.items() if name.startswith(MEMORY)}
    if odd := [name for name, a in memory.items() if a.dtype.kind not in PLAIN_KINDS]:
        raise ValueError(f"what it remembers as '{odd[0]}' is not an array of numbers")
    try:
        system.replay(State(0.0, arrays["x"], arrays["v"], memory))
    except (KeyError, TypeError, IndexError, AttributeError, RecursionError) as error:
        raise ValueError("the changes that led to it are not understood") from error
    for name, size in (("x", system.x_size), ("v", system.v_size)):
        if arrays[name].shape != (size,) or arrays[name].dtype != float:
            raise ValueError(f"'{name}' has the shape {arrays[name].shape}, that of the scene is {(size,)}")
        if not np.isfinite(arrays[name]).all():
            raise ValueError(f"'{name}' holds values that are not finite")
    step, frames = (whole_number(arrays[name], f"'{name}'") for name in ("step", "frames"))
    if frames > step + 1:
        raise ValueError(f"{step} steps do not make {frames} frames")
    if (outcome := str(arrays["outcome"])) not in Outcome.__members__:
        raise ValueError("the outcome of its last step is unknown")
    return Checkpoint(
        State(real_number(arrays["t"], "'t'"), arrays["x"], arrays["v"], memory),
        step,
        frames,
        real_number(arrays["worst_residual"], "'worst_residual'", finite=False),
        whole_number(arrays["under_converged"], "'under_converged'"),
        Outcome[outcome],
        real_number(arrays["residual"], "'residual'", finite=False),
    )


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
