"""How much of Newton's way to go: as far as the forces along it still do work.

    g(s) = D . (M (d + s D) - b) - h w . f(u + s w) = 0,      D = d_full - d,  w = J D

Without friction g is the slope of a convex energy. With Coulomb's there is none; near the solution g vanishes at s = 1
all the same, since Newton's way leads there. The length of f(u) - l is no measure: one stiff contact that opens and
closes outweighs all others, and steps of a stiff pile did not settle by it.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.interaction.law_kernels import friction_force, normal_force

CLOSE = 0.1  # part of the first slope that may be left
MOST_TRIALS = 40


@compiled
def work_along(c, h, u, reached, s):
    """w . f(u + s w) with w = reached - u (k, 3); see `contact_kernels`."""
    total = 0.0
    for m in range(len(c.gap)):
        n = (c.normal[m, 0], c.normal[m, 1], c.normal[m, 2])
        w = (reached[m, 0] - u[m, 0], reached[m, 1] - u[m, 1], reached[m, 2] - u[m, 2])
        x, y, z = u[m, 0] + s * w[0], u[m, 1] + s * w[1], u[m, 2] + s * w[2]
        un = n[0] * x + n[1] * y + n[2] * z
        N = normal_force(c.stiffness[m], c.dashpot[m], -(c.gap[m] + h * un), -un)  # (C1)
        total += N * (n[0] * w[0] + n[1] * w[1] + n[2] * w[2])
        largest = c.friction[m] * N
        if largest <= 0.0:
            continue
        sn = n[0] * c.slip[m, 0] + n[1] * c.slip[m, 1] + n[2] * c.slip[m, 2]
        u_t = (x - un * n[0], y - un * n[1], z - un * n[2])
        stretch = (
            c.slip[m, 0] - sn * n[0] + h * u_t[0],
            c.slip[m, 1] - sn * n[1] + h * u_t[1],
            c.slip[m, 2] - sn * n[2] + h * u_t[2],
        )
        T, _, _ = friction_force(c.tangential_stiffness[m], c.tangential_dashpot[m], largest, largest, stretch, u_t)
        total += T[0] * w[0] + T[1] * w[1] + T[2] * w[2]
    return total


@compiled
def search(c, M, b, h, d, d_full, u, reached):
    """The part of the way from d to d_full (n, 6), u to reached (k, 3), after which g is small or zero; 0: it leads
    uphill."""
    at_start = by_way = 0.0
    for i in range(len(M)):
        for j in range(6):
            momentum, change = -b[i, j], 0.0
            for k in range(6):
                momentum += M[i, j, k] * d[i, k]
                change += M[i, j, k] * (d_full[i, k] - d[i, k])
            at_start += (d_full[i, j] - d[i, j]) * momentum
            by_way += (d_full[i, j] - d[i, j]) * change
    low, g_low = 0.0, at_start - h * work_along(c, h, u, reached, 0.0)
    if not g_low < 0.0:
        return 0.0
    enough = -CLOSE * g_low
    high, g_high = 1.0, at_start + by_way - h * work_along(c, h, u, reached, 1.0)
    s = 1.0
    if g_high <= enough:
        return s
    for trial in range(MOST_TRIALS):
        s = 0.5 * (low + high) if trial % 3 == 2 else low + (high - low) * g_low / (g_low - g_high)
        g = at_start + s * by_way - h * work_along(c, h, u, reached, s)
        if abs(g) <= enough:
            break
        if g < 0.0:
            low, g_low = s, g
        else:
            high, g_high = s, g
    return s
