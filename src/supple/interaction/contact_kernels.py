"""Forces and tangents of contacts at the end of a step, by the law of `law_kernels`.

    g  = g_0 + n . (h u)                            gap at the end of a step [m]; u: velocity, first side less second
    N  by the depth d = max(0, -g) and the speed -n . u
    s  = s_0 + h P u,   P = I - n n^T               stretch of the spring that holds a sticking contact
    T  by s and P u

Tangents are those of f = N n + T by u at the end of the step, with their sign changed, so that they are positive.
"""

# mypy: ignore-errors
from __future__ import annotations

import math

from supple.algebra.compiling.compiled import compiled
from supple.interaction.law_kernels import OPEN, SLIDES, STICKS, friction_force, normal_force, normal_slopes, trial_size

ROUNDING = 1e-15
"""Part of a gap and of the way of a step that rounding may make of both together."""


@compiled
def compute_contacts(h, gap, normal, slip, k, k_t, c, c_t, mu, u, symmetric, f_out, T_out, slip_out, mode_out):
    """f_out (n, 3) [N] on the first sides, T_out (n, 3, 3) = -df/du [N s/m], slip_out (n, 3) [m], mode_out (n,).

    gap (n,) [m], normal (n, 3), slip (n, 3) [m]: at the start of a step of h [s]; k, k_t (n,) [N/m], c, c_t (n,)
    [N s/m], mu (n,); u (n, 3) [m/s] at its end. symmetric: leave out of the tangent how friction grows with the normal
    force.
    """
    for m in range(len(gap)):
        n = (normal[m, 0], normal[m, 1], normal[m, 2])
        un = n[0] * u[m, 0] + n[1] * u[m, 1] + n[2] * u[m, 2]
        depth = -(gap[m] + h * un)
        N = normal_force(k[m], c[m], depth, -un)  # (C1)
        if N <= 0.0:
            mode_out[m] = OPEN
            f_out[m, :] = 0.0
            slip_out[m, :] = 0.0
            T_out[m, :, :] = 0.0
            continue
        by_depth, by_speed = normal_slopes(k[m], c[m], depth, -un)
        kn = h * by_depth + by_speed
        for i in range(3):
            f_out[m, i] = N * n[i]
            for j in range(3):
                T_out[m, i, j] = kn * n[i] * n[j]
        if mu[m] == 0.0:
            mode_out[m] = SLIDES
            slip_out[m, :] = 0.0
            continue
        u_t = (u[m, 0] - un * n[0], u[m, 1] - un * n[1], u[m, 2] - un * n[2])
        sn = n[0] * slip[m, 0] + n[1] * slip[m, 1] + n[2] * slip[m, 2]
        s = (
            slip[m, 0] - sn * n[0] + h * u_t[0],  # (C2)
            slip[m, 1] - sn * n[1] + h * u_t[1],
            slip[m, 2] - sn * n[2] + h * u_t[2],
        )
        T, left, sticks = friction_force(k_t[m], c_t[m], mu[m] * N, mu[m] * N, s, u_t)  # (C3)
        mode_out[m] = STICKS if sticks else SLIDES
        kt, size = h * k_t[m] + c_t[m], 1.0
        if not sticks:  # T = mu N t
            size = math.sqrt(T[0] * T[0] + T[1] * T[1] + T[2] * T[2])
            kt *= size / trial_size(k_t[m], c_t[m], s, u_t)
        for i in range(3):
            f_out[m, i] += T[i]
            slip_out[m, i] = left[i]
            for j in range(3):
                across = (1.0 if i == j else 0.0) - n[i] * n[j]
                if sticks:
                    T_out[m, i, j] += kt * across
                    continue
                T_out[m, i, j] += kt * (across - T[i] * T[j] / (size * size))
                if not symmetric:
                    T_out[m, i, j] += mu[m] * kn * T[i] / size * n[j]
