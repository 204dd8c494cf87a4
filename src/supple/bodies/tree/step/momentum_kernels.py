"""Momentum of a whole tree, and the end of a step of a free one: momentum changes by what acts on it alone.

Leaves to root, each domain shows its parent the inertia I of its subtree as one rigid body, and the subtree's momentum
(l, p) at rest of the domain's frame; both depend on q and q' alone:

    I_i = Phi_i + sum X^T I_j X,      (l, p)_i = H_i q' + sum X^T (I_j (w_ij, v_ij) + (l, p)_j)     [theory.md, T6]

with I_j, (l, p)_j turned into the parent's axes. At the root, with its velocity V = (w, v),

    (L_o, P) = I V + (l, p),     c = o + S / m,     L_c = L_o - (c - o) x P

A step has F and T, force and torque about the centre of mass of all that acts, in its middle. It ends on      [T7]

    P_1 = P_0 + h (m g + F),   L_c1 = L_c0 + h T,   c_1 = c_0 + h ((1 - theta) P_0 + theta P_1) / m

by a rigid motion more, at the root:  dw = J_c^-1 (L_c1 - L_c),  dv_o = (P_1 - P) / m + dw x (o - c),  do = c_1 - c
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross
from supple.algebra.dense.rotation_kernels import matrix_rotate as turned
from supple.algebra.dense.rotation_kernels import matrix_rotate_inverse as turned_back
from supple.algebra.lanes.lane_type import LANES, load, store, value_at
from supple.bodies.tree.domains.layout import INTERFACE_ROWS, OUT, group_rows, part_count, scratch_rows, sum_rows
from supple.bodies.tree.step.elimination_kernels import BIAS, SHOWN, gather_children, start_seen
from supple.bodies.tree.step.frame_kernels import add3, compute_fit, dot3, load3, load9, store3, times3
from supple.bodies.tree.step.root_kernels import root_matrix, vector
from supple.bodies.tree.step.spatial_kernels import (
    add_moved_inertia,
    add_row,
    add_three,
    load_symmetric,
    pair,
    plus_cross,
    symmetric_six_times,
    turned_six,
)
from supple.bodies.tree.step.transpose_kernels import scatter_rows


@compiled(borrows=True)
def begin_momentum(tree, workspace, constants, is_own, g, free, sums):
    """Phi and H q' of group g in the sums of its first part.

    As `inertia_kernels.compute_inertia`, with half of W7, whose symmetric parts are the same for (l, p) and (p, l) and
    whose axial vectors are opposite. is_own: the constants are of several classes, with that half alone.
    """
    kind = tree.group_class[g]
    r, at_q, work, scratch = tree.class_r[kind], tree.group_q[g], workspace.work, scratch_rows(tree.class_r[kind])
    s = load(tree.scale, g * LANES)
    s4 = s * s * s * s * load(tree.density, g * LANES)
    none, fixed, first = s * 0.0, constants.fixed, 10 * tree.class_place[kind]
    S = (none + value_at(fixed, first + 1), none + value_at(fixed, first + 2), none + value_at(fixed, first + 3))
    P0, P1, P2 = none + value_at(fixed, first + 4), none + value_at(fixed, first + 5), none + value_at(fixed, first + 6)
    P3, P4, P5 = none + value_at(fixed, first + 7), none + value_at(fixed, first + 8), none + value_at(fixed, first + 9)
    W5, W7, Ub, bar = constants.W5, constants.W7, constants.U_bar, 3 * tree.class_sum[kind]
    flow, t0, t1, t2 = (none, none, none), none, none, none
    for l in range(r):
        q_l, v_l = load(workspace.q, at_q + l * LANES), load(workspace.v, at_q + l * LANES)
        at, k = 9 * (tree.class_sum[kind] + l), 9 * (tree.class_W7[kind] + (l * (l + 1) // 2 if is_own else l * r))
        n0, n1, n2 = none + value_at(W5, at), none + value_at(W5, at + 1), none + value_at(W5, at + 2)
        n3, n4, n5 = none + value_at(W5, at + 3), none + value_at(W5, at + 4), none + value_at(W5, at + 5)
        t0, t1, t2 = t0 + value_at(W5, at + 6) * v_l, t1 + value_at(W5, at + 7) * v_l, t2 + value_at(W5, at + 8) * v_l
        for p in range(l):
            q, v = load(workspace.q, at_q + p * LANES), load(workspace.v, at_q + p * LANES)
            c = q * v_l - v * q_l
            n0 += value_at(W7, k) * q
            n1 += value_at(W7, k + 1) * q
            n2 += value_at(W7, k + 2) * q
            n3 += value_at(W7, k + 3) * q
            n4 += value_at(W7, k + 4) * q
            n5 += value_at(W7, k + 5) * q
            t0 += value_at(W7, k + 6) * c
            t1 += value_at(W7, k + 7) * c
            t2 += value_at(W7, k + 8) * c
            k += 9
        P0 += q_l * (2.0 * n0 + value_at(W7, k) * q_l)
        P1 += q_l * (2.0 * n1 + value_at(W7, k + 1) * q_l)
        P2 += q_l * (2.0 * n2 + value_at(W7, k + 2) * q_l)
        P3 += q_l * (2.0 * n3 + value_at(W7, k + 3) * q_l)
        P4 += q_l * (2.0 * n4 + value_at(W7, k + 4) * q_l)
        P5 += q_l * (2.0 * n5 + value_at(W7, k + 5) * q_l)
        b0, b1, b2 = value_at(Ub, bar + l), value_at(Ub, bar + r + l), value_at(Ub, bar + 2 * r + l)
        S = (S[0] + b0 * q_l, S[1] + b1 * q_l, S[2] + b2 * q_l)
        flow = (flow[0] + b0 * v_l, flow[1] + b1 * v_l, flow[2] + b2 * v_l)
    trace, s5 = P0 + P3 + P5, s4 * s
    J = (trace - P0, -P1, -P2, trace - P3, -P4, trace - P5)
    store3(work, free + LANES * scratch.moment, times3(s4, S))
    for i in range(6):
        store(work, free + LANES * (scratch.inertia + i), s5 * J[i])
    seen = sums + LANES * sum_rows(r).seen
    start_seen(tree, workspace, g, free, scratch, seen)
    store3(work, seen + LANES * BIAS, times3(s5, (t0, t1, t2)))  # (T6)
    store3(work, seen + LANES * (BIAS + 3), times3(s4, flow))


@compiled(borrows=True)
def add_momenta(tree, workspace, constants, g, first, last, sums, free):
    """Add the children on interfaces first ... last - 1 of group g to the sums of their part."""
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    work, interface, scratch = workspace.work, INTERFACE_ROWS, scratch_rows(r)
    rows, seen, s = (
        group_rows(r, tree.group_interfaces[g]),
        sums + LANES * sum_rows(r).seen,
        load(tree.scale, g * LANES),
    )
    shown, beside = free + LANES * scratch.shown, free + LANES * scratch.beside
    if first > 0:
        for row in range(SHOWN):
            store(work, seen + LANES * row, s * 0.0)
    for k in range(first, last):
        compute_fit(tree, workspace, constants, g, k)
        at = tree.group_work[g] + LANES * (rows.interfaces + k * interface.size)
        gather_children(tree, workspace, tree.group_slot[g] + k * LANES, beside, shown, SHOWN)
        R, x, v = (
            load9(work, at + 6 * LANES),
            times3(s, load3(work, at, LANES)),
            times3(s, load3(work, at + 3 * LANES, LANES)),
        )
        w = load3(work, at + 15 * LANES, LANES)
        I = turned_six(R, load_symmetric(work, shown))
        y = symmetric_six_times(I, (w[0], w[1], w[2], v[0], v[1], v[2]))  # (T6)
        l = add3(turned(R, load3(work, shown + LANES * BIAS, LANES)), (y[0], y[1], y[2]))
        p = add3(turned(R, load3(work, shown + LANES * (BIAS + 3), LANES)), (y[3], y[4], y[5]))
        add_moved_inertia(work, I, x, seen)  # (T6)
        add_three(work, seen + LANES * BIAS, plus_cross(l, x, p))  # (T6)
        add_three(work, seen + LANES * (BIAS + 3), p)


@compiled(borrows=True)
def finish_momentum(tree, workspace, g, sums):
    """Show what group g and all below it have, from the sums of its parts."""
    r = tree.class_r[tree.group_class[g]]
    work, part = workspace.work, sum_rows(r)
    seen = sums + LANES * part.seen
    for n in range(1, part_count(tree.group_interfaces[g])):
        for row in range(SHOWN):
            add_row(work, seen + LANES * row, load(work, seen + LANES * (n * part.size + row)))
    scatter_rows(work, seen, workspace.out, OUT * g * LANES, OUT, SHOWN)


@compiled(borrows=True)
def keep_momentum(workspace, root):
    """I and (l, p) of the whole tree, as it was shown last."""
    for i in range(BIAS + 6):
        root.whole[i] = workspace.out[i]
    root.known[0] = 1.0


@compiled(inline=True)
def inertia_of(a):
    """The 21 values of the whole tree's inertia."""
    return (
        a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16],
        a[17], a[18], a[19], a[20],
    )  # fmt: skip


