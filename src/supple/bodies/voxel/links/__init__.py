"""The link between two voxels: its energy, its laws, what it remembers."""
