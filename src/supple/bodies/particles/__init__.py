"""Particles with springs."""

from supple.bodies.particles.body import Particles
from supple.bodies.particles.springs import SpringForce

__all__ = ["Particles", "SpringForce"]
