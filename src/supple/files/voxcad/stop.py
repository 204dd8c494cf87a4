"""Stop conditions of VoxCAD files that look at the motion: below a threshold for 500 of the file's own steps.

kinetic energy    sum (m v² + I w²) / 2 / voxels <= threshold [mJ]
motion            fastest voxel times the file's own step <= threshold [mm]
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from supple.files.voxcad.body import voxcad_body
from supple.files.voxcad.record import StopKind, VoxcadFile

Array = np.ndarray
STEPS = 500  # of the file's own, during which the threshold must hold
MILLI = 1e-3


@dataclass(eq=False)
class StopTest:
    """An `on_step` of `run`: True once the motion has been below the threshold for a duration [s].

    step [s]: in which the fastest voxel's way is measured. weights (n, 2): mass [kg] and inertia [kg m²] over the
    number of voxels, for energies; None for the way.
    """

    threshold: float
    duration: float
    step: float
    weights: Array | None = None
    quiet_since: float | None = field(default=None, init=False)

    def value(self, v: Array) -> float:
        """Energy a voxel [J], or the fastest voxel's way in a step [m], for velocities v (n, 6)."""
        squares = np.stack([(v[:, :3] ** 2).sum(axis=1), (v[:, 3:] ** 2).sum(axis=1)], axis=1)
        if self.weights is None:
            return self.step * float(np.sqrt(squares[:, 0].max()))
        return 0.5 * float((self.weights * squares).sum())

    def __call__(self, state: Any, report: Any) -> bool:
        """Whether to stop after a step."""
        if self.value(state.v.reshape(-1, 6)) > self.threshold:
            self.quiet_since = None
            return False
        if self.quiet_since is None:
            self.quiet_since = state.t
        return bool(state.t - self.quiet_since >= self.duration)


def stop_test(file: VoxcadFile) -> StopTest | None:
    """The test of a file that stops by its motion; None for others."""
    kind, value = file.simulator.stop_kind, file.simulator.stop_value
    step = file.own_step
    if kind is StopKind.KINETIC_ENERGY_BELOW:
        model = voxcad_body(file).model
        weights = np.stack([model.mass, model.inertia], axis=1) / model.voxel_count
        return StopTest(MILLI * value, STEPS * step, step, weights)
    if kind is StopKind.MOTION_BELOW:
        return StopTest(MILLI * value, STEPS * step, step)
    return None
