"""Rigid bodies."""

from supple.bodies.rigid.body import RigidBody

__all__ = ["RigidBody"]
