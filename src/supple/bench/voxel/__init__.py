"""Speed of voxel lattices on several threads."""
