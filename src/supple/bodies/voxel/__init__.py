"""Voxel bodies: lattices of beams between the voxels of a grid."""

from supple.bodies.voxel.actuation import Actuation, Commands, Drive, Samples
from supple.bodies.voxel.body import VoxelBody
from supple.bodies.voxel.links.link_memory import LinkMemory
from supple.bodies.voxel.regions import index_box, touched_by_box, touched_by_cylinder, touched_by_sphere
from supple.bodies.voxel.touching.collision import Collision

__all__ = [
    "Actuation",
    "Collision",
    "Commands",
    "Drive",
    "LinkMemory",
    "Samples",
    "VoxelBody",
    "index_box",
    "touched_by_box",
    "touched_by_cylinder",
    "touched_by_sphere",
]
