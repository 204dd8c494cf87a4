"""Kernels of a step of a tree: frames, forces, elimination, substitution."""
