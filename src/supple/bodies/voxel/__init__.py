"""Voxel bodies: lattices of beams between the voxels of a grid."""

from supple.bodies.voxel.body import VoxelBody

__all__ = ["VoxelBody"]
