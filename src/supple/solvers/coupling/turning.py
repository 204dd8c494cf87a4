"""Where laws are linearised next: contacts whose friction would turn round are held first.

Newton's method finds a contact sliding at u, and its law gives it no resistance along the way it slides. So the next
velocity may lie far on the other side, where friction points back: the contact sticks in between, within so small
velocities that no step along the line meets them. Such a contact is linearised where its spring has no stretch, as one
that sticks; if it is to slide, the force it would need then says so, and which way.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.contact.contact_set import ContactSet

Array = np.ndarray


def next_points(contacts: ContactSet, before: Array, reached: Array, h: float) -> Array:
    """Relative velocities (k, 3) [m/s] at which to linearise after those of `before` led to `reached`, which is given
    back where nothing turns round."""
    c, out = contacts, reached.copy()
    turned = hold_turning(h, c.normal, c.slip, c.tangential_stiffness, c.tangential_dashpot, before, out)
    return out if turned else reached


@compiled
def hold_turning(h: float, normal: Any, slip: Any, stiffness: Any, dashpot: Any, before: Any, reached_out: Any) -> int:
    """Change velocities (k, 3) that were reached from those `before`, of contacts whose friction would turn round;
    returns how many do. stiffness, dashpot (k,): along the surface."""
    count = 0
    for k in range(len(normal)):
        n0, n1, n2 = normal[k]
        s0, s1, s2 = slip[k]
        along = n0 * s0 + n1 * s1 + n2 * s2
        s0, s1, s2 = s0 - along * n0, s1 - along * n1, s2 - along * n2
        a0, a1, a2 = before[k]
        along = n0 * a0 + n1 * a1 + n2 * a2
        a0, a1, a2 = a0 - along * n0, a1 - along * n1, a2 - along * n2
        b0, b1, b2 = reached_out[k]
        along = n0 * b0 + n1 * b1 + n2 * b2
        b0, b1, b2 = b0 - along * n0, b1 - along * n1, b2 - along * n2
        c, w = stiffness[k], h * stiffness[k] + dashpot[k]
        # what friction would need to stick, with the sign changed: c (slip + h u) + dashpot u
        old0, old1, old2 = c * s0 + w * a0, c * s1 + w * a1, c * s2 + w * a2
        new0, new1, new2 = c * s0 + w * b0, c * s1 + w * b1, c * s2 + w * b2
        if w > 0.0 and old0 * new0 + old1 * new1 + old2 * new2 < 0.0:
            reached_out[k, 0] -= new0 / w
            reached_out[k, 1] -= new1 / w
            reached_out[k, 2] -= new2 / w
            count += 1
    return count
