"""Energies, momenta and first moment of a whole tree, in one compiled loop over its domains.

    S = S0 + Ub q,   N_l = W5_l + sum_p q_p W7_pl,   P = P0 + sum_l q_l (N_l + W5_l^T),   J = tr P - (P + P^T) / 2
    p = m u + w x S + Ub q',   l = J w + H q' + S x u,   H_l = axial N_l                   in the domain's axes
    2 T = (p + Ub q') . u + l . w + w . H q' + q' W4 q'
    E   = sum over a <= b <= c <= d of c2 q_a q_b + c3 q_a q_b q_c + c4 q_a q_b q_c q_d

The inertia is that of `modal.inertia_kernels`, with S, J, m scaled by the domain's size and density. Coefficients lie
in rows over products of two coordinates, c <= d, in this order: with b in c4 or a in c3 they are the last of all such.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, lane_sum, load, store
from supple.bodies.tree.surface.kinematics_kernels import back, times

Array = np.ndarray
TOTALS = 11  # kinetic, elastic, momentum (6), first moment (3)


class MeasureArrays(NamedTuple):
    """Of c classes with at most r coordinates, r rounded up to whole lanes: mass (c,), S0 (c, 3), P0 (c, 9), U_bar (c,
    3, r), W5 (c, r, 9). Flat, with lanes of zeros at the end: W4 (c, r, r), W7 (c, r, r, 9): row p, then l; W50: W5.

    first (c, 3): where c2, c3, c4 of a class begin, -1: no energy; their rows are filled up to whole lanes by zeros. Of
    d domains: kind (d,), scale, density, tuning (d,).
    """

    mass: Array
    S0: Array
    P0: Array
    U_bar: Array
    W4: Array
    W5: Array
    W50: Array
    W7: Array
    first: Array
    c2: Array
    c3: Array
    c4: Array
    kind: Array
    scale: Array
    density: Array
    tuning: Array


@compiled(inline=True)
def add_row(c, at, m, first, last, total):
    """Total plus a row of coefficients, from c[at] on, times m[first:last], lane by lane."""
    for k in range(first, last, LANES):
        total += load(c, at + k - first) * load(m, k)
    return total


@compiled(inline=True)
def row_length(first, last):
    """Of the products first to last - 1, filled up."""
    return (last - first + LANES - 1) // LANES * LANES


@compiled(borrows=True)
def elastic_energy(arrays, c, r, q, at, m):
    """E of the coordinates q[at : at + r] of a domain of class c, at scale and tuning 1. m: scratch."""
    two, three, four = arrays.first[c, 0], arrays.first[c, 1], arrays.first[c, 2]
    if two < 0 or r == 0:
        return 0.0
    count = 0
    for i in range(r):
        for j in range(i, r):
            m[count] = q[at + i] * q[at + j]
            count += 1
    for k in range(count, count + LANES):
        m[k] = 0.0
    none = 0.0 * load(m, count)
    total, pair, diagonal = add_row(arrays.c2, two, m, 0, count, none), 0, 0
    for i in range(r):
        total += q[at + i] * add_row(arrays.c3, three, m, diagonal, count, none)
        three += row_length(diagonal, count)
        second = diagonal  # where products that begin with j do
        for j in range(i, r):
            total += m[pair] * add_row(arrays.c4, four, m, second, count, none)
            four += row_length(second, count)
            second, pair = second + r - j, pair + 1
        diagonal += r - i
    return lane_sum(total)


@compiled(borrows=True)
def mixed_moments(arrays, c, r, q, v, at, N, P_out, V_out):
    """P (9) and V = sum_l q'_l N_l (9) of a domain. N: scratch."""
    most = arrays.U_bar.shape[2]
    for k in range(0, 9 * r, LANES):
        row = load(arrays.W50, 9 * most * c + k)
        for p in range(r):
            row += q[at + p] * load(arrays.W7, 9 * most * (most * c + p) + k)  # (11.4)
        store(N, k, row)
    for i in range(9):
        P_out[i], V_out[i] = arrays.P0[c, i], 0.0
    for l in range(r):
        for i in range(9):
            P_out[i] += q[at + l] * (N[9 * l + i] + arrays.W5[c, l, 3 * (i % 3) + i // 3])  # (11.5)
            V_out[i] += v[at + l] * N[9 * l + i]


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
    P, V, most = np.empty(9), np.empty(9), arrays.U_bar.shape[2]
    products, N = np.empty(most * (most + 1) // 2 + LANES), np.empty(9 * most + LANES)
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
        mixed_moments(arrays, c, r, q, v, at, N, P, V)
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
        total_out[1] += arrays.tuning[d] ** 2 * s**3 * elastic_energy(arrays, c, r, q, at, products)
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
