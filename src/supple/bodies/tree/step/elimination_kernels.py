"""Elimination of a tree's accelerations, leaves to root, and their substitution, root to leaves.

    M* = M + sum N^T I N        H* = H + sum X^T I N                r = Q - h_q - sum N^T (I c + p)
    q" = M*^-1 (r - H*^T A)     A_j = R^T (X A + N q" + c)          M: effective mass of the step

What the children show at an interface, (I, p), is turned into the parent's axes first, where N, c and X are. It is the
choice of coupling:

    articulated   I = Phi + sum X^T I X - H* M*^-1 H*^T     p = h - w + sum X^T (I c + p) + H* M*^-1 r     exact
    composite     the same without what the child's own q" does
    centroid      the subtree's mass at its centre, fixed in the child's frame [BZ11, L2]
    lumped        the subtree's mass at the interface [BZ11, eq. 16, L1]

w: wrench from outside. Without torque, the children of the one-way couplings push the interface's centre alone, as in
the paper: the angular rows of N are left out on the left; M* is then not symmetric for the centroid. Children on one
interface share its frame, so their (I, p) are summed first. A group begins with its own part, adds its interfaces part
by part (`layout`), each part on its own, and is finished when all are there.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.polar_kernels import polar_rate_by
from supple.algebra.dense.rotation_kernels import cross
from supple.algebra.dense.rotation_kernels import matrix_rotate as turned
from supple.algebra.dense.rotation_kernels import matrix_rotate_inverse as turned_back
from supple.algebra.lanes.lane_type import LANES, fabs, load, select_ge, splat, store, value_at
from supple.bodies.tree.domains.layout import INTERFACE_ROWS, OUT, SIX, group_rows, part_count, scratch_rows, sum_rows
from supple.bodies.tree.step.dense_kernels import (
    add_products,
    eliminate_general,
    factor_lanes,
    load_four,
    load_seven,
    solve_seven,
)
from supple.bodies.tree.step.frame_kernels import add3, dot3, load3, load9, store3, times3
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
from supple.bodies.tree.step.transpose_kernels import gather_rows, scatter_rows
from supple.bodies.tree.surface.point_kernels import add_points
from supple.modal.interfaces.interface_kernels import add_nine, store_turning

LUMPED, CENTROID, COMPOSITE, ARTICULATED = 0, 1, 2, 3
FORCE_ONLY = 4
"""Added to a coupling: the children push without torque."""
BIAS, SUBTREE, OUTER = 21, 27, 31
"""Rows of what a domain shows: p, mass with first moment, outer wrench."""
SHOWN = 32
"""How much of it the couplings that show I and p read, in whole lanes."""


@compiled(inline=True)
def gather_children(tree, workspace, slot, beside, at, count):
    """Sums of the first `count` rows of what the children on LANES slots show, into rows from `at`.

    beside: scratch where the sums of each slot are contiguous. count: a multiple of LANES.
    """
    out, work = workspace.out, workspace.work
    for b in range(LANES):
        own, first, last = beside + OUT * b, tree.child_start[slot + b], tree.child_start[slot + b + 1]
        for k in range(0, count, LANES):
            value = splat(0.0, load(out, 0))
            for c in range(first, last):
                value += load(out, OUT * tree.children[c] + k)
            store(work, own + k, value)
    gather_rows(work, beside, OUT, count, work, at)


@compiled(inline=True)
def start_seen(tree, workspace, g, free, scratch, at):
    """The domain's own part of what its parent sees, from `at` on: Phi, h - w, mass, first moment, outer wrench."""
    work = workspace.work
    m = load(tree.total_mass, g * LANES)
    none = m * 0.0
    S = load3(work, free + LANES * scratch.moment, LANES)
    for i in range(3):
        for j in range(i, 3):
            store(work, at + LANES * pair(i, j), load(work, free + LANES * (scratch.inertia + i * (5 - i) // 2 + j)))
            store(work, at + LANES * pair(3 + i, 3 + j), m if i == j else none)
        store(work, at + LANES * pair(i, 3 + i), none)
        store(work, at + LANES * (SUBTREE + 1 + i), S[i])
    store(work, at + LANES * pair(0, 4), -S[2])
    store(work, at + LANES * pair(0, 5), S[1])
    store(work, at + LANES * pair(1, 3), S[2])
    store(work, at + LANES * pair(1, 5), -S[0])
    store(work, at + LANES * pair(2, 3), -S[1])
    store(work, at + LANES * pair(2, 4), S[0])
    store(work, at + LANES * SUBTREE, m)
    gather_rows(workspace.load_w, SIX * g * LANES, SIX, SIX, work, at + LANES * OUTER)
    for i in range(6):
        value = load(work, free + LANES * (scratch.bias + i)) - load(work, at + LANES * (OUTER + i))
        store(work, at + LANES * (BIAS + i), value)


@compiled(inline=True)
def scaled_hat(hat, at, r, s):
    """A column of s ah (3, r), its first number at `at`."""
    return s * value_at(hat, at), s * value_at(hat, at + r), s * value_at(hat, at + 2 * r)


@compiled(inline=True)
def add_interface(tree, workspace, constants, coupling, g, r, k, sums, free):
    """Add the children on interface k of group g to the sums of its part; free: the thread's scratch."""
    work, interface, part, scratch = workspace.work, INTERFACE_ROWS, sum_rows(r), scratch_rows(r)
    kind, low = coupling % FORCE_ONLY, coupling >= FORCE_ONLY
    at = tree.group_work[g] + LANES * (group_rows(r, tree.group_interfaces[g]).interfaces + k * interface.size)
    shown, beside = free + LANES * scratch.shown, free + LANES * scratch.beside
    Gamma, IN, hat = free + LANES * scratch.Gamma, free + LANES * scratch.pushed, constants.fits.a_hat
    first, s = constants.interface_start[tree.class_interface[tree.group_class[g]] + k], load(tree.scale, g * LANES)
    slot = tree.group_slot[g] + k * LANES
    gather_children(tree, workspace, slot, beside, shown, OUT if kind < COMPOSITE else SHOWN)
    R, x = load9(work, at + 6 * LANES), load3(work, at, LANES)
    store_turning(constants.fits.A_modes, first, r, R, load9(work, at + LANES * interface.solver), work, Gamma)
    I = turned_six(R, load_symmetric(work, shown))  # (T9)
    c, d = load3(work, at + LANES * interface.c, LANES), load3(work, at + LANES * (interface.c + 3), LANES)
    y = symmetric_six_times(I, (c[0], c[1], c[2], d[0], d[1], d[2]))
    T = add3(turned(R, load3(work, shown + LANES * BIAS, LANES)), (y[0], y[1], y[2]))  # I c + p
    F = add3(turned(R, load3(work, shown + LANES * (BIAS + 3), LANES)), (y[3], y[4], y[5]))
    seen = sums + LANES * part.seen
    if kind >= COMPOSITE:
        add_moved_inertia(work, I, x, seen)  # (T11)
        add_three(work, seen + LANES * BIAS, plus_cross(T, x, F))  # (T11)
        add_three(work, seen + LANES * (BIAS + 3), F)
    else:
        m, S = load(work, shown + LANES * SUBTREE), load3(work, shown + LANES * (SUBTREE + 1), LANES)
        push = turned(R, load3(work, shown + LANES * (OUTER + 3), LANES))
        add_row(work, seen + LANES * SUBTREE, m)
        add_three(work, seen + LANES * (SUBTREE + 1), add3(turned(R, S), times3(m, x)))
        turn = add3(turned(R, load3(work, shown + LANES * OUTER, LANES)), cross(x, push))
        add_three(work, seen + LANES * OUTER, turn)
        add_three(work, seen + LANES * (OUTER + 3), push)
    none = x[0] * 0.0
    for l in range(r):
        n, m = load3(work, Gamma + LANES * l, r * LANES), scaled_hat(hat, 3 * first + l, r, s)
        if low:
            n = (none, none, none)
        y = symmetric_six_times(I, (n[0], n[1], n[2], m[0], m[1], m[2]))
        turn, push = plus_cross((y[0], y[1], y[2]), x, (y[3], y[4], y[5])), (y[3], y[4], y[5])
        here = sums + LANES * (part.coupling + l)
        for i in range(3):
            store(work, IN + LANES * (i * r + l), y[i])
            store(work, IN + LANES * ((3 + i) * r + l), s * y[3 + i])
            add_row(work, here + LANES * i * r, turn[i])  # (T9)
            add_row(work, here + LANES * (3 + i) * r, push[i])
        add_row(work, sums + LANES * (part.right + l), -(dot3(n, T) + dot3(m, F)))  # (T10)
    total = sums + LANES * part.total
    add_products(work, Gamma, hat, 3 * first, IN, r, r if low else 0, total)  # (T8)


@compiled(borrows=True)
def show_lumped(workspace, coupling, spin, at):
    """What the parent sees, from `at` on, of a subtree whose mass is one point: at the interface, or at its centre.

    spin: where the angular velocity begins.
    """
    work = workspace.work
    m, S = load(work, at + LANES * SUBTREE), load3(work, at + LANES * (SUBTREE + 1), LANES)
    none = m * 0.0
    c = times3(1.0 / m, S)
    if coupling % FORCE_ONLY == LUMPED:
        S, c = (none, none, none), (none, none, none)
    w = load3(work, spin, LANES)
    square, pull = dot3(c, c), times3(m, cross(w, cross(w, c)))  # [BZ11, eqs. 15-17]
    turn = cross(c, pull)
    for k in range(BIAS):
        store(work, at + LANES * k, none)
    for i in range(3):
        for j in range(i, 3):
            store(work, at + LANES * pair(i, j), m * ((square if i == j else none) - c[i] * c[j]))
        store(work, at + LANES * pair(3 + i, 3 + i), m)
        store(work, at + LANES * (BIAS + i), turn[i] - load(work, at + LANES * (OUTER + i)))
        store(work, at + LANES * (BIAS + 3 + i), pull[i] - load(work, at + LANES * (OUTER + 3 + i)))
    store(work, at + LANES * pair(0, 4), -S[2])
    store(work, at + LANES * pair(0, 5), S[1])
    store(work, at + LANES * pair(1, 3), S[2])
    store(work, at + LANES * pair(1, 5), -S[0])
    store(work, at + LANES * pair(2, 3), -S[1])
    store(work, at + LANES * pair(2, 4), S[0])


@compiled(inline=True)
def subtract_rows(work, at, values):
    """Rows from `at` -= values."""
    for k in range(len(values)):
        add_row(work, at + LANES * k, -values[k])


@compiled(borrows=True)
def condense(work, H, Z, seen, r):
    """I -= H* M*^-1 H*^T and p += H* M*^-1 r, in what the parent sees; H, Z: where H* and M*^-1 (H*^T | r) are."""
    step, none = r * LANES, load(work, seen) * 0.0
    a00, a01, a02, a03, a04, a05, a06 = none, none, none, none, none, none, none
    a11, a12, a13, a14, a15, a16 = none, none, none, none, none, none
    a22, a23, a24, a25, a26 = none, none, none, none, none
    for l in range(r):
        h0, h1, h2 = load3(work, H + LANES * l, step)
        z0, z1, z2, z3, z4, z5, z6 = load_seven(work, Z + 7 * LANES * l)
        a00, a01, a02, a03 = a00 + h0 * z0, a01 + h0 * z1, a02 + h0 * z2, a03 + h0 * z3
        a04, a05, a06 = a04 + h0 * z4, a05 + h0 * z5, a06 + h0 * z6
        a11, a12, a13, a14 = a11 + h1 * z1, a12 + h1 * z2, a13 + h1 * z3, a14 + h1 * z4
        a15, a16 = a15 + h1 * z5, a16 + h1 * z6
        a22, a23, a24, a25, a26 = a22 + h2 * z2, a23 + h2 * z3, a24 + h2 * z4, a25 + h2 * z5, a26 + h2 * z6
    subtract_rows(work, seen, (a00, a01, a02, a03, a04, a05, a11, a12, a13, a14, a15, a22, a23, a24, a25))
    add_three(work, seen + LANES * BIAS, (a06, a16, a26))  # (T11)
    a33, a34, a35, a36, a44, a45, a46, a55, a56 = none, none, none, none, none, none, none, none, none
    for l in range(r):
        h3, h4, h5 = load3(work, H + 3 * step + LANES * l, step)
        z3, z4, z5, z6 = load_four(work, Z + LANES * (7 * l + 3))
        a33, a34, a35, a36 = a33 + h3 * z3, a34 + h3 * z4, a35 + h3 * z5, a36 + h3 * z6
        a44, a45, a46 = a44 + h4 * z4, a45 + h4 * z5, a46 + h4 * z6
        a55, a56 = a55 + h5 * z5, a56 + h5 * z6
    subtract_rows(work, seen + LANES * pair(3, 3), (a33, a34, a35, a44, a45, a55))
    add_three(work, seen + LANES * (BIAS + 3), (a36, a46, a56))


@compiled(borrows=True)
def begin_group(tree, workspace, coupling, g, free, sums):
    """What group g itself has, in the sums of its first part, or in the thread's scratch, from its inertia in the
    scratch."""
    interfaces = tree.group_interfaces[g]
    r = tree.class_r[tree.group_class[g]]
    rows, scratch, part, base, work = (
        group_rows(r, interfaces),
        scratch_rows(r),
        sum_rows(r),
        tree.group_work[g],
        workspace.work,
    )
    start_seen(tree, workspace, g, free, scratch, sums + LANES * part.seen)
    for l in range(r):
        value = load(work, base + LANES * (rows.force + l)) - load(work, free + LANES * (scratch.mode_bias + l))
        store(work, sums + LANES * (part.right + l), value)
    if interfaces > 0:
        mass, total = base + LANES * rows.mass, sums + LANES * part.total
        for i in range(r):
            for j in range(i + 1):
                value = load(work, mass + LANES * (i * r + j))
                store(work, total + LANES * (i * r + j), value)
                if coupling >= FORCE_ONLY:
                    store(work, total + LANES * (j * r + i), value)


@compiled(borrows=True)
def add_interfaces(tree, workspace, constants, coupling, g, first, last, sums, free):
    """Add interfaces first ... last - 1 of group g to the sums of their part, which is empty unless it is the first
    one.

    constants: those that its class is among.
    """
    r = tree.class_r[tree.group_class[g]]
    if first > 0:
        none = load(tree.scale, g * LANES) * 0.0
        for row in range(sum_rows(r).size):
            store(workspace.work, sums + LANES * row, none)
    for k in range(first, last):
        add_interface(tree, workspace, constants, coupling, g, r, k, sums, free)


@compiled(borrows=True)
def transpose_square_matrix(work, at, r):
    """Rows (r, r) from `at` <- their transpose."""
    for i in range(r):
        for j in range(i):
            here, there = at + LANES * (i * r + j), at + LANES * (j * r + i)
            value = load(work, here)
            store(work, here, load(work, there))
            store(work, there, value)


@compiled(borrows=True)
def finish_group(tree, workspace, coupling, g, sums):
    """Eliminate q" of group g, from the sums of its parts or in the scratch, and show the rest. -1, or a bad row."""
    interfaces = tree.group_interfaces[g]
    r = tree.class_r[tree.group_class[g]]
    rows, part, base, work = group_rows(r, interfaces), sum_rows(r), tree.group_work[g], workspace.work
    for n in range(1, part_count(interfaces)):
        there = sums + LANES * n * part.size
        for i in range(r):
            for j in range(r if coupling >= FORCE_ONLY else i + 1):
                add_row(work, sums + LANES * (i * r + j), load(work, there + LANES * (i * r + j)))
        for row in range(part.coupling, part.size):
            add_row(work, sums + LANES * row, load(work, there + LANES * row))
    H, seen, spin = sums + LANES * part.coupling, sums + LANES * part.seen, base + LANES * rows.spin
    solved, matrix = (
        base + LANES * rows.solved,
        sums + LANES * part.total if interfaces > 0 else base + LANES * rows.mass,
    )
    for l in range(r):
        store(work, solved + LANES * (7 * l + 6), load(work, sums + LANES * (part.right + l)))
    is_held = workspace.held_start[g] < workspace.held_start[g + 1]
    if is_held and interfaces > 0:
        add_points(tree, workspace, g, spin, r, seen, BIAS, H, solved, work, matrix)
    elif is_held:  # its matrix is kept, since it is not the same in every pass
        first = workspace.held_mass_start[g]
        for i in range(r):
            for j in range(i + 1):
                store(workspace.held_mass, first + LANES * (i * r + j), load(work, matrix + LANES * (i * r + j)))
        add_points(tree, workspace, g, spin, r, seen, BIAS, H, solved, workspace.held_mass, first)
    for l in range(r):
        for i in range(6):
            store(work, solved + LANES * (7 * l + i), load(work, H + LANES * (i * r + l)))
    bad = -1
    if interfaces == 0 and is_held:
        bad = factor_lanes(workspace.held_mass, workspace.held_mass_start[g], r)
        solve_seven(workspace.held_mass, workspace.held_mass_start[g], work, solved, r)
    elif interfaces > 0 and coupling >= FORCE_ONLY:
        transpose_square_matrix(
            work, matrix, r
        )  # without torque it is (I N_left)^T N, of which N^T (I N_left) was summed
        bad = eliminate_general(work, matrix, work, solved, r)
    else:
        if interfaces > 0:
            bad = factor_lanes(work, matrix, r)
        solve_seven(work, matrix, work, solved, r)
    if coupling == ARTICULATED:
        condense(work, H, solved, seen, r)
    elif coupling % FORCE_ONLY < COMPOSITE:
        show_lumped(workspace, coupling, spin, seen)
    scatter_rows(work, seen, workspace.out, OUT * g * LANES, OUT, OUT if coupling % FORCE_ONLY < COMPOSITE else SHOWN)
    return bad


@compiled(inline=True)
def larger(a, b):
    """The larger of a and b, lane by lane; NaN where a is."""
    return select_ge(b, a, b, a)


@compiled(inline=True)
def gather_acceleration(tree, workspace, g, free):
    """alpha and a of the frames of group g, from its parents' slots; free: the thread's scratch."""
    work, r = workspace.work, tree.class_r[tree.group_class[g]]
    beside, at = free + LANES * scratch_rows(r).beside, free + LANES * scratch_rows(r).shown
    for b in range(LANES):
        for i in range(0, SIX, LANES):
            store(work, beside + SIX * b + i, load(workspace.slot_A, SIX * tree.parent_slot[g * LANES + b] + i))
    gather_rows(work, beside, SIX, SIX, work, at)
    return load3(work, at, LANES), load3(work, at + 3 * LANES, LANES)


@compiled(borrows=True)
def substitute_group(tree, workspace, by_q, by_v, g, free):
    """q" of group g from the accelerations of its frames: q = q_f = q_p + by_q q", v = v_p + by_v q".

    Notes the largest change of q" and the largest q" of the group.
    """
    r, work = tree.class_r[tree.group_class[g]], workspace.work
    alpha, a = gather_acceleration(tree, workspace, g, free)
    solved = tree.group_work[g] + LANES * group_rows(r, tree.group_interfaces[g]).solved
    at_q, used = tree.group_q[g], load(tree.mask, g * LANES)
    change, size = used * 0.0, used * 0.0
    for l in range(r):
        Z, here = solved + 7 * LANES * l, at_q + l * LANES
        value = load(work, Z + 6 * LANES)
        value -= dot3(load3(work, Z, LANES), alpha) + dot3(load3(work, Z + 3 * LANES, LANES), a)  # (T12)
        value *= used
        change, size = larger(fabs(value - load(workspace.a, here)), change), larger(fabs(value), size)
        store(workspace.a, here, value)
        q = load(workspace.q_p, here) + by_q * value
        store(workspace.q, here, q)
        store(workspace.q_f, here, q)
        store(workspace.v, here, load(workspace.v_p, here) + by_v * value)
    if workspace.ended[g] > 0.0:
        rest = (workspace.span[0] - by_v) * load(workspace.ends, g * LANES)
        for here in range(at_q, at_q + r * LANES, LANES):
            store(workspace.q_f, here, load(workspace.q, here) + rest * load(workspace.v, here))  # (T16)
    store(workspace.change, 2 * LANES * g, change)
    store(workspace.change, 2 * LANES * g + LANES, size)


@compiled(borrows=True)
def substitute_interfaces(tree, workspace, constants, g, first, last, free):
    """Accelerations of interfaces first ... last - 1 of group g, from those of its frames and its q"."""
    r, work, fits, kind = tree.class_r[tree.group_class[g]], workspace.work, constants.fits, tree.group_class[g]
    rows, interface, scratch = group_rows(r, tree.group_interfaces[g]), INTERFACE_ROWS, scratch_rows(r)
    alpha, a = gather_acceleration(tree, workspace, g, free)
    at_q, shown, s = tree.group_q[g], free + LANES * scratch.shown, load(tree.scale, g * LANES)
    none = s * 0.0
    for k in range(first, last):
        at = tree.group_work[g] + LANES * (rows.interfaces + k * interface.size)
        modes = constants.interface_start[tree.class_interface[kind] + k]
        A, shift = (none, none, none, none, none, none, none, none, none), (none, none, none)
        for l in range(r):
            value, hat = load(workspace.a, at_q + l * LANES), 3 * modes + l
            A = add_nine(A, value, fits.A_modes, 9 * (modes + l))
            shift = (
                shift[0] + value_at(fits.a_hat, hat) * value,
                shift[1] + value_at(fits.a_hat, hat + r) * value,
                shift[2] + value_at(fits.a_hat, hat + 2 * r) * value,
            )
        R, x, c = load9(work, at + 6 * LANES), load3(work, at, LANES), at + LANES * interface.c
        turn = add3(alpha, add3(load3(work, c, LANES), polar_rate_by(load9(work, at + LANES * interface.solver), R, A)))
        move = add3(add3(a, cross(alpha, x)), add3(load3(work, c + 3 * LANES, LANES), times3(s, shift)))
        store3(work, shown, turned_back(R, turn))  # (T12)
        store3(work, shown + 3 * LANES, turned_back(R, move))
        scatter_rows(work, shown, workspace.slot_A, SIX * (tree.group_slot[g] + k * LANES), SIX, SIX)
