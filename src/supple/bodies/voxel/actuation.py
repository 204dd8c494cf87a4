"""Volumetric actuation: voxels swell and shrink with a control variable, a "temperature", that swings in time.

    T_i(t) = amplitude sin(2 pi (frequency t + phase_i)),    size_i = l (1 + expansion_i T_i)           [HL12, eq. 40]
    rest length of a link = (size_1 + size_2) / 2

The stiffness of links, the mass and the inertia keep their nominal values.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.voxel.model import VoxelModel
from supple.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Actuation:
    """A swinging control variable. amplitude [unit of control], frequency [Hz], phase [periods], one or (n,).

    >>> Actuation(amplitude=30.0, frequency=2.0).frequency
    2.0
    """

    amplitude: float
    frequency: float
    phase: ArrayLike = 0.0

    def __post_init__(self) -> None:
        if not np.isfinite(self.amplitude):
            raise InputError("the amplitude is not finite", where="Actuation", value=self.amplitude)
        if not (np.isfinite(self.frequency) and self.frequency >= 0):
            raise InputError("the frequency is negative", where="Actuation", value=self.frequency, allowed=">= 0 Hz")
        phase = np.asarray(self.phase, dtype=float)
        if phase.ndim > 1 or not np.isfinite(phase).all():
            raise InputError("the phase is not one number or one a voxel", where="Actuation", value=phase.shape)
        object.__setattr__(self, "phase", phase)


@dataclass(frozen=True, eq=False)
class Swing:
    """Sizes in time: size = rest + sine sin(2 pi frequency t) + cosine cos(2 pi frequency t), each (n,) [m]."""

    rest: float
    frequency: float
    sine: Array
    cosine: Array

    @classmethod
    def of(cls, model: VoxelModel, actuation: Actuation) -> Swing:
        """The swing of a model's voxels; voxels that would vanish are refused."""
        n, l = model.voxel_count, model.grid.voxel_size
        phase = np.asarray(actuation.phase)
        if phase.shape not in ((), (n,)):
            raise InputError("the phase is not one number or one a voxel", where="Actuation", value=phase.shape)
        strain = model.values("expansion") * actuation.amplitude
        if n and np.abs(strain).max() >= 1:
            raise InputError(
                "the control makes a voxel vanish",
                where="Actuation",
                value=float(np.abs(strain).max()),
                allowed="expansion times amplitude < 1",
            )
        angle = 2 * np.pi * np.broadcast_to(phase, n)
        return cls(l, float(actuation.frequency), l * strain * np.cos(angle), l * strain * np.sin(angle))

    def sizes(self, t: float) -> Array:
        """Sizes of the voxels at time t [s], (n,) [m]."""
        angle = 2 * np.pi * self.frequency * t
        return self.rest + self.sine * np.sin(angle) + self.cosine * np.cos(angle)
