"""Energies, momenta and first moment of a whole tree at one instant or several, lanes of one class at once.

    S = S0 + Ub q,   N_l = W5_l + sum_p q_p W7_pl,   P = P0 + sum_l q_l (N_l + W5_l^T),   J = tr P - (P + P^T) / 2
    p = m u + w x S + Ub q',   l = J w + H q' + S x u,   H_l = axial N_l                   in the domain's axes
    2 T = (p + Ub q') . u + l . w + w . H q' + q' W4 q'

The inertia is that of `modal.inertia_kernels`, with S, J, m scaled by the domain's size and density. Elastic energies
are those of `energy_kernels`. Lanes are domains of a class at all instants, one after another, so that coefficients are
read once for several; sums are taken domain by domain, so that no number depends on how many instants there are.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, store
from supple.bodies.tree.energy_kernels import lanes_energy

Array = np.ndarray
NINE = 16
"""Numbers of a 3x3 matrix and zeros."""
TOTALS = 11  # kinetic, elastic, momentum (6), first moment (3)


class MeasureArrays(NamedTuple):
    """Of c classes with at most r coordinates: mass (c,), S0 (c, 3), U_bar (c, 3, r). Flat: W4 (c, r, r); in rows of
    NINE numbers, 3x3 and zeros, P0 (c,), W5 (c, r), W5 with its transpose added, W7 (c, r, r): row p, then l.

    first (c, 3): where c2, c3, c4 of a class begin, -1: no energy; see `energy_kernels`. scale, density, tuning (d,):
    of the domains. members (d,): domains, class by class as of member_start (c + 1,).
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
    scale: Array
    density: Array
    tuning: Array
    members: Array
    member_start: Array


@compiled(borrows=True)
def gather_lanes(arrays, chain, R, o, c, item, q, v, u, w, out):
    """Rows of LANES numbers of domains of class c from an item on: r of q, r of q', then u (3), w (3), R (9), o (3),
    and mass, s^4 rho, s^5 rho, and factor of elastic energy, which are zero where there is no domain. Items: the
    members of the class at the first instant, then at the next."""
    first, size = arrays.member_start[c], arrays.member_start[c + 1] - arrays.member_start[c]
    some = arrays.members[first]
    r = chain.start[some + 1] - chain.start[some]
    for b in range(LANES):
        j, at = (item + b) // size, b
        if j >= len(q):
            for _ in range(2 * r + 22):
                out[at] = 0.0
                at += LANES
            continue
        d = arrays.members[first + (item + b) % size]
        own = chain.start[d]
        for l in range(r):
            out[at], out[at + r * LANES] = q[j, own + l], v[j, own + l]
            at += LANES
        at += r * LANES
        for i in range(3):
            out[at], out[at + 3 * LANES], out[at + 15 * LANES] = u[j, d, i], w[j, d, i], o[j, d, i]
            at += LANES
        at += 3 * LANES
        for i in range(9):
            out[at] = R[j, d, i]
            at += LANES
        at += 3 * LANES
        s, rho = arrays.scale[d], arrays.density[d]
        out[at], out[at + LANES], out[at + 2 * LANES] = arrays.mass[c] * s**3 * rho, s**4 * rho, s**5 * rho  # (12.9)
        out[at + 3 * LANES] = arrays.tuning[d] ** 2 * s**3


