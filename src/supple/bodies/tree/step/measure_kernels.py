"""Energies, momenta and first moment of a whole tree, in one compiled loop over its domains.

    S = S0 + Ub q,   N_l = W5_l + sum_p q_p W7_pl,   P = P0 + sum_l q_l (N_l + W5_l^T),   J = tr P - (P + P^T) / 2
    p = m u + w x S + Ub q',   l = J w + H q' + S x u,   H_l = axial N_l                   in the domain's axes
    2 T = (p + Ub q') . u + l . w + w . H q' + q' W4 q'

The inertia is that of `modal.inertia_kernels`, with S, J, m scaled by the domain's size and density. Elastic energies
are those of `energy_kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, lane_sum, load, store
from supple.bodies.tree.energy_kernels import elastic_energy, lanes_energy
from supple.bodies.tree.surface.kinematics_kernels import back, times

Array = np.ndarray
NINE = 16
"""Numbers of a 3x3 matrix and zeros."""
TOTALS = 11  # kinetic, elastic, momentum (6), first moment (3)


class MeasureArrays(NamedTuple):
    """Of c classes with at most r coordinates, r rounded up to whole lanes: mass (c,), S0 (c, 3), U_bar (c, 3, r).
    Flat: W4 (c, r, r); in rows of NINE numbers, 3x3 and zeros, P0 (c,), W5 (c, r), W5 with its transpose added, W7 (c,
    r, r): row p, then l.

    first (c, 3): where c2, c3, c4 of a class begin, -1: no energy; see `energy_kernels`. Of d domains: kind (d,),
    scale, density, tuning (d,). groups (g, LANES): domains of one class whose energy is found together, -1: none;
    alone: all other domains.
    """

    mass: Array
    S0: Array
    U_bar: Array
    W4: Array
    P0: Array
    W5: Array
    W5_both: Array
    W7: Array
    first: Array
    c2: Array
    c3: Array
    c4: Array
    kind: Array
    scale: Array
    density: Array
    tuning: Array
    groups: Array
    alone: Array


@compiled(borrows=True)
def mixed_moments(arrays, c, r, q, v, at, P_out, V_out):
    """P (NINE) and V = sum_l q'_l N_l (NINE) of a domain."""
    most = arrays.U_bar.shape[2]
    for i in range(0, NINE, LANES):
        P = load(arrays.P0, NINE * c + i)
        V = 0.0 * P
        for l in range(r):
            row = NINE * (most * c + l) + i
            N = 0.0 * P
            for p in range(r):
                N += q[at + p] * load(arrays.W7, NINE * most * (most * c + p) + NINE * l + i)  # (11.4)
            P += q[at + l] * (N + load(arrays.W5_both, row))  # (11.5)
            V += v[at + l] * (N + load(arrays.W5, row))
        store(P_out, i, P)
        store(V_out, i, V)


@compiled(borrows=True)
def own_energy(arrays, c, r, v, at):
    """q' W4 q' of a domain of class c, at scale and density 1. v has lanes beyond its last number."""
    if r == 0:
        return 0.0
    most = arrays.U_bar.shape[2]
    total = 0.0 * load(arrays.W4, 0)
    for k in range(0, r, LANES):
        row = 0.0 * load(arrays.W4, 0)
        for l in range(r):
            row += v[at + l] * load(arrays.W4, most * (most * c + l) + k)
        total += row * load(v, at + k)
    return lane_sum(total)


