"""Layered bodies: a rigid core with a layer of finite elements around it."""

from supple.bodies.layered.body import LayeredBody

__all__ = ["LayeredBody"]
