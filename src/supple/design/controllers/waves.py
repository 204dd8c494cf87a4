"""Waves: an open-loop controller, every cell swings as a sine with a phase of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.algebra.dense.checks import check_array
from supple.algebra.dense.function_kernels import compute_sines
from supple.errors import InputError, check_number

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Waves:
    """u = sin(2 pi (frequency t + phase)). frequency [Hz]; phase (nx, ny, nz) [periods], one for each cell of the grid.

    >>> Waves(2.0, np.full((1, 1, 1), 0.25)).act(0.5).tolist()
    [[[1.0]]]
    """

    frequency: float
    phase: Array

    def __post_init__(self) -> None:
        check_number(self.frequency, name="frequency", where="Waves", least=0.0)
        phase = check_array(self.phase, name="phase", where="Waves").copy()
        if phase.ndim != 3 or not np.isfinite(phase).all():
            raise InputError("the phases are not finite numbers of a grid", where="Waves", value=phase.shape)
        object.__setattr__(self, "phase", phase)

    def act(self, t: float) -> Array:
        """Actions of all cells at time t [s], (nx, ny, nz), in [-1, 1]."""
        turns = self.frequency * t + self.phase.ravel()
        sines = np.empty_like(turns)
        compute_sines(turns, sines)
        return np.clip(sines, -1.0, 1.0).reshape(self.phase.shape)
