"""Voxel grids."""
