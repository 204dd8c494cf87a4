"""Inertia of a group of domains at q and q', as in `modal.inertia_kernels`, from

    N_l = int rho U_l x^T:  symmetric part and twice its axial vector, from W5 and W7 split in the same way

A copy scaled by s has, in the coordinates of its kind, mass s³, S s⁴, J s⁵, H (s⁵; s⁴), h (s⁵; s⁴), h_q s⁵.

Copies of one class share its constants, which are few: a sum over p for every l takes the fewest products. A group of
several classes has lanes of constants, more than a cache holds: W7_lp is read once and serves for W7_pl too.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross
from supple.algebra.lanes.lane_type import LANES, load, store, value_at
from supple.bodies.tree.domains.layout import group_rows, scratch_rows
from supple.bodies.tree.step.frame_kernels import add3, dot3, load3, times3


@compiled(inline=True)
def symmetric_times(S, a):
    """S a for six values of a symmetric matrix."""
    return (
        S[0] * a[0] + S[1] * a[1] + S[2] * a[2],
        S[1] * a[0] + S[3] * a[1] + S[4] * a[2],
        S[2] * a[0] + S[4] * a[1] + S[5] * a[2],
    )


@compiled(inline=True)
def scales_and_spin(tree, workspace, g, r):
    """s⁴ and s⁵ times the density, and the angular velocity, of group g."""
    s = load(tree.scale, g * LANES)
    s4 = s * s * s * s * load(tree.density, g * LANES)  # (12.9)
    at = tree.group_work[g] + LANES * group_rows(r, tree.group_interfaces[g]).spin
    return s4, s4 * s, load3(workspace.work, at, LANES)


@compiled(inline=True)
def finish_inertia(work, free, scratch, s4, s5, w, S, flow, P, T, turn):
    """S, J and h into the scratch, from S, Ub q', P, sum q'_l N_l and H q', all unscaled."""
    trace, rate = P[0] + P[3] + P[5], T[0] + T[3] + T[5]
    J = (trace - P[0], -P[1], -P[2], trace - P[3], -P[4], trace - P[5])
    moved = symmetric_times(T, w)
    swept = cross(turn, w)
    gyro = cross(w, symmetric_times(J, w))  # (11.7)
    pull = cross(w, add3(cross(w, S), times3(2.0, flow)))  # (11.6)
    for i in range(3):
        store(work, free + LANES * (scratch.moment + i), s4 * S[i])
        store(work, free + LANES * (scratch.bias + i), s5 * (gyro[i] + 2.0 * (rate * w[i] - moved[i]) - swept[i]))
        store(work, free + LANES * (scratch.bias + 3 + i), s4 * pull[i])
    for i in range(6):
        store(work, free + LANES * (scratch.inertia + i), s5 * J[i])


