"""Materials: numbers with units."""

from supple.material.elastic import Law, Material
from supple.material.voxel import VoxelMaterial

__all__ = ["Law", "Material", "VoxelMaterial"]
