"""Voxel bodies: lattices of beams between the voxels of a grid."""

from supple.bodies.voxel.actuation import Actuation
from supple.bodies.voxel.body import VoxelBody
from supple.bodies.voxel.collision import Collision
from supple.bodies.voxel.contact import Plane, Sphere

__all__ = ["Actuation", "Collision", "Plane", "Sphere", "VoxelBody"]
