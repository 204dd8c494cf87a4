"""Planes and spheres that voxels rest on: a penalty normal to the surface, and Coulomb's friction along it.

    p = size/2 - (n . x - offset),   N = max(0, k p - c n . v),   k = 2 E l,   c = 2 zeta sqrt(m E l)
    V* = V + dt F/m without friction, along the plane
    at rest:   |V*| <= mu_s N dt/m stays at rest                                             [HL12, eq. 36]
    sliding:   |V*| <= mu_d N dt/m stops; else V = V* (1 - mu_d N dt / (m |V*|))             [HL12, eqs. 37, 38]

Eq. 38 tests the velocity before the step; tested is the candidate V*, so that friction never turns a motion round. A
voxel counts as at rest while it does not move along the plane. The normal force never pulls. Contact acts at the
voxel's centre: it exerts no torque. On a sphere n points from its centre to the voxel, and p = size/2 + R - distance.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.placement import check_vector
from supple.bodies.voxel.model import VoxelModel
from supple.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Plane:
    """The half-space normal . x >= offset is free: normal (3,) of any length, offset [m]. Plane() is a floor."""

    normal: ArrayLike = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def __post_init__(self) -> None:
        n = check_vector(self.normal, name="normal", where="Plane")
        length = float(np.linalg.norm(n))
        if length == 0:
            raise InputError("the normal is zero", where="Plane")
        if not np.isfinite(self.offset):
            raise InputError("the offset is not finite", where="Plane", value=self.offset)
        object.__setattr__(self, "normal", n / length)


@dataclass(frozen=True)
class Sphere:
    """A ball that stays where it is: centre (3,) [m], radius [m]."""

    centre: tuple[float, float, float]
    radius: float

    def __post_init__(self) -> None:
        centre = check_vector(self.centre, name="centre", where="Sphere")
        if not (np.isfinite(self.radius) and self.radius > 0):
            raise InputError("the radius is not positive", where="Sphere", value=self.radius, allowed="> 0 m")
        object.__setattr__(self, "centre", (float(centre[0]), float(centre[1]), float(centre[2])))


def contact_constants(model: VoxelModel) -> Array:
    """k/m [1/s²], c/m [1/s], mu_s, mu_d of each voxel, (n, 4)."""
    square = model.values("young") * model.grid.voxel_size / model.mass
    return np.stack(
        [
            2 * square,
            2 * model.values("contact_damping") * np.sqrt(square),
            model.values("static_friction"),
            model.values("kinetic_friction"),
        ],
        axis=1,
    )
