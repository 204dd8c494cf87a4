"""Rotations, polar decomposition, SIMD lanes, small dense and block-sparse matrices, linear solvers, eigenpairs."""
