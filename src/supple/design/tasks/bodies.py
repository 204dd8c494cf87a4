"""Bodies for tasks: a design, checked and put on a task's grid, and random cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from supple.design.controllers import Network
from supple.design.designs import Design, is_one_piece, largest_piece
from supple.design.tasks.palette import MUSCLE, palette
from supple.design.tasks.senses import INPUTS
from supple.errors import InputError

if TYPE_CHECKING:
    from supple.design.tasks.task import Task

Array = np.ndarray
WHERE = "body of a task"
FIELDS = ("gain", "phase")
"""Of a design, that a task knows."""
FILLED = 0.75  # part of the cells of a random body that are not empty, before loose ones are taken away


@dataclass(frozen=True, eq=False)
class Fitted:
    """A design on a task's grid: cells (nx, ny, nz), phase [periods] and gain [-] of each, network: None: waves."""

    cells: Array
    phase: Array
    gain: Array
    network: Network | None


def fit(task: Task, given: Any) -> Fitted:
    """A design, or cells (nx, ny, nz), on the task's grid. A smaller body stands at the back, in the middle of the
    width.

    Refuses a body that is empty, larger than the grid, in several pieces, or without a muscle; fields that tasks do
    not know; a controller that is no network of what cells observe.
    """
    cells = _whole(getattr(given, "cells", given))
    _check_cells(task, cells)
    fields = given.fields if isinstance(given, Design) else {}
    unknown = sorted(set(fields) - set(FIELDS))
    if unknown:
        raise InputError("tasks do not know this field", where=WHERE, value=unknown[0], allowed=", ".join(FIELDS))
    start = (0, (task.grid[1] - cells.shape[1]) // 2, 0)
    place = tuple(slice(first, first + count) for first, count in zip(start, cells.shape))
    whole, phase, gain = np.zeros(task.grid, dtype=np.uint8), np.zeros(task.grid), np.zeros(task.grid)
    whole[place] = cells
    phase[place] = fields.get("phase", 0.0)
    gain[place] = fields.get("gain", 1.0)
    return Fitted(whole, phase, gain, _network(given.controller if isinstance(given, Design) else None))


def _whole(given: Any) -> Array:
    """Cells that are whole numbers, of whatever type, as integers."""
    try:
        cells = np.asarray(given)
    except ValueError:
        raise InputError("the cells are rows of different lengths", where=WHERE) from None
    kinds = cells.ndim == 3 and cells.dtype.kind in "iuf"
    if not kinds or not np.isfinite(cells).all() or (cells != np.round(cells)).any():
        raise InputError("the cells are not whole numbers of a grid", where=WHERE, value=f"{cells.dtype} {cells.shape}")
    return cells.astype(np.int64)


def _check_cells(task: Task, cells: Array) -> None:
    if any(n > most for n, most in zip(cells.shape, task.grid)):
        raise InputError("the body is larger than the grid", where=WHERE, value=cells.shape, allowed=f"<= {task.grid}")
    known = palette()
    unknown = set(np.unique(cells).tolist()) - {0, *known}
    if unknown:
        allowed = ", ".join(f"{n} {m.name}" for n, m in known.items())
        raise InputError("no material of this number", where=WHERE, value=min(unknown), allowed=f"0 empty, {allowed}")
    if not cells.any():
        raise InputError("the body is empty", where=WHERE, fix="Fill at least one cell.")
    if not is_one_piece(cells):
        raise InputError("the body is in several pieces", where=WHERE, allowed="1, joined by faces")
    if not (cells == MUSCLE).any():
        raise InputError("the body has no muscle", where=WHERE, fix=f"Fill at least one cell with {MUSCLE}.")


def _network(controller: Any) -> Network | None:
    if controller is None:
        return None
    network = Network.from_data(controller)
    if (network.inputs, network.outputs) != (INPUTS, 1):
        raise InputError("the network does not fit a cell", where=WHERE, value=(network.inputs, network.outputs),
                         allowed=f"{INPUTS} inputs, 1 output")  # fmt: skip
    return network


def random_cells(task: Task, rng: np.random.Generator) -> Array:
    """A body of random cells, in one piece, with a muscle."""
    while True:
        filled = rng.random(task.grid) < FILLED
        cells = largest_piece(np.where(filled, rng.integers(1, MUSCLE + 1, task.grid), 0).astype(np.uint8))
        if (cells == MUSCLE).any():
            return cells
