"""A fluid that fills the world, or what of it lies below a level: it drags bodies and bears them up."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.checks import check_vector
from supple.errors import InputError, check_real


@dataclass(frozen=True, eq=False)
class Fluid:
    """density [kg/m³]; drag: coefficient C [-]; flow (3,) [m/s]; level: height z [m] of its surface, None: everywhere.

    >>> Fluid(density=1000.0).drag
    1.05
    """

    density: float
    drag: float = 1.05
    flow: ArrayLike = (0.0, 0.0, 0.0)
    level: float | None = None

    def __post_init__(self) -> None:
        check_real("Fluid", density=self.density, drag=self.drag, level=self.level)
        if not (np.isfinite(self.density) and self.density >= 0):
            raise InputError("the density is negative", where="Fluid", value=self.density, allowed=">= 0 kg/m³")
        if not (np.isfinite(self.drag) and self.drag >= 0):
            raise InputError("the drag coefficient is negative", where="Fluid", value=self.drag, allowed=">= 0")
        if self.level is not None and not np.isfinite(self.level):
            raise InputError("the level is not finite", where="Fluid", value=self.level)
        object.__setattr__(self, "flow", check_vector(self.flow, name="flow", where="Fluid"))
