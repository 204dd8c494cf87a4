"""Contacts of rigid convex shapes: few points a pair, from closed forms, separating axes and clipped faces."""

from supple.contact.manifolds.find import Manifolds

__all__ = ["Manifolds"]
