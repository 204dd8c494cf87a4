"""Lanczos iteration: pairs of large matrices in blocks, and the largest pair of small ones."""
