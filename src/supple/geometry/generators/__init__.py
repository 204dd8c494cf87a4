"""Meshes of simple shapes, and tets that fill surfaces."""
