"""Forces and tangents of contacts: a penalty along the normal with a dashpot, Coulomb's friction that sticks.

    g  = g_0 + n . (h u)                            gap at the end of a step [m]; u: velocity, first side less second
    N  = k d + max(-k d, min(k d, -c n . u))        normal force at the depth d = max(0, -g), see `penalty_kernels`
    s  = s_0 + h P u,   P = I - n n^T               stretch of the spring that holds a sticking contact [CS79]
    T* = -k_t s - c_t P u                           trial force along the surface
    T  = T*  where |T*| <= mu N (sticks),  else mu N T* / |T*| (slides),  and s is shortened to -T / k_t

Tangents are those of f = N n + T by u at the end of the step, with their sign changed, so that they are positive.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.interaction.penalty_kernels import normal_force

OPEN, STICKS, SLIDES = 0, 1, 2
ROUNDING = 1e-15
"""Part of a gap and of the way of a step that rounding may make of both together."""


@compiled
def compute_contacts(h, gap, normal, slip, k, k_t, c, c_t, mu, u, symmetric, f_out, T_out, slip_out, mode_out):
    """f_out (n, 3) [N] on the first sides, T_out (n, 3, 3) = -df/du [N s/m], slip_out (n, 3) [m], mode_out (n,).

    gap (n,) [m], normal (n, 3), slip (n, 3) [m]: at the start of a step of h [s]; k, k_t (n,) [N/m], c, c_t (n,)
    [N s/m], mu (n,); u (n, 3) [m/s] at its end. symmetric: leave out of the tangent how friction grows with the normal
    force.
    """
    P = np.empty((3, 3))
    for m in range(len(gap)):
        n0, n1, n2 = normal[m, 0], normal[m, 1], normal[m, 2]
        un = n0 * u[m, 0] + n1 * u[m, 1] + n2 * u[m, 2]
        g = gap[m] + h * un
        N, by_depth, by_speed = normal_force(k[m], c[m], -g, -un)
        if N <= 0.0:
            mode_out[m] = OPEN
            for i in range(3):
                f_out[m, i] = 0.0
                slip_out[m, i] = 0.0
                for j in range(3):
                    T_out[m, i, j] = 0.0
            continue
        kn = h * by_depth + by_speed
        for i in range(3):
            for j in range(3):
                P[i, j] = (1.0 if i == j else 0.0) - normal[m, i] * normal[m, j]
                T_out[m, i, j] = kn * normal[m, i] * normal[m, j]
            f_out[m, i] = N * normal[m, i]
        if mu[m] == 0.0:
            mode_out[m] = SLIDES
            for i in range(3):
                slip_out[m, i] = 0.0
            continue
        kt = h * k_t[m] + c_t[m]
        sn = n0 * slip[m, 0] + n1 * slip[m, 1] + n2 * slip[m, 2]
        size = 0.0
        for i in range(3):
            tangential = u[m, i] - un * normal[m, i]
            stretch = slip[m, i] - sn * normal[m, i] + h * tangential
            slip_out[m, i] = stretch
            t = -k_t[m] * stretch - c_t[m] * tangential
            T = t
            size += T * T
        size = math.sqrt(size)
        largest = mu[m] * N
        if size <= largest:
            mode_out[m] = STICKS
            for i in range(3):
                tangential = u[m, i] - un * normal[m, i]
                f_out[m, i] += -k_t[m] * slip_out[m, i] - c_t[m] * tangential
                for j in range(3):
                    T_out[m, i, j] += kt * P[i, j]
            continue
        mode_out[m] = SLIDES
        t0 = (-k_t[m] * slip_out[m, 0] - c_t[m] * (u[m, 0] - un * n0)) / size
        t1 = (-k_t[m] * slip_out[m, 1] - c_t[m] * (u[m, 1] - un * n1)) / size
        t2 = (-k_t[m] * slip_out[m, 2] - c_t[m] * (u[m, 2] - un * n2)) / size
        t = (t0, t1, t2)
        share = largest / size
        for i in range(3):
            f_out[m, i] += largest * t[i]
            slip_out[m, i] = -largest * t[i] / k_t[m]
            for j in range(3):
                T_out[m, i, j] += share * kt * (P[i, j] - t[i] * t[j])
                if not symmetric:
                    T_out[m, i, j] += mu[m] * kn * t[i] * normal[m, j]
