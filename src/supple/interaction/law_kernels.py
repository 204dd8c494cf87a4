"""The law of contact: a penalty with a dashpot along the normal, Coulomb's friction that sticks and slides along the
surface. Functions of values, for numbers and for SIMD lanes; all arithmetic of contact forces is here.

    N  = k d + max(-k d, min(b k d, c v))               d: depth, v: speed at which it grows, b: see below
    T* = what would hold the contact:  -k_t s - c_t u   s: stretch of a spring along the surface [CS79], u: its rate
                                       -m u / h         or what stops a mass m within a step h
    T  = T*  where |T*| <= mu N (sticks),  else mu_k N T* / |T*| (slides),  and s is shortened to -T / k_t
    mu = mu_s of a contact that has not slid, mu_k of one that slides

The normal force is continuous where a contact opens and closes at speed, grows with d and with v, and never pulls: a
body that parts faster than k d/c is let go. Surfaces have b = BOUNDED: one that comes faster meets twice the spring.
Voxels that meet obstacles and each other within their small steps have b = FREE: they rebound as an oscillator does.
A contact that sticks does not creep: its force comes from where it was, not from how fast it slips.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import maximum, minimum, select_ge, sqrt

OPEN, STICKS, SLIDES = 0, 1, 2
BOUNDED, FREE = 1.0, 1e20  # largest force of a dashpot over that of the spring beside it
SMALLEST = 1e-30  # in place of a length that is divided by


@compiled(inline=True)
def normal_force(k, c, depth, speed, most=BOUNDED):
    """N [N] at a depth [m] and a speed [m/s], k [N/m] and c [N s/m]; 0 where open. most: b of the law."""
    spring = k * maximum(depth, 0.0)
    return spring + minimum(maximum(c * speed, -spring), most * spring)  # (C1)


@compiled(inline=True)
def normal_slopes(k, c, depth, speed):
    """dN/dd [N/m] and dN/dv [N s/m] of numbers, with b = BOUNDED; 0 where open."""
    spring, dash = k * depth, c * speed
    if depth <= 0.0 or dash <= -spring:
        return 0.0, 0.0
    if dash >= spring and c > 0.0:
        return 2.0 * k, 0.0
    return k, c


@compiled(inline=True)
def friction_share(size, hold, slide):
    """The part of a trial force of a size that friction gives: all of it up to hold = mu N, else slide = mu_k N."""
    return select_ge(hold, size, 0.0 * size + 1.0, slide / maximum(size, SMALLEST))


@compiled(inline=True)
def trial_size(k_t, c_t, s, u):
    """|T*| [N]."""
    x, y, z = k_t * s[0] + c_t * u[0], k_t * s[1] + c_t * u[1], k_t * s[2] + c_t * u[2]  # (C3)
    return sqrt(x * x + y * y + z * z)


@compiled(inline=True)
def friction_force(k_t, c_t, hold, slide, s, u):
    """T (3,) [N], the stretch (3,) [m] it leaves, and whether the contact sticks; s, u (3,): along the surface."""
    size = trial_size(k_t, c_t, s, u)
    share = -friction_share(size, hold, slide)
    T = (
        share * (k_t * s[0] + c_t * u[0]),  # (C3)
        share * (k_t * s[1] + c_t * u[1]),
        share * (k_t * s[2] + c_t * u[2]),
    )
    if size <= hold:
        return T, s, True
    back = -1.0 / k_t
    return T, (back * T[0], back * T[1], back * T[2]), False  # (C4)