@compiled(borrows=True)
def compute_inertia(tree, workspace, constants, g, free, H_out):
    """S, J, h and h_q of group g at its q, q' and angular velocity into the scratch from `free` on, H from `H_out` on.

    constants: those that its class is among, shared by all lanes.
    """
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    work, at_q, scratch = workspace.work, tree.group_q[g], scratch_rows(r)
    s4, s5, w = scales_and_spin(tree, workspace, g, r)
    none, square = s4 * 0.0, dot3(w, w)
    fixed, first = constants.fixed, 10 * tree.class_place[kind]
    S = (none + value_at(fixed, first + 1), none + value_at(fixed, first + 2), none + value_at(fixed, first + 3))
    flow = (none, none, none)
    P0, P1, P2 = none + value_at(fixed, first + 4), none + value_at(fixed, first + 5), none + value_at(fixed, first + 6)
    P3, P4, P5 = none + value_at(fixed, first + 7), none + value_at(fixed, first + 8), none + value_at(fixed, first + 9)
    T0, T1, T2, T3, T4, T5 = none, none, none, none, none, none
    turn = (none, none, none)
    W5, W7, Ub = constants.W5, constants.W7, constants.U_bar
    first, first_bar = 9 * tree.class_sum[kind], 3 * tree.class_sum[kind]
    for l in range(r):
        at = first + 9 * l
        n0, n1, n2 = none + value_at(W5, at), none + value_at(W5, at + 1), none + value_at(W5, at + 2)
        n3, n4, n5 = none + value_at(W5, at + 3), none + value_at(W5, at + 4), none + value_at(W5, at + 5)
        x0, x1, x2 = none + value_at(W5, at + 6), none + value_at(W5, at + 7), none + value_at(W5, at + 8)
        y0, y1, y2 = none, none, none
        k = 9 * (tree.class_W7[kind] + l * r)
        for p in range(r):
            q, v = load(workspace.q, at_q + p * LANES), load(workspace.v, at_q + p * LANES)
            n0 += value_at(W7, k) * q  # (11.4)
            n1 += value_at(W7, k + 1) * q
            n2 += value_at(W7, k + 2) * q
            n3 += value_at(W7, k + 3) * q
            n4 += value_at(W7, k + 4) * q
            n5 += value_at(W7, k + 5) * q
            c0, c1, c2 = value_at(W7, k + 6), value_at(W7, k + 7), value_at(W7, k + 8)
            x0, x1, x2 = x0 + c0 * q, x1 + c1 * q, x2 + c2 * q
            y0, y1, y2 = y0 + c0 * v, y1 + c1 * v, y2 + c2 * v
            k += 9
        q, v = load(workspace.q, at_q + l * LANES), load(workspace.v, at_q + l * LANES)
        P0 += q * (n0 + value_at(W5, at))  # (11.5)
        P1 += q * (n1 + value_at(W5, at + 1))
        P2 += q * (n2 + value_at(W5, at + 2))
        P3 += q * (n3 + value_at(W5, at + 3))
        P4 += q * (n4 + value_at(W5, at + 4))
        P5 += q * (n5 + value_at(W5, at + 5))
        T0, T1, T2 = T0 + v * n0, T1 + v * n1, T2 + v * n2
        T3, T4, T5 = T3 + v * n3, T4 + v * n4, T5 + v * n5
        H = (x0, x1, x2)
        turn = add3(turn, times3(v, H))
        bar = (value_at(Ub, first_bar + l), value_at(Ub, first_bar + r + l), value_at(Ub, first_bar + 2 * r + l))
        S = (S[0] + bar[0] * q, S[1] + bar[1] * q, S[2] + bar[2] * q)
        flow = (flow[0] + bar[0] * v, flow[1] + bar[1] * v, flow[2] + bar[2] * v)
        N = (n0, n1, n2, n3, n4, n5)
        bias = dot3(w, symmetric_times(N, w)) - square * (n0 + n3 + n5) + 2.0 * dot3(w, (y0, y1, y2))  # (11.8)
        store(work, free + LANES * (scratch.mode_bias + l), s5 * bias)
        at_H = H_out + LANES * l
        for i in range(3):
            store(work, at_H + i * r * LANES, s5 * H[i])
            store(work, at_H + (3 + i) * r * LANES, s4 * bar[i])
    finish_inertia(
        work, free, scratch, s4, s5, w, S, flow, (P0, P1, P2, P3, P4, P5), (T0, T1, T2, T3, T4, T5), turn
    )  # fmt: skip


