"""A fluid around voxels: drag on their exposed faces, and buoyancy below its surface. Formulas are in `surroundings`.

The drag of a plate across the flow: C is about 1.1 to 1.3 for a square plate, 1.05 for a cube.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.bodies.voxel.model import VoxelModel
from supple.interaction.fluid import Fluid

Array = np.ndarray
DEEP = 1e9  # [m]: a fluid without a surface


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
