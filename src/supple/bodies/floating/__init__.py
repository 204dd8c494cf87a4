"""Floating bodies: a moving frame with deformations in it by a few shapes."""

from supple.bodies.floating.body import FloatingBody
from supple.bodies.floating.matrices import MatrixSolid, load_matrices
from supple.bodies.floating.model import FloatingModel
from supple.bodies.stride import Stride, StrideReport

__all__ = ["FloatingBody", "FloatingModel", "MatrixSolid", "Stride", "StrideReport", "load_matrices"]