@compiled
def compute_measures(arrays, chain, frames, q, v, u, w, total_out):
    """total_out (11) at coordinates q, rates v (n,) and velocities u, spins w (d, 3) of the origins.

    v has lanes of zeros beyond its n numbers.
    """
    total_out[:] = 0.0
    P, V, most = np.empty(NINE), np.empty(NINE), arrays.U_bar.shape[2]
    products = np.empty(LANES * (most * (most + 1) // 2 + 1 + most))
    for k in arrays.alone:
        c, at = arrays.kind[k], chain.start[k]
        energy = elastic_energy(arrays, c, chain.start[k + 1] - at, q, at, products)
        total_out[1] += arrays.tuning[k] ** 2 * arrays.scale[k] ** 3 * energy
    for group in range(len(arrays.groups)):
        total_out[1] += lanes_energy(arrays, chain, group, q, products)
    for d in range(len(arrays.kind)):
        c, s, rho, at = arrays.kind[d], arrays.scale[d], arrays.density[d], chain.start[d]
        r = chain.start[d + 1] - at
        m, fourth, fifth = arrays.mass[c] * s**3 * rho, s**4 * rho, s**5 * rho  # (12.9)
        S0, S1, S2 = arrays.S0[c, 0], arrays.S0[c, 1], arrays.S0[c, 2]
        f0, f1, f2, own = 0.0, 0.0, 0.0, own_energy(arrays, c, r, v, at)
        for l in range(r):
            S0 += arrays.U_bar[c, 0, l] * q[at + l]
            S1 += arrays.U_bar[c, 1, l] * q[at + l]
            S2 += arrays.U_bar[c, 2, l] * q[at + l]
            f0 += arrays.U_bar[c, 0, l] * v[at + l]
            f1 += arrays.U_bar[c, 1, l] * v[at + l]
            f2 += arrays.U_bar[c, 2, l] * v[at + l]
        S0, S1, S2, f0, f1, f2 = fourth * S0, fourth * S1, fourth * S2, fourth * f0, fourth * f1, fourth * f2
        mixed_moments(arrays, c, r, q, v, at, P, V)
        h0, h1, h2 = fifth * (V[7] - V[5]), fifth * (V[2] - V[6]), fifth * (V[3] - V[1])
        w0, w1, w2 = w[d, 0], w[d, 1], w[d, 2]
        u0, u1, u2 = back(frames.R, d, u[d, 0], u[d, 1], u[d, 2])
        trace = P[0] + P[4] + P[8]
        j0 = trace * w0 - P[0] * w0 - 0.5 * ((P[1] + P[3]) * w1 + (P[2] + P[6]) * w2)
        j1 = trace * w1 - P[4] * w1 - 0.5 * ((P[1] + P[3]) * w0 + (P[5] + P[7]) * w2)
        j2 = trace * w2 - P[8] * w2 - 0.5 * ((P[2] + P[6]) * w0 + (P[5] + P[7]) * w1)
        p0, p1, p2 = (
            m * u0 + w1 * S2 - w2 * S1 + f0,
            m * u1 + w2 * S0 - w0 * S2 + f1,
            m * u2 + w0 * S1 - w1 * S0 + f2,
        )
        l0 = fifth * j0 + h0 + S1 * u2 - S2 * u1  # (11.1), (12.9)
        l1 = fifth * j1 + h1 + S2 * u0 - S0 * u2
        l2 = fifth * j2 + h2 + S0 * u1 - S1 * u0
        total_out[0] += 0.5 * (
            (p0 + f0) * u0 + (p1 + f1) * u1 + (p2 + f2) * u2
            + (l0 + h0) * w0 + (l1 + h1) * w1 + (l2 + h2) * w2 + fifth * own
        )  # fmt: skip
        p0, p1, p2 = times(frames.R, d, p0, p1, p2)
        l0, l1, l2 = times(frames.R, d, l0, l1, l2)
        S0, S1, S2 = times(frames.R, d, S0, S1, S2)
        o0, o1, o2 = frames.o[d, 0], frames.o[d, 1], frames.o[d, 2]
        total_out[2] += p0
        total_out[3] += p1
        total_out[4] += p2
        total_out[5] += l0 + o1 * p2 - o2 * p1
        total_out[6] += l1 + o2 * p0 - o0 * p2
        total_out[7] += l2 + o0 * p1 - o1 * p0
        total_out[8] += m * o0 + S0
        total_out[9] += m * o1 + S1
        total_out[10] += m * o2 + S2