@compiled(borrows=True)
def compute_own_inertia(tree, workspace, constants, g, free, H_out):
    """The same of a group of several classes."""
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    work, at_q, scratch = workspace.work, tree.group_q[g], scratch_rows(r)
    s4, s5, w = scales_and_spin(tree, workspace, g, r)
    none, square, w_0, w_1, w_2 = s4 * 0.0, dot3(w, w), 2.0 * w[0], 2.0 * w[1], 2.0 * w[2]
    o0, o1, o2 = w[0] * w[0] - square, w_0 * w[1], w_0 * w[2]  # w.N w - w² tr N = o.N
    o3, o4, o5 = w[1] * w[1] - square, w_1 * w[2], w[2] * w[2] - square
    fixed, at = constants.fixed, 10 * tree.class_place[kind]
    S = (value_at(fixed, at + 1), value_at(fixed, at + 2), value_at(fixed, at + 3))
    flow, turn = (none, none, none), (none, none, none)
    P0, P1, P2 = value_at(fixed, at + 4), value_at(fixed, at + 5), value_at(fixed, at + 6)
    P3, P4, P5 = value_at(fixed, at + 7), value_at(fixed, at + 8), value_at(fixed, at + 9)
    T0, T1, T2, T3, T4, T5 = none, none, none, none, none, none
    W5, W7, Ub = constants.W5, constants.W7, constants.U_bar
    k, at_bias, step = 9 * tree.class_W7[kind], free + LANES * scratch.mode_bias, r * LANES
    for l in range(r):
        at, here = 9 * (tree.class_sum[kind] + l), H_out + LANES * l
        q_l, v_l = load(workspace.q, at_q + l * LANES), load(workspace.v, at_q + l * LANES)
        n0, n1, n2, n3, n4, n5 = (
            value_at(W5, at), value_at(W5, at + 1), value_at(W5, at + 2),
            value_at(W5, at + 3), value_at(W5, at + 4), value_at(W5, at + 5),
        )  # fmt: skip
        bias = o0 * n0 + o1 * n1 + o2 * n2 + o3 * n3 + o4 * n4 + o5 * n5  # (11.8)
        T0, T1, T2 = T0 + v_l * n0, T1 + v_l * n1, T2 + v_l * n2
        T3, T4, T5 = T3 + v_l * n3, T4 + v_l * n4, T5 + v_l * n5
        x0, x1, x2 = value_at(W5, at + 6), value_at(W5, at + 7), value_at(W5, at + 8)
        for p in range(l):
            q, v = load(workspace.q, at_q + p * LANES), load(workspace.v, at_q + p * LANES)
            m0, m1, m2 = value_at(W7, k), value_at(W7, k + 1), value_at(W7, k + 2)
            m3, m4, m5 = value_at(W7, k + 3), value_at(W7, k + 4), value_at(W7, k + 5)
            c0, c1, c2 = value_at(W7, k + 6), value_at(W7, k + 7), value_at(W7, k + 8)
            k += 9
            both = v_l * q + v * q_l
            n0, n1, n2, n3, n4, n5 = n0 + m0 * q, n1 + m1 * q, n2 + m2 * q, n3 + m3 * q, n4 + m4 * q, n5 + m5 * q
            T0, T1, T2 = T0 + m0 * both, T1 + m1 * both, T2 + m2 * both
            T3, T4, T5 = T3 + m3 * both, T4 + m4 * both, T5 + m5 * both
            x0, x1, x2 = x0 + c0 * q, x1 + c1 * q, x2 + c2 * q
            pulled = o0 * m0 + o1 * m1 + o2 * m2 + o3 * m3 + o4 * m4 + o5 * m5
            swept = w_0 * c0 + w_1 * c1 + w_2 * c2
            bias += pulled * q + swept * v
            there, other = at_bias + LANES * p, H_out + LANES * p
            store(work, there, load(work, there) + (pulled * q_l - swept * v_l))
            store(work, other, load(work, other) - c0 * q_l)  # (11.4), the other half
            store(work, other + step, load(work, other + step) - c1 * q_l)
            store(work, other + 2 * step, load(work, other + 2 * step) - c2 * q_l)
        m0, m1, m2 = value_at(W7, k), value_at(W7, k + 1), value_at(W7, k + 2)
        m3, m4, m5 = value_at(W7, k + 3), value_at(W7, k + 4), value_at(W7, k + 5)
        k += 9
        both = v_l * q_l
        T0, T1, T2 = T0 + m0 * both, T1 + m1 * both, T2 + m2 * both
        T3, T4, T5 = T3 + m3 * both, T4 + m4 * both, T5 + m5 * both
        P0, P1, P2 = (
            P0 + q_l * (2.0 * n0 + m0 * q_l),
            P1 + q_l * (2.0 * n1 + m1 * q_l),
            P2 + q_l * (2.0 * n2 + m2 * q_l),
        )
        P3, P4, P5 = (
            P3 + q_l * (2.0 * n3 + m3 * q_l),
            P4 + q_l * (2.0 * n4 + m4 * q_l),
            P5 + q_l * (2.0 * n5 + m5 * q_l),
        )
        bias += (o0 * m0 + o1 * m1 + o2 * m2 + o3 * m3 + o4 * m4 + o5 * m5) * q_l
        store(work, at_bias + LANES * l, bias)
        store(work, here, x0)
        store(work, here + step, x1)
        store(work, here + 2 * step, x2)
    bar = 3 * tree.class_sum[kind]
    for l in range(r):
        q, v = load(workspace.q, at_q + l * LANES), load(workspace.v, at_q + l * LANES)
        here, there, H = H_out + LANES * l, at_bias + LANES * l, load3(work, H_out + LANES * l, step)
        b = (value_at(Ub, bar + l), value_at(Ub, bar + r + l), value_at(Ub, bar + 2 * r + l))
        S, flow, turn = add3(S, times3(q, b)), add3(flow, times3(v, b)), add3(turn, times3(v, H))
        store(work, there, s5 * load(work, there))
        for i in range(3):
            store(work, here + i * step, s5 * H[i])
            store(work, here + (3 + i) * step, s4 * b[i])
    finish_inertia(
        work, free, scratch, s4, s5, w, S, flow, (P0, P1, P2, P3, P4, P5), (T0, T1, T2, T3, T4, T5), turn
    )  # fmt: skip
