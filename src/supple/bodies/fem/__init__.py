"""Finite-element bodies on tets and hexes."""

from supple.bodies.fem.body import FemBody

__all__ = ["FemBody"]
