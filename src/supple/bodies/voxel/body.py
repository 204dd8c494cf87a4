"""A voxel body: a grid of voxels with a palette of materials, simulated as a lattice of beams between the voxels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra import rotations
from supple.bodies.coordinates import Frames
from supple.bodies.placement import Placement
from supple.bodies.protocols import Force, PlacedBody
from supple.bodies.voxel.elastic import GroundDamping, LatticeForce
from supple.bodies.voxel.mass import CubeMass
from supple.bodies.voxel.model import Palette, VoxelModel
from supple.errors import InputError
from supple.geometry import VoxelGrid

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class VoxelBody:
    """A soft body of voxels.

    grid: VoxelGrid. palette: one VoxelMaterial for all voxels, a sequence for the numbers 1, 2, ..., or a mapping from
    number to material. Each voxel is a frame: its centre and rotation.

    >>> import numpy as np
    >>> from supple.geometry import VoxelGrid
    >>> from supple.material.voxel import VoxelMaterial
    >>> beam = VoxelBody(VoxelGrid(np.ones((10, 2, 2), dtype=int), 0.01), VoxelMaterial(young=1e6, density=1000))
    >>> beam.model.voxel_count, beam.model.link_count
    (40, 76)
    """

    grid: VoxelGrid
    palette: Palette
    kind = "voxel"

    def __post_init__(self) -> None:
        if not isinstance(self.grid, VoxelGrid):
            raise InputError("a voxel body needs a VoxelGrid", value=type(self.grid).__name__)
        _ = self.model

    @cached_property
    def model(self) -> VoxelModel:
        """The lattice; it does not depend on the placement."""
        return VoxelModel.make(self.grid, self.palette)

    @cached_property
    def lattice_force(self) -> LatticeForce:
        """The links as a force; rotations of the whole change nothing, so it serves every placement."""
        return LatticeForce.of(self.model)

    @property
    def positions(self) -> Array:
        """Rest positions of the voxels' centres [m], (n, 3)."""
        return self.model.centres

    @property
    def total_mass(self) -> float:
        """Mass of the body [kg]."""
        return float(self.model.mass.sum())

    def place(self, placement: Placement) -> PlacedBody:
        """The body in the world: one frame a voxel."""
        model = self.model
        n = model.voxel_count
        x, v = np.empty((n, 7)), np.empty((n, 6))
        x[:, :3] = placement.apply(model.centres)
        x[:, 3:] = placement.rotation
        v[:, :3] = placement.point_velocities(x[:, :3])
        v[:, 3:] = rotations.rotate_inverse(placement.rotation, placement.spin)
        forces: list[tuple[str, Force]] = [("links", self.lattice_force)]
        if model.ground_damping.any():
            forces.append(("ground damping", GroundDamping(model.ground_damping)))
        return PlacedBody(Frames(n), x, v, (CubeMass(model.mass, model.inertia),), tuple(forces))
