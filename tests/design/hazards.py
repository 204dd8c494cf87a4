"""Controllers and measures that go wrong, in a module that workers can import."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from time import sleep

import numpy as np

from supple.bodies.voxel import Actuation, Commands
from supple.design import Arena, Design, Trial
from supple.geometry import VoxelGrid


def deadly(design: Design, arena: Arena, grid: VoxelGrid) -> Actuation | None:
    """A controller whose designs kill their process: always, or as long as a file is not there.
    Those without data live."""
    if design.controller is None:
        return Actuation(arena.amplitude, arena.frequency, design.fields["phase"][design.cells > 0])
    once = design.controller.get("once")
    if once is None or not Path(once).exists():
        if once is not None:
            Path(once).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return Actuation(arena.amplitude, arena.frequency)


def nothing(design: Design, arena: Arena, grid: VoxelGrid) -> Commands:
    """A controller that commands what is not a number after a while."""
    return Commands(lambda t, state: np.array([0.0 if t < 0.02 else np.nan]), rate=100.0, count=1)


def endless(trial: Trial) -> float:
    """A measure that never returns."""
    while True:
        sleep(1.0)
