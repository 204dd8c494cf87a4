"""About which point the angular momentum of a frame with more than a rigid body is balanced.

    over a whole step      h1 - h0 - c x (p1 - p0)        about the origin c of the frame in the middle
    to the end itself      h1 - h0 - c0 x (p1 - p0) = L1 - L0 + (c1 - c0) x p1

p linear momentum, h angular momentum about the world's origin, L about the frame's. The second is d/dt L = m - c' x p
of a rule that takes forces, and so p, at its end: with p0 in place of p1 a body thrown through a uniform gravity would
turn, the faster the faster it flies.
"""

from __future__ import annotations

import numpy as np

from supple.algebra.dense import rotations

Array = np.ndarray


def moment_at(c0: Array, c1: Array, c: Array, change: Array) -> Array:
    """Change of angular momentum (3,) [kg m²/s] in world axes, from the change (6 or more,) of (p, h), of a frame that
    goes from c0 to c1 (3,) [m], seen from one at c (3,)."""
    about = c0 if np.array_equal(c, c1) else c
    return change[3:6] - rotations.cross(about, change[:3])
