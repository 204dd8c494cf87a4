"""Tet, hex and surface meshes, regions, embedding."""