@compiled(inline=True)
def centre_of(I):
    """Mass, and centre of mass in the root's axes."""
    m = I[pair(3, 3)]
    return m, (I[pair(2, 4)] / m, I[pair(0, 5)] / m, I[pair(1, 3)] / m)


@compiled(inline=True)
def momenta_of(root):
    """P, L about the centre of mass, and that centre, in world axes, of the tree with its root's present motion.

    P has m v in world axes, where v is kept, and not turned there and back: what rounding does to P in a step adds up.
    """
    R, I, v = root_matrix(root), inertia_of(root.whole), vector(root.velocity, 0)
    w, u = vector(root.spin, 0), turned_back(R, v)
    m, s = centre_of(I)
    y = symmetric_six_times(I, (w[0], w[1], w[2], u[0], u[1], u[2]))
    z = symmetric_six_times(I, (w[0], w[1], w[2], 0.0, 0.0, 0.0))  # with the root's origin at rest
    l, p = add3((y[0], y[1], y[2]), vector(root.whole, BIAS)), add3((z[3], z[4], z[5]), vector(root.whole, BIAS + 3))
    at_centre = cross(s, add3(p, times3(m, u)))  # (12.6)
    l = (l[0] - at_centre[0], l[1] - at_centre[1], l[2] - at_centre[2])
    return add3(times3(m, v), turned(R, p)), turned(R, l), add3(vector(root.x, 0), turned(R, s))


