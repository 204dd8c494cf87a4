"""Bodies for tasks: checks of a body's cells against a task's grid, and random ones."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import ndimage

from supple.design.designs import largest_piece
from supple.design.tasks.task import MUSCLE, Task, palette
from supple.errors import InputError

Array = np.ndarray
WHERE = "body of a task"
FILLED = 0.75  # part of the cells of a random body that are not empty, before loose ones are taken away


def check_cells(task: Task, given: Any) -> Array:
    """Cells (nx, ny, nz) of a design, or as they are, on the task's grid: smaller ones stand in its corner.

    Refuses a body that is empty, larger than the grid, in several pieces, or without a muscle."""
    cells = np.asarray(getattr(given, "cells", given))
    if cells.ndim != 3 or not np.issubdtype(cells.dtype, np.integer):
        raise InputError("the cells are not whole numbers of a grid", where=WHERE, value=f"{cells.dtype} {cells.shape}")
    if any(n > most for n, most in zip(cells.shape, task.grid)):
        raise InputError("the body is larger than the grid", where=WHERE, value=cells.shape, allowed=f"<= {task.grid}")
    known = palette()
    unknown = set(np.unique(cells).tolist()) - {0, *known}
    if unknown:
        allowed = ", ".join(f"{n} {m.name}" for n, m in known.items())
        raise InputError("no material of this number", where=WHERE, value=min(unknown), allowed=f"0 empty, {allowed}")
    if not cells.any():
        raise InputError("the body is empty", where=WHERE, fix="Fill at least one cell.")
    pieces = int(ndimage.label(cells)[1])
    if pieces > 1:
        raise InputError("the body is in several pieces", where=WHERE, value=pieces, allowed="1, joined by faces")
    if not (cells == MUSCLE).any():
        raise InputError("the body has no muscle", where=WHERE, fix=f"Fill at least one cell with {MUSCLE}.")
    whole = np.zeros(task.grid, dtype=np.uint8)
    whole[tuple(slice(n) for n in cells.shape)] = cells
    return whole


def random_cells(task: Task, rng: np.random.Generator) -> Array:
    """A body of random cells, in one piece, with a muscle."""
    while True:
        filled = rng.random(task.grid) < FILLED
        cells = largest_piece(np.where(filled, rng.integers(1, MUSCLE + 1, task.grid), 0).astype(np.uint8))
        if (cells == MUSCLE).any():
            return cells