@compiled(borrows=True)
def measure_lanes(arrays, c, r, m, products, out):
    """Rows (TOTALS) of lanes of domains of class c, as of `gather_lanes`, m. products: scratch."""
    most = arrays.U_bar.shape[2]
    rest, W4, W5, both, W7 = NINE * c, most * most * c, arrays.W5, arrays.W5_both, arrays.W7
    none = 0.0 * load(m, 0)
    P0, P1, P2 = none + arrays.P0[rest], none + arrays.P0[rest + 1], none + arrays.P0[rest + 2]
    P3, P4, P5 = none + arrays.P0[rest + 3], none + arrays.P0[rest + 4], none + arrays.P0[rest + 5]
    P6, P7, P8 = none + arrays.P0[rest + 6], none + arrays.P0[rest + 7], none + arrays.P0[rest + 8]
    S0, S1, S2 = none + arrays.S0[c, 0], none + arrays.S0[c, 1], none + arrays.S0[c, 2]
    f0, f1, f2, h0, h1, h2, own = none, none, none, none, none, none, none
    for l in range(r):
        N0, N1, N2, N3, N4, N5, N6, N7, N8 = none, none, none, none, none, none, none, none, none
        row = none
        for p in range(r):
            q_p, at = load(m, p * LANES), NINE * (most * (most * c + p) + l)
            N0, N1, N2 = N0 + q_p * W7[at], N1 + q_p * W7[at + 1], N2 + q_p * W7[at + 2]  # (11.4)
            N3, N4, N5 = N3 + q_p * W7[at + 3], N4 + q_p * W7[at + 4], N5 + q_p * W7[at + 5]
            N6, N7, N8 = N6 + q_p * W7[at + 6], N7 + q_p * W7[at + 7], N8 + q_p * W7[at + 8]
            row += load(m, (r + p) * LANES) * arrays.W4[W4 + most * l + p]
        q_l, v_l, at = load(m, l * LANES), load(m, (r + l) * LANES), NINE * (most * c + l)
        # (11.5)
        P0, P1, P2 = P0 + q_l * (N0 + both[at]), P1 + q_l * (N1 + both[at + 1]), P2 + q_l * (N2 + both[at + 2])
        P3, P4, P5 = P3 + q_l * (N3 + both[at + 3]), P4 + q_l * (N4 + both[at + 4]), P5 + q_l * (N5 + both[at + 5])
        P6, P7, P8 = P6 + q_l * (N6 + both[at + 6]), P7 + q_l * (N7 + both[at + 7]), P8 + q_l * (N8 + both[at + 8])
        h0 += v_l * ((N7 - N5) + (W5[at + 7] - W5[at + 5]))
        h1 += v_l * ((N2 - N6) + (W5[at + 2] - W5[at + 6]))
        h2 += v_l * ((N3 - N1) + (W5[at + 3] - W5[at + 1]))
        U0, U1, U2 = arrays.U_bar[c, 0, l], arrays.U_bar[c, 1, l], arrays.U_bar[c, 2, l]
        S0, S1, S2 = S0 + q_l * U0, S1 + q_l * U1, S2 + q_l * U2
        f0, f1, f2, own = f0 + v_l * U0, f1 + v_l * U1, f2 + v_l * U2, own + v_l * row
    at = 2 * r * LANES
    u0, u1, u2 = load(m, at), load(m, at + LANES), load(m, at + 2 * LANES)
    w0, w1, w2 = load(m, at + 3 * LANES), load(m, at + 4 * LANES), load(m, at + 5 * LANES)
    at += 6 * LANES
    R0, R1, R2 = load(m, at), load(m, at + LANES), load(m, at + 2 * LANES)
    R3, R4, R5 = load(m, at + 3 * LANES), load(m, at + 4 * LANES), load(m, at + 5 * LANES)
    R6, R7, R8 = load(m, at + 6 * LANES), load(m, at + 7 * LANES), load(m, at + 8 * LANES)
    at += 9 * LANES
    o0, o1, o2 = load(m, at), load(m, at + LANES), load(m, at + 2 * LANES)
    mass, fourth, fifth = load(m, at + 3 * LANES), load(m, at + 4 * LANES), load(m, at + 5 * LANES)
    S0, S1, S2, f0, f1, f2 = fourth * S0, fourth * S1, fourth * S2, fourth * f0, fourth * f1, fourth * f2
    h0, h1, h2 = fifth * h0, fifth * h1, fifth * h2
    u0, u1, u2 = R0 * u0 + R3 * u1 + R6 * u2, R1 * u0 + R4 * u1 + R7 * u2, R2 * u0 + R5 * u1 + R8 * u2
    P1, P2, P5 = 0.5 * (P1 + P3), 0.5 * (P2 + P6), 0.5 * (P5 + P7)
    l0 = fifth * ((P4 + P8) * w0 - P1 * w1 - P2 * w2) + h0 + S1 * u2 - S2 * u1  # (11.1), (12.9)
    l1 = fifth * ((P0 + P8) * w1 - P1 * w0 - P5 * w2) + h1 + S2 * u0 - S0 * u2
    l2 = fifth * ((P0 + P4) * w2 - P2 * w0 - P5 * w1) + h2 + S0 * u1 - S1 * u0
    p0, p1, p2 = (
        mass * u0 + w1 * S2 - w2 * S1 + f0,
        mass * u1 + w2 * S0 - w0 * S2 + f1,
        mass * u2 + w0 * S1 - w1 * S0 + f2,
    )
    kinetic = (
        (p0 + f0) * u0 + (p1 + f1) * u1 + (p2 + f2) * u2
        + (l0 + h0) * w0 + (l1 + h1) * w1 + (l2 + h2) * w2 + fifth * own
    )  # fmt: skip
    p0, p1, p2 = R0 * p0 + R1 * p1 + R2 * p2, R3 * p0 + R4 * p1 + R5 * p2, R6 * p0 + R7 * p1 + R8 * p2
    store(out, 0, 0.5 * kinetic)
    store(out, LANES, load(m, at + 6 * LANES) * lanes_energy(arrays, c, r, m, products))
    store(out, 2 * LANES, p0)
    store(out, 3 * LANES, p1)
    store(out, 4 * LANES, p2)
    store(out, 5 * LANES, R0 * l0 + R1 * l1 + R2 * l2 + o1 * p2 - o2 * p1)
    store(out, 6 * LANES, R3 * l0 + R4 * l1 + R5 * l2 + o2 * p0 - o0 * p2)
    store(out, 7 * LANES, R6 * l0 + R7 * l1 + R8 * l2 + o0 * p1 - o1 * p0)
    store(out, 8 * LANES, mass * o0 + R0 * S0 + R1 * S1 + R2 * S2)
    store(out, 9 * LANES, mass * o1 + R3 * S0 + R4 * S1 + R5 * S2)
    store(out, 10 * LANES, mass * o2 + R6 * S0 + R7 * S1 + R8 * S2)


@compiled
def compute_measures(arrays, chain, R, o, q, v, u, w, total_out):
    """total_out (k, TOTALS) at k instants: coordinates q and rates v (k, n), rotations R (k, d, 9), origins o and
    their velocities u and spins w (k, d, 3)."""
    total_out[:] = 0.0
    most = arrays.U_bar.shape[2]
    rows, products = np.empty(LANES * (2 * most + 22)), np.zeros(LANES * (most * (most + 1) // 2 + 1))
    found = np.empty(LANES * TOTALS)
    for c in range(len(arrays.mass)):
        first, size = arrays.member_start[c], arrays.member_start[c + 1] - arrays.member_start[c]
        if size == 0:
            continue
        some = arrays.members[first]
        r = chain.start[some + 1] - chain.start[some]
        for item in range(0, size * len(q), LANES):
            gather_lanes(arrays, chain, R, o, c, item, q, v, u, w, rows)
            measure_lanes(arrays, c, r, rows, products, found)
            for b in range(min(LANES, size * len(q) - item)):
                for i in range(TOTALS):
                    total_out[(item + b) // size, i] += found[i * LANES + b]
