"""What every two bodies or obstacles have between them: whether they touch, restitution, and the stiffness of each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from supple.bodies.body_protocol import Body
from supple.bodies.capabilities import ContactConstants, ExplicitContact
from supple.contact.surface import ContactSurface, extent
from supple.interaction.obstacles import Obstacle

if TYPE_CHECKING:
    from supple.contact.contact import Contact

Array = np.ndarray
USUAL = ContactConstants(sinks=1e-4)
"""With no stiffness given a body sinks by this part of its size under its own weight, on a sixth of its surface."""


def excluded_pairs(contact: Contact, names: list[str], own: list[bool], count: int) -> Array:
    """Which of the names never touch, (n, n). names: bodies, meshes of obstacles, up to `count` of them, then obstacles
    with formulas. own: bodies that touch obstacles."""
    table = np.array([[contact.is_excluded(a, b) for b in names] for a in names], dtype=bool).reshape(len(names), -1)
    bodies, others = np.arange(len(names)) < len(own), np.flatnonzero(~np.array(own, dtype=bool))
    if not contact.between_bodies:
        table |= np.outer(bodies, bodies) & ~np.eye(len(names), dtype=bool)
    table[np.ix_(others, ~bodies)] = True
    table[np.ix_(~bodies, others)] = True
    return table


def restitutions(contact: Contact, names: list[str], obstacles: Mapping[str, Obstacle]) -> Array:
    """Speed after an impact over that before of every two names, (n, n); nan where none is given."""
    usual = np.nan if contact.restitution is None else contact.restitution
    table = np.full((len(names), len(names)), usual)
    for k, name in enumerate(names):
        own = obstacles[name].restitution if name in obstacles else None
        if own is not None:
            table[k, :] = table[:, k] = own
    return table


def element_size(surface: ContactSurface) -> float:
    """The smallest mean edge of the bodies, or diameter of points [m]."""
    size = surface.element_size[surface.element_size > 0]
    return float(size.min()) if len(size) else 1.0


def own_constants(body: Body | None) -> ContactConstants:
    """The contact constants of a body."""
    return body.contact_constants() if isinstance(body, ExplicitContact) else USUAL


def own_modulus(body: Body, surface: ContactSurface, g: float) -> float:
    """Pressure a depth [N/m³] that carries a body's weight on a sixth of its surface, and is not more than it bears."""
    own = own_constants(body)
    weight, area = body.total_mass * g, float(surface.vertex_area.sum())
    if surface.is_points[0] and surface.radius[0] > 0:  # each ball under its own weight, mean by mean
        return min(own.modulus, weight / (area * own.sinks * float(surface.element_size[0])))
    return min(own.modulus, 6 * weight / (area * own.sinks * extent(surface.rest)))
