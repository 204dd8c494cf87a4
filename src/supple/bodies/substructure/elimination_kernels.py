"""Elimination of a tree's accelerations, leaves to root, and their substitution, root to leaves.

    M* = M + sum N^T I N        H* = H + sum X^T I N        r = Q - h_q - sum N^T (I c + p)
    q" = M*^-1 (r - H*^T A)     A_j = X A + N q" + c        M: effective mass of the step

What a child shows at its port, (I, p), is the choice of coupling:

    articulated   I = Phi + sum X^T I X - H* M*^-1 H*^T     p = h - w + sum X^T (I c + p) + H* M*^-1 r     exact
    composite     the same without what the child's own q" does
    centroid      the subtree's mass at its centre, fixed in the child's frame [BZ11, L2]
    lumped        the subtree's mass at the port [BZ11, eq. 16, L1]

w: wrench from outside. Without torque, the children of the one-way couplings push the port's centre alone, as in the
paper: the angular rows of N are left out on the left; M* is then not symmetric for the centroid. Children on one port
share its frame, so their (I, p) are summed first. Six-vectors are (angular, linear); (i, j) of a symmetric 6x6 matrix
with i <= j is row i (11 - i) / 2 + j.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling import compiled
from supple.algebra.lanes import LANES, load, store
from supple.algebra.rotation_kernels import cross
from supple.algebra.rotation_kernels import matrix_rotate as turned
from supple.algebra.rotation_kernels import matrix_rotate_inverse as turned_back
from supple.bodies.substructure.dense_kernels import eliminate_general, factor_lanes, solve_seven
from supple.bodies.substructure.frame_kernels import add3, dot3, load3, load9, store3, times3
from supple.bodies.substructure.layout import OUT, group_rows, port_rows

LUMPED, CENTROID, COMPOSITE, ARTICULATED = 0, 1, 2, 3
FORCE_ONLY = 4
"""Added to a coupling: the children push without torque."""
BIAS, SUBTREE, OUTER = 21, 27, 31
"""Rows of what a domain shows: p, mass with first moment, outer wrench."""


@compiled(inline=True)
def pair(i, j):
    """Row of (i, j), i <= j, of a symmetric 6x6 matrix."""
    return i * (11 - i) // 2 + j


@compiled(inline=True)
def entry(i, j):
    """Row of (i, j) of a symmetric 6x6 matrix."""
    return pair(i, j) if i <= j else pair(j, i)


@compiled(borrows=True)
def gather_children(tree, storage, slot, at, count):
    """Sums of the first `count` rows of what the children on LANES slots show, into rows from `at`."""
    work = storage.work
    for k in range(count * LANES):
        work[at + k] = 0.0
    for b in range(LANES):
        for c in range(tree.child_start[slot + b], tree.child_start[slot + b + 1]):
            there = OUT * tree.children[c]
            for k in range(count):
                work[at + k * LANES + b] += storage.out[there + k]


@compiled(inline=True)
def moved_wrench(R, x, torque, force):
    """X^T (torque, force)."""
    F = turned(R, force)
    return add3(turned(R, torque), cross(x, F)), F


@compiled(inline=True)
def turned_matrix(R, M):
    """R M R^T, nine values each."""
    a = turned_rows(R, M)
    b0, b1, b2 = turned(R, (a[0], a[1], a[2])), turned(R, (a[3], a[4], a[5])), turned(R, (a[6], a[7], a[8]))
    return b0[0], b0[1], b0[2], b1[0], b1[1], b1[2], b2[0], b2[1], b2[2]


@compiled(inline=True)
def turned_rows(R, M):
    """R M, nine values each."""
    c0, c1, c2 = turned(R, (M[0], M[3], M[6])), turned(R, (M[1], M[4], M[7])), turned(R, (M[2], M[5], M[8]))
    return c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2]


@compiled(inline=True)
def add_row(work, at, value):
    """A row += value."""
    store(work, at, load(work, at) + value)


@compiled(borrows=True)
def add_moved_inertia(work, at, R_at, x_at, out):
    """Rows out (21) += X^T I X, I in rows from `at`: turned by R, then moved by x.

    I = [A B; B^T D]:  D' = D,  B' = B + x~ D,  A' = A + x~ B^T - B' x~
    """
    R, x = load9(work, R_at), load3(work, x_at, LANES)
    A = (
        load(work, at), load(work, at + LANES), load(work, at + 2 * LANES),
        load(work, at + LANES), load(work, at + 6 * LANES), load(work, at + 7 * LANES),
        load(work, at + 2 * LANES), load(work, at + 7 * LANES), load(work, at + 11 * LANES),
    )  # fmt: skip
    B = (
        load(work, at + 3 * LANES), load(work, at + 4 * LANES), load(work, at + 5 * LANES),
        load(work, at + 8 * LANES), load(work, at + 9 * LANES), load(work, at + 10 * LANES),
        load(work, at + 12 * LANES), load(work, at + 13 * LANES), load(work, at + 14 * LANES),
    )  # fmt: skip
    D = (
        load(work, at + 15 * LANES), load(work, at + 16 * LANES), load(work, at + 17 * LANES),
        load(work, at + 16 * LANES), load(work, at + 18 * LANES), load(work, at + 19 * LANES),
        load(work, at + 17 * LANES), load(work, at + 19 * LANES), load(work, at + 20 * LANES),
    )  # fmt: skip
    A, B, D = turned_matrix(R, A), turned_matrix(R, B), turned_matrix(R, D)
    d0, d1, d2 = cross(x, (D[0], D[3], D[6])), cross(x, (D[1], D[4], D[7])), cross(x, (D[2], D[5], D[8]))
    C = (
        B[0] + d0[0], B[1] + d1[0], B[2] + d2[0],
        B[3] + d0[1], B[4] + d1[1], B[5] + d2[1],
        B[6] + d0[2], B[7] + d1[2], B[8] + d2[2],
    )  # fmt: skip
    b0, b1, b2 = cross(x, (B[0], B[1], B[2])), cross(x, (B[3], B[4], B[5])), cross(x, (B[6], B[7], B[8]))
    e0, e1, e2 = cross((C[0], C[1], C[2]), x), cross((C[3], C[4], C[5]), x), cross((C[6], C[7], C[8]), x)
    add_row(work, out, A[0] + b0[0] - e0[0])
    add_row(work, out + LANES, A[1] + b1[0] - e0[1])
    add_row(work, out + 2 * LANES, A[2] + b2[0] - e0[2])
    add_row(work, out + 6 * LANES, A[4] + b1[1] - e1[1])
    add_row(work, out + 7 * LANES, A[5] + b2[1] - e1[2])
    add_row(work, out + 11 * LANES, A[8] + b2[2] - e2[2])
    for j in range(3):
        add_row(work, out + (3 + j) * LANES, C[j])
        add_row(work, out + (8 + j) * LANES, C[3 + j])
        add_row(work, out + (12 + j) * LANES, C[6 + j])
    add_row(work, out + 15 * LANES, D[0])
    add_row(work, out + 16 * LANES, D[1])
    add_row(work, out + 17 * LANES, D[2])
    add_row(work, out + 18 * LANES, D[4])
    add_row(work, out + 19 * LANES, D[5])
    add_row(work, out + 20 * LANES, D[8])


@compiled(borrows=True)
def start_seen(tree, storage, g, base, rows):
    """The domain's own part of what its parent sees: Phi, h - w, and mass, first moment, outer wrench."""
    work, kind, at = storage.work, tree.group_class[g], base + LANES * rows.seen
    s = load(tree.scale, g * LANES)
    m, none = tree.fixed[kind, 0] * (s * s * s), s * 0.0
    S = load3(work, base + LANES * rows.moment, LANES)
    for i in range(3):
        for j in range(i, 3):
            store(work, at + LANES * pair(i, j), load(work, base + LANES * (rows.inertia + i * (5 - i) // 2 + j)))
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
    for i in range(6):
        for b in range(LANES):
            outer = storage.load_w[6 * (g * LANES + b) + i]
            work[at + LANES * (OUTER + i) + b] = outer
            work[at + LANES * (BIAS + i) + b] = work[base + LANES * (rows.bias + i) + b] - outer


@compiled(borrows=True)
def add_port(tree, storage, coupling, base, rows, r, at, slot):
    """Add the children on one port of a group, whose rows begin at `at`."""
    work, port = storage.work, port_rows(r)
    kind = coupling % FORCE_ONLY
    low = 3 if coupling >= FORCE_ONLY else 0
    inner, N, IN = at + LANES * port.children, at + LANES * port.N, at + LANES * port.IN
    gather_children(tree, storage, slot, inner, OUT if kind < COMPOSITE else SUBTREE)
    R, x = load9(work, at + 6 * LANES), load3(work, at, LANES)
    for i in range(6):  # y = I c + p replaces p
        y = load(work, inner + LANES * (BIAS + i))
        for j in range(6):
            y += load(work, inner + LANES * entry(i, j)) * load(work, at + LANES * (port.c + j))
        store(work, inner + LANES * (BIAS + i), y)
    for l in range(r):
        n0, n1, n2 = load3(work, N + LANES * l, r * LANES)
        n3, n4, n5 = load3(work, N + LANES * (3 * r + l), r * LANES)
        for i in range(6):
            value = load(work, inner + LANES * entry(i, 3)) * n3
            value += load(work, inner + LANES * entry(i, 4)) * n4
            value += load(work, inner + LANES * entry(i, 5)) * n5
            store(work, IN + LANES * (i * r + l), value)
        if low == 0:
            for i in range(6):
                value = load(work, inner + LANES * entry(i, 0)) * n0
                value += load(work, inner + LANES * entry(i, 1)) * n1
                value += load(work, inner + LANES * entry(i, 2)) * n2
                add_row(work, IN + LANES * (i * r + l), value)
        turn, push = moved_wrench(
            R, x, load3(work, IN + LANES * l, r * LANES), load3(work, IN + LANES * (3 * r + l), r * LANES)
        )
        here = base + LANES * (rows.coupling + l)
        for i in range(3):
            add_row(work, here + LANES * i * r, turn[i])
            add_row(work, here + LANES * (3 + i) * r, push[i])
        rest = base + LANES * (rows.solved + 7 * l + 6)
        value = load(work, rest)
        for k in range(low, 6):
            value -= load(work, N + LANES * (k * r + l)) * load(work, inner + LANES * (BIAS + k))
        store(work, rest, value)
    total = base + LANES * rows.total
    for i in range(r):
        # without torque the matrix is (I N_left)^T N, which is not symmetric
        a, b = (IN, N) if low else (N, IN)
        a0, a1, a2 = load3(work, a + LANES * i, r * LANES)
        a3, a4, a5 = load3(work, a + LANES * (3 * r + i), r * LANES)
        for j in range(r if low else i + 1):
            value = a0 * load(work, b + LANES * j)
            value += a1 * load(work, b + LANES * (r + j))
            value += a2 * load(work, b + LANES * (2 * r + j))
            value += a3 * load(work, b + LANES * (3 * r + j))
            value += a4 * load(work, b + LANES * (4 * r + j))
            value += a5 * load(work, b + LANES * (5 * r + j))
            add_row(work, total + LANES * (i * r + j), value)
    seen = base + LANES * rows.seen
    if kind >= COMPOSITE:
        add_moved_inertia(work, inner, at + 6 * LANES, at, seen)
        turn, push = moved_wrench(
            R, x, load3(work, inner + LANES * BIAS, LANES), load3(work, inner + LANES * (BIAS + 3), LANES)
        )
        for i in range(3):
            add_row(work, seen + LANES * (BIAS + i), turn[i])
            add_row(work, seen + LANES * (BIAS + 3 + i), push[i])
        return
    m, S = load(work, inner + LANES * SUBTREE), load3(work, inner + LANES * (SUBTREE + 1), LANES)
    S = add3(turned(R, S), times3(m, x))
    turn, push = moved_wrench(
        R, x, load3(work, inner + LANES * OUTER, LANES), load3(work, inner + LANES * (OUTER + 3), LANES)
    )
    add_row(work, seen + LANES * SUBTREE, m)
    for i in range(3):
        add_row(work, seen + LANES * (SUBTREE + 1 + i), S[i])
        add_row(work, seen + LANES * (OUTER + i), turn[i])
        add_row(work, seen + LANES * (OUTER + 3 + i), push[i])


@compiled(borrows=True)
def show_lumped(storage, coupling, base, rows):
    """What the parent sees of a subtree whose mass is one point: at the port, or at its centre of mass."""
    work, at = storage.work, base + LANES * rows.seen
    m, S = load(work, at + LANES * SUBTREE), load3(work, at + LANES * (SUBTREE + 1), LANES)
    none = m * 0.0
    c = times3(1.0 / m, S)
    if coupling % FORCE_ONLY == LUMPED:
        S, c = (none, none, none), (none, none, none)
    w = load3(work, base + LANES * rows.spin, LANES)
    square, pull = dot3(c, c), times3(m, cross(w, cross(w, c)))
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


@compiled(borrows=True)
def condense(work, base, rows, r):
    """I -= H* M*^-1 H*^T and p += H* M*^-1 r, in what the parent sees."""
    seen, H, Z = base + LANES * rows.seen, base + LANES * rows.coupling, base + LANES * rows.solved
    for i in range(6):
        for j in range(i, 6):
            at = seen + LANES * pair(i, j)
            value = load(work, at)
            for l in range(r):
                value -= load(work, H + LANES * (i * r + l)) * load(work, Z + LANES * (7 * l + j))
            store(work, at, value)
        at = seen + LANES * (BIAS + i)
        value = load(work, at)
        for l in range(r):
            value += load(work, H + LANES * (i * r + l)) * load(work, Z + LANES * (7 * l + 6))
        store(work, at, value)


@compiled(borrows=True)
def eliminate_group(tree, storage, coupling, g):
    """Eliminate q" of group g, whose children are done, and show the rest to the parents. -1, or a bad row."""
    kind, ports = tree.group_class[g], tree.group_ports[g]
    r = tree.class_r[kind]
    rows, port, base, work = group_rows(r, ports), port_rows(r), tree.group_work[g], storage.work
    start_seen(tree, storage, g, base, rows)
    for l in range(r):
        value = load(work, base + LANES * (rows.force + l)) - load(work, base + LANES * (rows.mode_bias + l))
        store(work, base + LANES * (rows.solved + 7 * l + 6), value)
    if ports > 0:
        mass, total = base + LANES * rows.mass, base + LANES * rows.total
        for i in range(r):
            for j in range(i + 1):
                value = load(work, mass + LANES * (i * r + j))
                store(work, total + LANES * (i * r + j), value)
                store(work, total + LANES * (j * r + i), value)
        for k in range(ports):
            at = base + LANES * (rows.ports + k * port.size)
            add_port(tree, storage, coupling, base, rows, r, at, tree.group_slot[g] + k * LANES)
    for l in range(r):
        for i in range(6):
            value = load(work, base + LANES * (rows.coupling + i * r + l))
            store(work, base + LANES * (rows.solved + 7 * l + i), value)
    solved = base + LANES * rows.solved
    if ports == 0:
        solve_seven(work, base + LANES * rows.mass, work, solved, r)
    elif coupling >= FORCE_ONLY:
        bad = eliminate_general(work, base + LANES * rows.total, work, solved, r)
        if bad >= 0:
            return bad
    else:
        bad = factor_lanes(work, base + LANES * rows.total, r)
        if bad >= 0:
            return bad
        solve_seven(work, base + LANES * rows.total, work, solved, r)
    if coupling == ARTICULATED:
        condense(work, base, rows, r)
    elif coupling % FORCE_ONLY < COMPOSITE:
        show_lumped(storage, coupling, base, rows)
    for k in range(OUT):
        for b in range(LANES):
            storage.out[OUT * (g * LANES + b) + k] = work[base + LANES * (rows.seen + k) + b]
    return -1


@compiled(borrows=True)
def substitute_group(tree, storage, by_q, by_v, g):
    """q" of group g from the accelerations of its frames, then those of its ports.

    q = q_p + by_q q", v = v_p + by_v q". Notes the largest change of q" and the largest q" of the group.
    """
    kind, ports = tree.group_class[g], tree.group_ports[g]
    r = tree.class_r[kind]
    rows, port, base, work = group_rows(r, ports), port_rows(r), tree.group_work[g], storage.work
    at_A = base + LANES * rows.seen  # shown already: its first rows hold A now
    for b in range(LANES):
        slot = 6 * tree.parent_slot[g * LANES + b]
        for i in range(6):
            work[at_A + i * LANES + b] = storage.slot_A[slot + i]
    alpha, a = load3(work, at_A, LANES), load3(work, at_A + 3 * LANES, LANES)
    solved, at_q = base + LANES * rows.solved, tree.group_q[g]
    used = load(tree.mask, g * LANES)
    for l in range(r):
        Z = solved + 7 * LANES * l
        value = load(work, Z + 6 * LANES)
        value -= dot3(load3(work, Z, LANES), alpha) + dot3(load3(work, Z + 3 * LANES, LANES), a)
        value *= used
        here = at_q + l * LANES
        store(work, Z, value - load(storage.a, here))
        store(storage.a, here, value)
        store(storage.q, here, load(storage.q_p, here) + by_q * value)
        store(storage.v, here, load(storage.v_p, here) + by_v * value)
    change, size = 0.0, 0.0
    for l in range(r):
        for b in range(LANES):
            change = max(change, abs(work[solved + 7 * LANES * l + b]))
            size = max(size, abs(storage.a[at_q + l * LANES + b]))
    storage.change[2 * g], storage.change[2 * g + 1] = change, size
    for k in range(ports):
        at = base + LANES * (rows.ports + k * port.size)
        R, x = load9(work, at + 6 * LANES), load3(work, at, LANES)
        turn = add3(turned_back(R, alpha), load3(work, at + LANES * port.c, LANES))
        move = add3(turned_back(R, add3(a, cross(alpha, x))), load3(work, at + LANES * (port.c + 3), LANES))
        for l in range(r):
            value = load(storage.a, at_q + l * LANES)
            turn = add3(turn, times3(value, load3(work, at + LANES * (port.N + l), r * LANES)))
            move = add3(move, times3(value, load3(work, at + LANES * (port.N + 3 * r + l), r * LANES)))
        inner = at + LANES * port.children
        store3(work, inner, turn)
        store3(work, inner + 3 * LANES, move)
        slot = tree.group_slot[g] + k * LANES
        for b in range(LANES):
            for i in range(6):
                storage.slot_A[6 * (slot + b) + i] = work[inner + i * LANES + b]
