"""Energies, momenta and first moment of a whole tree at one instant or several, lanes of one class at once.

    S = S0 + Ub q,   J = tr P - P,   P = P0 + sum_l q_l (2 sym W5_l) + sum_pl q_p q_l sym W7_pl
    p = m u + w x S + Ub q',   l = J w + H q' + S x u,   H q' = axial (sum_l q'_l W5_l + sum_pl q'_l q_p W7_pl)
    2 T = (p + Ub q') . u + l . w + w . H q' + q' W4 q'                                 in the domain's axes

The inertia is that of `modal.inertia_kernels`, with S, J, m scaled by the domain's size and density. W7_lp is W7_pl
transposed: pairs p <= l are enough, with the same symmetric and opposite axial parts. Elastic energies are those of
`energy_kernels`, which has the same products of two coordinates. Lanes are domains of a class at all instants, one
after another, so that coefficients are read once for several; sums are taken domain by domain, so that no number
depends on how many instants there are. Large trees: `look_kernels`.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import load, store
from supple.bodies.tree.energy_kernels import WIDTH, EnergyRows, lanes_energy, multiply, product_row

Array = np.ndarray
TOTALS = 11  # kinetic, elastic, momentum (6), first moment (3)
POSE = 24
"""Rows of what is known of a domain beside its coordinates: R (9), o, u, w (3 each), of which 6 rows are left over; in
these lie mass, s^4 rho, s^5 rho, and the factor of elastic energy."""
FACTORS = 18
"""The first of those."""
SINGLE, PAIR = 9, 10
"""Numbers of a coordinate, and of a pair of them."""


class MeasureArrays(NamedTuple):
    """Of c classes with at most r coordinates: mass (c,), S0 (c, 3), U_bar (c, 3, r), P0 (c, 6), upper triangle.

    Flat: single (c, r, SINGLE): of W5 twice the symmetric part (6) and the axial vector; pairs, from pair_start (c,)
    on, (PAIR,) for each p <= l: what q_p q_l adds to P (6), what q'_l q_p - q'_p q_l adds to H q' (3), and what q'_p
    q'_l adds to q' W4 q'. energy: see `energy_kernels`. scale, density, tuning (d,): of the domains. members (d,):
    domains, class by class as of member_start (c + 1,). start (d + 1,): of their coordinates.
    """

    mass: Array
    S0: Array
    U_bar: Array
    P0: Array
    single: Array
    pairs: Array
    pair_start: Array
    energy: EnergyRows
    scale: Array
    density: Array
    tuning: Array
    members: Array
    member_start: Array
    start: Array


@compiled(inline=True)
def put_factors(arrays, c, d, out, at):
    """Mass, s^4 rho, s^5 rho and the factor of elastic energy of domain d of class c, WIDTH apart from out[at] on."""
    s, rho = arrays.scale[d], arrays.density[d]
    out[at], out[at + WIDTH], out[at + 2 * WIDTH] = arrays.mass[c] * s**3 * rho, s**4 * rho, s**5 * rho  # (12.9)
    out[at + 3 * WIDTH] = arrays.tuning[d] ** 2 * s**3


@compiled(borrows=True)
def gather_lanes(arrays, R, o, c, item, q, v, u, w, out):
    """Rows of WIDTH numbers of domains of class c from an item on: r of q, r of q', then POSE, all zero where there is
    no domain. Items: the members of the class at the first instant, then at the next."""
    first, size = arrays.member_start[c], arrays.member_start[c + 1] - arrays.member_start[c]
    some = arrays.members[first]
    r = arrays.start[some + 1] - arrays.start[some]
    for b in range(WIDTH):
        j, at = (item + b) // size, b
        if j >= len(q):
            for _ in range(2 * r + POSE):
                out[at] = 0.0
                at += WIDTH
            continue
        d = arrays.members[first + (item + b) % size]
        own = arrays.start[d]
        for l in range(r):
            out[at], out[at + r * WIDTH] = q[j, own + l], v[j, own + l]
            at += WIDTH
        at += r * WIDTH
        for i in range(9):
            out[at] = R[j, d, i]
            at += WIDTH
        for i in range(3):
            out[at], out[at + 3 * WIDTH], out[at + 6 * WIDTH] = o[j, d, i], u[j, d, i], w[j, d, i]
            at += WIDTH
        put_factors(arrays, c, d, out, at + 6 * WIDTH)


@compiled(inline=True)
def scratch_size(r):
    """Numbers that `measure_lanes` takes as scratch for domains of r coordinates."""
    return WIDTH * (product_row(r) + 3 * (r * (r + 1) // 2))


@compiled(borrows=True)
def measure_lanes(arrays, c, r, m, scratch, out):
    """Rows (TOTALS) of lanes of domains of class c, as of `gather_lanes`, m."""
    none = 0.0 * load(m, 0, WIDTH)
    P0, P1, P2 = none + arrays.P0[c, 0], none + arrays.P0[c, 1], none + arrays.P0[c, 2]
    P4, P5, P8 = none + arrays.P0[c, 3], none + arrays.P0[c, 4], none + arrays.P0[c, 5]
    S0, S1, S2 = none + arrays.S0[c, 0], none + arrays.S0[c, 1], none + arrays.S0[c, 2]
    f0, f1, f2, h0, h1, h2, own = none, none, none, none, none, none, none
    both, size = WIDTH * product_row(r), WIDTH * (r * (r + 1) // 2)
    across, along = scratch[both + size :], scratch[both + 2 * size :]
    multiply(r, m, m[r * WIDTH :], scratch, across, along)
    single, pairs, one, two = arrays.single, arrays.pairs, SINGLE * arrays.U_bar.shape[2] * c, arrays.pair_start[c]
    for p in range(r):
        q_p, v_p = load(m, p * WIDTH, WIDTH), load(m, (r + p) * WIDTH, WIDTH)
        U0, U1, U2 = arrays.U_bar[c, 0, p], arrays.U_bar[c, 1, p], arrays.U_bar[c, 2, p]
        S0, S1, S2 = S0 + q_p * U0, S1 + q_p * U1, S2 + q_p * U2
        f0, f1, f2 = f0 + v_p * U0, f1 + v_p * U1, f2 + v_p * U2
        P0, P1, P2 = P0 + q_p * single[one], P1 + q_p * single[one + 1], P2 + q_p * single[one + 2]  # (11.5)
        P4, P5, P8 = P4 + q_p * single[one + 3], P5 + q_p * single[one + 4], P8 + q_p * single[one + 5]
        h0, h1, h2 = h0 + v_p * single[one + 6], h1 + v_p * single[one + 7], h2 + v_p * single[one + 8]
        one += SINGLE
    for k in range(0, size, WIDTH):
        b, x = load(scratch, both + k, WIDTH), load(across, k, WIDTH)
        P0, P1, P2 = P0 + b * pairs[two], P1 + b * pairs[two + 1], P2 + b * pairs[two + 2]  # (11.4)
        P4, P5, P8 = P4 + b * pairs[two + 3], P5 + b * pairs[two + 4], P8 + b * pairs[two + 5]
        h0, h1, h2 = h0 + x * pairs[two + 6], h1 + x * pairs[two + 7], h2 + x * pairs[two + 8]
        own += load(along, k, WIDTH) * pairs[two + 9]
        two += PAIR
    at = 2 * r * WIDTH
    R0, R1, R2 = load(m, at, WIDTH), load(m, at + WIDTH, WIDTH), load(m, at + 2 * WIDTH, WIDTH)
    R3, R4, R5 = load(m, at + 3 * WIDTH, WIDTH), load(m, at + 4 * WIDTH, WIDTH), load(m, at + 5 * WIDTH, WIDTH)
    R6, R7, R8 = load(m, at + 6 * WIDTH, WIDTH), load(m, at + 7 * WIDTH, WIDTH), load(m, at + 8 * WIDTH, WIDTH)
    at += 9 * WIDTH
    o0, o1, o2 = load(m, at, WIDTH), load(m, at + WIDTH, WIDTH), load(m, at + 2 * WIDTH, WIDTH)
    u0, u1, u2 = load(m, at + 3 * WIDTH, WIDTH), load(m, at + 4 * WIDTH, WIDTH), load(m, at + 5 * WIDTH, WIDTH)
    w0, w1, w2 = load(m, at + 6 * WIDTH, WIDTH), load(m, at + 7 * WIDTH, WIDTH), load(m, at + 8 * WIDTH, WIDTH)
    at = (2 * r + FACTORS) * WIDTH
    mass, fourth, fifth = load(m, at, WIDTH), load(m, at + WIDTH, WIDTH), load(m, at + 2 * WIDTH, WIDTH)
    S0, S1, S2, f0, f1, f2 = fourth * S0, fourth * S1, fourth * S2, fourth * f0, fourth * f1, fourth * f2
    h0, h1, h2 = fifth * h0, fifth * h1, fifth * h2
    u0, u1, u2 = R0 * u0 + R3 * u1 + R6 * u2, R1 * u0 + R4 * u1 + R7 * u2, R2 * u0 + R5 * u1 + R8 * u2
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
    store(out, WIDTH, load(m, at + 3 * WIDTH, WIDTH) * lanes_energy(arrays.energy, c, r, scratch))
    store(out, 2 * WIDTH, p0)
    store(out, 3 * WIDTH, p1)
    store(out, 4 * WIDTH, p2)
    store(out, 5 * WIDTH, R0 * l0 + R1 * l1 + R2 * l2 + o1 * p2 - o2 * p1)
    store(out, 6 * WIDTH, R3 * l0 + R4 * l1 + R5 * l2 + o2 * p0 - o0 * p2)
    store(out, 7 * WIDTH, R6 * l0 + R7 * l1 + R8 * l2 + o0 * p1 - o1 * p0)
    store(out, 8 * WIDTH, mass * o0 + R0 * S0 + R1 * S1 + R2 * S2)
    store(out, 9 * WIDTH, mass * o1 + R3 * S0 + R4 * S1 + R5 * S2)
    store(out, 10 * WIDTH, mass * o2 + R6 * S0 + R7 * S1 + R8 * S2)


@compiled
def compute_measures(arrays, R, o, q, v, u, w, total_out):
    """total_out (k, TOTALS) at k instants: coordinates q and rates v (k, n), rotations R (k, d, 9), origins o and
    their velocities u and spins w (k, d, 3)."""
    total_out[:] = 0.0
    most = arrays.U_bar.shape[2]
    rows, scratch = np.empty(WIDTH * (2 * most + POSE)), np.empty(scratch_size(most))
    found = np.empty(WIDTH * TOTALS)
    for c in range(len(arrays.mass)):
        first, size = arrays.member_start[c], arrays.member_start[c + 1] - arrays.member_start[c]
        if size == 0:
            continue
        some = arrays.members[first]
        r = arrays.start[some + 1] - arrays.start[some]
        for item in range(0, size * len(q), WIDTH):
            gather_lanes(arrays, R, o, c, item, q, v, u, w, rows)
            measure_lanes(arrays, c, r, rows, scratch, found)
            for b in range(min(WIDTH, size * len(q) - item)):
                for i in range(TOTALS):
                    total_out[(item + b) // size, i] += found[i * WIDTH + b]
