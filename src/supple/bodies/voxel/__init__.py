"""Voxel bodies: lattices of beams between the voxels of a grid."""

from supple.bodies.voxel.actuation import Actuation
from supple.bodies.voxel.body import VoxelBody
from supple.bodies.voxel.contact import Plane

__all__ = ["Actuation", "Plane", "VoxelBody"]
