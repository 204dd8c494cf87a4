"""A fluid around voxels: drag on their exposed faces, and buoyancy below its surface. Formulas are in `surroundings`.

The drag of a plate across the flow: C is about 1.1 to 1.3 for a square plate, 1.05 for a cube.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.placement import check_vector
from supple.bodies.voxel.model import VoxelModel
from supple.errors import InputError

Array = np.ndarray
DEEP = 1e9  # [m]: a fluid without a surface


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
        if not (np.isfinite(self.density) and self.density >= 0):
            raise InputError("the density is negative", where="Fluid", value=self.density, allowed=">= 0 kg/m³")
        if not (np.isfinite(self.drag) and self.drag >= 0):
            raise InputError("the drag coefficient is negative", where="Fluid", value=self.drag, allowed=">= 0")
        if self.level is not None and not np.isfinite(self.level):
            raise InputError("the level is not finite", where="Fluid", value=self.level)
        object.__setattr__(self, "flow", check_vector(self.flow, name="flow", where="Fluid"))


def fluid_array(fluid: Fluid | None, axes: Sequence[int]) -> Array:
    """rho C / 2, rho, surface normal, level, flow, in the axes of the sweep, (9,); empty without a fluid."""
    if fluid is None:
        return np.zeros(0)
    up = np.array([0.0, 0.0, 1.0])[list(axes)]
    level = DEEP if fluid.level is None else fluid.level
    flow = np.asarray(fluid.flow)[list(axes)]
    return np.array([0.5 * fluid.density * fluid.drag, fluid.density, *up, level, *flow])


def exposed_faces(model: VoxelModel, links: Array, link_axis: Array, axes: Sequence[int]) -> Array:
    """1 for faces without a link, 0 for others: ahead and behind along the axes of the sweep, (n, 6)."""
    faces = np.ones((model.voxel_count, 6))
    place = np.argsort(axes)[link_axis]
    faces[links[:, 0], 2 * place] = 0.0
    faces[links[:, 1], 2 * place + 1] = 0.0
    return faces
