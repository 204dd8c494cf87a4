"""Numbers of voxel lattices."""
