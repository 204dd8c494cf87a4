"""Floating bodies: a moving frame with deformations in it, by a few shapes or by the nodes of a layer around a core."""

from supple.bodies.floating.body import FloatingBody
from supple.bodies.floating.layered import LayeredBody
from supple.bodies.floating.matrices import MatrixSolid, load_matrices
from supple.bodies.floating.model import FloatingModel
from supple.bodies.floating.stride import Stride, StrideReport

__all__ = ["FloatingBody", "FloatingModel", "LayeredBody", "MatrixSolid", "Stride", "StrideReport", "load_matrices"]
