"""The normal force of a contact: a spring, with a dashpot whose force is at most the spring's.

    N = k d + max(-k d, min(k d, c v))        d: depth, v: speed at which it grows

So the force is continuous where a contact opens and closes at speed, grows with d and with v, and never pulls: a body
that parts faster than k d/c is let go. One that comes faster meets twice the spring.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled


@compiled(inline=True)
def normal_force(k, c, depth, speed):
    """N [N], dN/dd [N/m] and dN/dv [N s/m] at a depth [m] and a speed [m/s], k [N/m] and c [N s/m]; 0 where open."""
    spring, dash = k * depth, c * speed
    if depth <= 0.0 or dash <= -spring:
        return 0.0, 0.0, 0.0
    if dash >= spring and c > 0.0:
        return 2.0 * spring, 2.0 * k, 0.0
    return spring + dash, k, c
