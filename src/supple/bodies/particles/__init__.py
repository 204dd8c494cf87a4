"""Particles with springs."""

from supple.bodies.particles.body import Particles

__all__ = ["Particles"]
