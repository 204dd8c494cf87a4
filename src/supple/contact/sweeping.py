"""Where vertices that are fast for an obstacle meet it within a step.

    box, sphere, capsule   t += (gap + tolerance) / -n . v: the distance from a convex obstacle falls no faster [Mir96]
    height field           the first of places half a cell apart that lies below it

The gap is the one from the start along the normal of the meeting, so that gap + h n . v is that at the end of the step.
"""

from __future__ import annotations

import numpy as np

from supple.contact.rigid_sides import obstacle_shape
from supple.interaction.obstacles import HeightField, Obstacle, distance

Array = np.ndarray
FAST = 0.25
"""Part of the width of an obstacle, or of a cell, that a vertex may move in a step to be looked at where it begins."""
SLACK = 1e-3
"""Part of the width by which a vertex may have sunk where it is said to meet."""
MOST_ADVANCES = 200
MOST_PLACES = 256
"""Places on the way of a vertex that are compared with a height field."""


def swept_distance(obstacle: Obstacle, x: Array, v: Array, h: float, radius: Array) -> tuple[Array, Array]:
    """Gap (k,) [m] and normal (k, 3) of balls x (k, 3) [m] of a radius (k,) [m] that move by v (k, 3) [m/s] for h [s].

    As where they are, but of those that are fast as where they first meet the obstacle; those that pass it have the
    normal along which they are, if they come nearer along it an infinite gap.
    """
    gap, normal = distance(obstacle, x)
    gap -= radius
    placed = obstacle_shape(obstacle)
    if isinstance(obstacle, HeightField):
        width = float(np.min(obstacle.spacing))
    elif placed is not None and placed[0] is not None:
        width = placed[0].width
    else:
        return gap, normal
    fast = np.flatnonzero((h * np.linalg.norm(v, axis=1) > FAST * width) & (gap > SLACK * width))
    if len(fast):
        meet = _meet_ground if isinstance(obstacle, HeightField) else _meet_convex
        meets, t, at, n = meet(obstacle, x[fast], v[fast], h, radius[fast], width)
        speed = np.einsum("ki,ki->k", n, v[fast])
        gap[fast[meets]] = (at - t * speed)[meets]
        normal[fast[meets]] = n[meets]
        passes = fast[~meets]
        nearer = gap[passes] + h * np.einsum("ki,ki->k", normal[passes], v[passes]) < 0
        gap[passes[nearer]] = np.inf
    return gap, normal


Meeting = tuple[Array, Array, Array, Array]
"""Which meet, after what time [s], the gap then [m] and its normal."""


def _meet_convex(obstacle: Obstacle, x: Array, v: Array, h: float, radius: Array, width: float) -> Meeting:
    t, tolerance = np.zeros(len(x)), SLACK * width
    moving = np.ones(len(x), dtype=bool)
    meets = np.zeros(len(x), dtype=bool)
    for _ in range(MOST_ADVANCES):
        gap, normal = distance(obstacle, x + t[:, None] * v)
        gap -= radius
        rate = -np.einsum("ki,ki->k", normal, v)
        meets |= moving & (gap <= 0)
        moving &= (gap > 0) & (rate * (h - t) > gap)
        if not moving.any():
            break
        t[moving] = np.minimum(t[moving] + (gap[moving] + tolerance) / rate[moving], h)
    return meets | moving, t, gap, normal


def _meet_ground(obstacle: Obstacle, x: Array, v: Array, h: float, radius: Array, width: float) -> Meeting:
    way = h * float(np.linalg.norm(v, axis=1).max())
    times = np.linspace(0.0, h, min(MOST_PLACES, 1 + int(np.ceil(way / (0.5 * width)))))[1:]
    t, meets = np.full(len(x), h), np.zeros(len(x), dtype=bool)
    for time in times:
        gap, _ = distance(obstacle, x + time * v)
        new = ~meets & (gap <= radius)
        t[new] = time
        meets |= new
    gap, normal = distance(obstacle, x + t[:, None] * v)
    return meets, t, gap - radius, normal
