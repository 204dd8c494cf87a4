"""Sums over the free nodes of a layered body."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross, turn, turn_back

LINEAR, ANGULAR, FIRST, SECOND, SUM_COUNT = 0, 3, 6, 9, 15


@compiled
def compute_world_velocities(R, velocity, w, u, rate, out):
    """out_a = c' + R (w x u_a + q'_a), (n, 3), world axes."""
    spin = (w[0], w[1], w[2])
    for a in range(len(u)):
        turned = cross(spin, (u[a, 0], u[a, 1], u[a, 2]))
        moved = turn(R, (turned[0] + rate[a, 0], turned[1] + rate[a, 1], turned[2] + rate[a, 2]))
        for i in range(3):
            out[a, i] = velocity[i] + moved[i]  # (11.16)


@compiled
def compute_balance(m, R, g, w, u, rate, before, elastic, half, G, nodes_out, sums_out):
    """nodes_out_a = m (g + w x u + q' - R^T before_a - half G) + half elastic_a, in body axes.

    sums_out (15,): of momenta m (g + w x u + q'), of their moments about the origin, of m u, of m u u^T (six parts).
    """
    for k in range(SUM_COUNT):
        sums_out[k] = 0.0
    spin = (w[0], w[1], w[2])
    for a in range(len(u)):
        p, mass = (u[a, 0], u[a, 1], u[a, 2]), m[a]
        turned = cross(spin, p)  # (11.16)
        b = turn_back(R, (before[a, 0], before[a, 1], before[a, 2]))
        v0, v1, v2 = g[0] + turned[0] + rate[a, 0], g[1] + turned[1] + rate[a, 1], g[2] + turned[2] + rate[a, 2]
        moment = cross(p, (v0, v1, v2))
        nodes_out[a, 0] = mass * (v0 - b[0] - half * G[0]) + half * elastic[a, 0]  # (11.17)
        nodes_out[a, 1] = mass * (v1 - b[1] - half * G[1]) + half * elastic[a, 1]  # (11.17)
        nodes_out[a, 2] = mass * (v2 - b[2] - half * G[2]) + half * elastic[a, 2]  # (11.17)
        sums_out[0] += mass * v0  # (11.18)
        sums_out[1] += mass * v1
        sums_out[2] += mass * v2
        for i in range(3):
            sums_out[3 + i] += mass * moment[i]  # (11.18)
            sums_out[6 + i] += mass * p[i]  # (11.18)
        sums_out[9] += mass * p[0] * p[0]  # (11.18)
        sums_out[10] += mass * p[1] * p[1]
        sums_out[11] += mass * p[2] * p[2]
        sums_out[12] += mass * p[1] * p[2]
        sums_out[13] += mass * p[0] * p[2]
        sums_out[14] += mass * p[0] * p[1]