@compiled(borrows=True)
def start_targets(root):
    """Momentum and centre of mass at the start of a step."""
    P, l, c = momenta_of(root)
    for i in range(3):
        root.target[i], root.target[3 + i], root.target[6 + i] = P[i], l[i], c[i]


@compiled(borrows=True)
def move_targets(root, numbers, gravity):
    """Momentum and centre of mass at the end of a step, by what acts in its middle."""
    h, theta, target, m = numbers.h, numbers.theta, root.target, root.whole[pair(3, 3)]
    F, T, o, c = vector(root.outer, 0), vector(root.outer, 3), vector(root.x, 0), vector(root.target, 6)
    for i in range(3):
        P = target[i] + h * (m * gravity[i] + F[i])  # (T7)
        target[6 + i] += h * ((1.0 - theta) * target[i] + theta * P) / m  # (T7)
        target[i] = P
    arm = (  # of the root's origin, from the centre of mass in the middle
        o[0] - c[0] - theta * (target[6] - c[0]),
        o[1] - c[1] - theta * (target[7] - c[1]),
        o[2] - c[2] - theta * (target[8] - c[2]),
    )
    more = cross(arm, F)
    for i in range(3):
        target[3 + i] += h * (T[i] + more[i])  # (T7)


@compiled(inline=True)
def symmetric_solve(a, b, c, d, e, f, y):
    """x with [a b c; b d e; c e f] x = y."""
    A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
    D, E, F = a * f - c * c, b * c - a * e, a * d - b * b
    n = 1.0 / (a * A + b * B + c * C)
    return n * dot3((A, B, C), y), n * dot3((B, D, E), y), n * dot3((C, E, F), y)


@compiled(borrows=True)
def end_on_targets(workspace, root):
    """Move the root so that momentum and centre of mass are those of the targets."""
    P, l, c = momenta_of(root)
    R, I = root_matrix(root), inertia_of(root.whole)
    m, s = centre_of(I)
    q = dot3(s, s)
    missing = turned_back(R, (root.target[3] - l[0], root.target[4] - l[1], root.target[5] - l[2]))
    w = symmetric_solve(
        I[0] - m * (q - s[0] * s[0]), I[1] + m * s[0] * s[1], I[2] + m * s[0] * s[2],
        I[6] - m * (q - s[1] * s[1]), I[7] + m * s[1] * s[2], I[11] - m * (q - s[2] * s[2]), missing,
    )  # fmt: skip
    v = turned(R, cross(s, w))  # dw x (o - c)
    for i in range(3):
        root.spin[i] += w[i]
        root.velocity[i] += (root.target[i] - P[i]) / m + v[i]  # (12.7)
        root.x[i] += root.target[6 + i] - c[i]  # (12.7)
        workspace.slot_w[i] = root.spin[i]
