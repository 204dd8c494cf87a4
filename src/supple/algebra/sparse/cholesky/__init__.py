"""Sparse Cholesky factors by dense fronts."""
