"""Kelvin-Voigt damping of finite elements: a second Piola-Kirchhoff stress from the rate of Green's strain.

    V = dF/dt,   E' = sym(F^T V),   S = lam tr(E') I + 2 mu E',   f_a = -sum_q w_q F S g_a
    df_a/dv_b = -sum_q w_q (lam h_a h_b^T + mu h_b h_a^T + mu (g_a . g_b) F F^T)                          h_a = F g_a
    df_a/dx_b = -sum_q w_q ((g_a . S g_b) I + lam h_a d_b^T + mu h_b d_a^T + mu (g_a . g_b) F V^T)        d_a = V g_a

A rigid motion changes no Green strain, so it is not damped, whatever the rotation and the strain; F S F^T is symmetric,
so the damping keeps both momenta; and S : E' >= 0. At F = I it is Rayleigh's damping by the stiffness at rest.
The elastic constants stand for viscosities: multiply by beta [s]. For the linear law F is replaced by I.
"""

from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load
from supple.elements.kernels import add_divergence, gather_nodes, gradient_of, scatter_add_nodes


@compiled(inline=True)
def symmetric_rate_stress(F, V, lam, mu):
    """S = lam tr(E') I + 2 mu E' with E' = sym(F^T V), as (S00, S01, S02, S11, S12, S22)."""
    E00 = F[0] * V[0] + F[3] * V[3] + F[6] * V[6]  # (6.25)
    E11 = F[1] * V[1] + F[4] * V[4] + F[7] * V[7]
    E22 = F[2] * V[2] + F[5] * V[5] + F[8] * V[8]
    p = lam * (E00 + E11 + E22)  # (6.25)
    return (
        p + 2.0 * mu * E00,
        mu * (F[0] * V[1] + F[3] * V[4] + F[6] * V[7] + F[1] * V[0] + F[4] * V[3] + F[7] * V[6]),
        mu * (F[0] * V[2] + F[3] * V[5] + F[6] * V[8] + F[2] * V[0] + F[5] * V[3] + F[8] * V[6]),
        p + 2.0 * mu * E11,
        mu * (F[1] * V[2] + F[4] * V[5] + F[7] * V[8] + F[2] * V[1] + F[5] * V[4] + F[8] * V[7]),
        p + 2.0 * mu * E22,
    )


@compiled(inline=True)
def times_symmetric(F, S):
    """F S with S by its six values, a 9-tuple."""
    return (
        F[0] * S[0] + F[1] * S[1] + F[2] * S[2],
        F[0] * S[1] + F[1] * S[3] + F[2] * S[4],
        F[0] * S[2] + F[1] * S[4] + F[2] * S[5],
        F[3] * S[0] + F[4] * S[1] + F[5] * S[2],
        F[3] * S[1] + F[4] * S[3] + F[5] * S[4],
        F[3] * S[2] + F[4] * S[4] + F[5] * S[5],
        F[6] * S[0] + F[7] * S[1] + F[8] * S[2],
        F[6] * S[1] + F[7] * S[3] + F[8] * S[4],
        F[6] * S[2] + F[7] * S[4] + F[8] * S[5],
    )


@compiled(inline=True)
def times_transpose(A, B):
    """A B^T of two matrices as 9-tuples."""
    return (
        A[0] * B[0] + A[1] * B[1] + A[2] * B[2],
        A[0] * B[3] + A[1] * B[4] + A[2] * B[5],
        A[0] * B[6] + A[1] * B[7] + A[2] * B[8],
        A[3] * B[0] + A[4] * B[1] + A[5] * B[2],
        A[3] * B[3] + A[4] * B[4] + A[5] * B[5],
        A[3] * B[6] + A[4] * B[7] + A[5] * B[8],
        A[6] * B[0] + A[7] * B[1] + A[8] * B[2],
        A[6] * B[3] + A[7] * B[4] + A[8] * B[5],
        A[6] * B[6] + A[7] * B[7] + A[8] * B[8],
    )


@compiled(inline=True)
def damped_gradient(arrays, is_linear, flat, base, local):
    """F at a point, or I for the linear law."""
    F = gradient_of(arrays, flat, base, local)
    if is_linear:
        z = F[0] * 0.0
        return (z + 1.0, z, z, z, z + 1.0, z, z, z, z + 1.0)
    return F


@compiled(inline=True)
def turned_gradient(F, g0, g1, g2):
    """F g."""
    return (
        F[0] * g0 + F[1] * g1 + F[2] * g2,
        F[3] * g0 + F[4] * g1 + F[5] * g2,
        F[6] * g0 + F[7] * g1 + F[8] * g2,
    )


@compiled
def add_viscous_force(arrays, is_linear, factor, x, v, f_out):
    """f_out (node_count, 3) += factor times the damping forces at positions x [m], velocities v [m/s]."""
    groups, points, nodes, _, _ = arrays.gradients.shape
    flat, weights = arrays.gradients.ravel(), arrays.weights.ravel()
    lams, mus = arrays.lam.ravel(), arrays.mu.ravel()
    size = 3 * nodes * LANES
    local, speed, force = np.empty(size), np.empty(size), np.empty(size)
    for g in range(groups):
        gather_nodes(arrays, g, x, local)
        gather_nodes(arrays, g, v, speed)
        force[:] = 0.0
        lam, mu = factor * load(lams, g * LANES, LANES), factor * load(mus, g * LANES, LANES)
        for q in range(points):
            base = (g * points + q) * nodes * 3 * LANES
            F = damped_gradient(arrays, is_linear, flat, base, local)
            S = symmetric_rate_stress(F, gradient_of(arrays, flat, base, speed), lam, mu)  # (6.25)
            weight = load(weights, (g * points + q) * LANES, LANES)
            add_divergence(arrays, flat, base, times_symmetric(F, S), -weight, force)  # (6.10)
        scatter_add_nodes(arrays, g, force, f_out)
