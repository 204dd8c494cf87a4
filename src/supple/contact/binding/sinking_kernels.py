"""Whether impacts are far from what a given stiffness holds, so that nothing has to be said of them."""

# mypy: ignore-errors
from __future__ import annotations

import math

from supple.algebra.compiling.compiled import compiled


@compiled
def is_held(stopping, body, points, gap, area, speed, stiffness, h, most):
    """Whether every contact that closes within h [s] takes up the energy of its pair alone, on its own area (k,) [m²],
    within the part `most` of the smaller width: then all contacts of the pair together do.

    stopping: see `Stopping`; body (k, 2), points (k, 4), gap (k,) [m], speed (k,) [m/s]; stiffness [N/m³].
    """
    for k in range(len(gap)):
        if not gap[k] + h * speed[k] < 0.0:
            continue
        free, own, width = math.inf, math.inf, math.inf
        for side in range(2):
            b = body[k, side]
            if stopping.is_balls[b]:
                ball = points[k, side]
                free, own = min(free, stopping.ball_mass[ball]), min(own, stopping.ball_mass[ball])
                width = min(width, stopping.ball_width[ball])
            else:
                free, own = min(free, stopping.mass[b, 0]), min(own, stopping.mass[b, 1])
                width = min(width, stopping.width[b])
        mass = own if math.isinf(free) else free
        v = min(speed[k], 0.0)
        if math.isfinite(mass) and not mass * v * v <= (most * width) ** 2 * stiffness * area[k]:
            return False
    return True
