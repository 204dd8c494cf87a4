"""Which bodies pass each other faster than contact is certainly found."""

# mypy: ignore-errors
from __future__ import annotations

import math

from supple.algebra.compiling.compiled import compiled


@compiled
def find_too_fast(v, starts, box, safe, least, h, fastest_out):
    """The first two bodies whose boxes meet and of which one moves in h [s] by more than is safe past the mean motion
    of the other, and by how much [m]; -1, -1 and 0 where there are none.

    v (n, 3) [m/s]; starts (bodies + 1,): first vertices; box (bodies, 6) [m]; safe (bodies, bodies) [m], least: its
    smallest entry; fastest_out (bodies,) [m]: a bound of how far each moves.
    """
    bodies = len(starts) - 1
    for b in range(bodies):
        largest = 0.0
        for k in range(starts[b], starts[b + 1]):
            largest = max(largest, abs(v[k, 0]), abs(v[k, 1]), abs(v[k, 2]))
        fastest_out[b] = math.sqrt(3.0) * h * largest
    for one in range(bodies):
        if not fastest_out[one] > 0.5 * least:
            continue
        for two in range(bodies):
            if not fastest_out[one] + fastest_out[two] > safe[one, two]:
                continue
            meets = True
            for a in range(3):
                meets &= box[one, a] <= box[two, 3 + a] and box[two, a] <= box[one, 3 + a]
            if meets:
                travel = h * past_mean(v, starts, one, two)
                if travel > safe[one, two]:
                    return one, two, travel
    return -1, -1, 0.0


@compiled
def past_mean(v, starts, one, two):
    """The largest speed of a vertex of one body relative to the mean velocity of another [m/s]."""
    x, y, z, largest, count = 0.0, 0.0, 0.0, 0.0, starts[two + 1] - starts[two]
    for k in range(starts[two], starts[two + 1]):
        x, y, z = x + v[k, 0] / count, y + v[k, 1] / count, z + v[k, 2] / count
    for k in range(starts[one], starts[one + 1]):
        a, b, c = v[k, 0] - x, v[k, 1] - y, v[k, 2] - z
        largest = max(largest, a * a + b * b + c * c)
    return math.sqrt(largest)
