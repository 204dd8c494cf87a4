"""How soft contacts with surfaces must be for the lattice's explicit steps."""

from __future__ import annotations

import numpy as np

from supple.bodies.capabilities import ContactConstants
from supple.bodies.voxel.model import VoxelModel

SINKS = 2e-3
"""Part of its size by which a voxel body sinks under its own weight, with no stiffness given."""
BEARABLE = 0.18
"""Of sqrt(m E l): the dashpot of a voxel's face, at a damping ratio of one, beside which the lattice is stable."""


def surface_constants(model: VoxelModel, voxel_size: float) -> ContactConstants:
    """A corner of a voxel is at most about as stiff as a link, E l. Dashpots have means over the voxels.

    With k = K l² of a voxel's face: a / K^1/2 = zeta sqrt(2 m / k) is that of `obstacles`, which has k = 2 E l;
    b / K = zeta BEARABLE sqrt(m E l) / k is the most that the steps of the lattice bear.
    """
    modulus = float(np.max(model.properties["young"])) / voxel_size
    zeta, m, l = model.values("contact_damping").mean(), model.mass.mean(), voxel_size
    link = np.sqrt(m * model.values("young").mean() * l)
    return ContactConstants(SINKS, modulus, (float(zeta * np.sqrt(2 * m) / l), float(zeta * BEARABLE * link) / l**2))
