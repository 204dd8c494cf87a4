"""Where laws are linearised next: contacts whose friction would turn round are held first.

Newton's method finds a contact sliding at u, and its law gives it no resistance along the way it slides. So the next
velocity may lie far on the other side, where friction points back: the contact sticks in between, within so small
velocities that no step along the line meets them. Such a contact is linearised where its spring has no stretch, as one
that sticks; if it is to slide, the force it would need then says so, and which way.
"""

from __future__ import annotations

import numpy as np

from supple.contact.contact_set import ContactSet

Array = np.ndarray


def next_points(contacts: ContactSet, before: Array, reached: Array, h: float) -> Array:
    """Relative velocities (k, 3) [m/s] at which to linearise after those of `before` led to `reached`."""
    old, new = _trial(contacts, before, h), _trial(contacts, reached, h)
    turned = np.einsum("ki,ki->k", old, new) < 0
    if not turned.any():
        return reached
    stiffness = h * contacts.tangential_stiffness + contacts.tangential_dashpot
    still = reached + new / np.where(stiffness > 0, stiffness, np.inf)[:, None]
    return np.where(turned[:, None], still, reached)


def _trial(contacts: ContactSet, u: Array, h: float) -> Array:
    """Forces (k, 3) [N] along the surface that contacts would need to stick."""
    n = contacts.normal

    def along(x: Array) -> Array:
        return np.asarray(x - np.einsum("ki,ki->k", n, x)[:, None] * n)

    way = along(u)
    stretch = along(contacts.slip) + h * way
    return -contacts.tangential_stiffness[:, None] * stretch - contacts.tangential_dashpot[:, None] * way
