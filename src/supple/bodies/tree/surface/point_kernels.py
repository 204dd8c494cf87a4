"""Points of domains held by springs, inside the elimination, and the motion of all frames in the world.

    f(x, x') = f0 - K (x - x0) - B (x' - v0)                                     a point x = o + R y, y = s (X + U q)
    x" = R J (A, q") + terms of velocities,   J = [-y~  I  sU]                   A = (alpha, a) of the domain's frame

In the middle of a step, k = theta h after its start, x_1 is x at the coordinates q_1 = q_p + k² q"_1 of the domain and
of all above it. A pass knows a state of that form with accelerations (A, q")_k, and moves on from it. To first order in
what the pass changes,

    x_1 = x_k + k² R J ((A, q")_1 - (A, q")_k),      x'_1 = x'_k + k R J ((A, q")_1 - (A, q")_k)
    f_1 = f(x_k, x'_k) + Kh R J (A, q")_k - Kh R J (A, q")_1,      Kh = k² K + k B                           (12.11)

(A, q")_k is what the frames of the pass give for the pass's q": the velocity terms c are in both and drop out. So

    [Phi H; H^T M] += J^T R^T Kh R J,      right-hand side += J^T (R^T f_k + R^T Kh R J (A, q")_k)

and the tree stays a tree: no fill, linear in the number of domains. When passes no longer change anything, f_1 is the
true force there. That lever arms turn under the force is left out of the matrix, not of the force.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.polar_kernels import polar_rate_by
from supple.algebra.dense.rotation_kernels import cross, quaternion_matrix
from supple.algebra.dense.rotation_kernels import matrix_rotate as turned
from supple.algebra.dense.rotation_kernels import matrix_rotate_inverse as turned_back
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.layout import INTERFACE_ROWS, group_rows
from supple.bodies.tree.step.frame_kernels import add3
from supple.bodies.tree.step.spatial_kernels import pair
from supple.bodies.tree.surface.point_arrays import CHAIN


@compiled(inline=True)
def three(a, at, step):
    """Three numbers, `step` apart."""
    return a[at], a[at + step], a[at + 2 * step]


@compiled(inline=True)
def nine(a, at, step):
    """Nine numbers, `step` apart."""
    return (
        a[at], a[at + step], a[at + 2 * step],
        a[at + 3 * step], a[at + 4 * step], a[at + 5 * step],
        a[at + 6 * step], a[at + 7 * step], a[at + 8 * step],
    )  # fmt: skip


@compiled(inline=True)
def put_three(a, at, values):
    """Three numbers beside each other."""
    a[at], a[at + 1], a[at + 2] = values[0], values[1], values[2]


@compiled(inline=True)
def three_hat(tree, g, b, k, l):
    """s ah of interface k and coordinate l of lane b of group g."""
    kind = tree.group_class[g]
    r, number, s = tree.class_r[kind], tree.class_interface[kind] + k, tree.scale[g * LANES + b]
    if kind < len(tree.lone_starts):
        at, a = 3 * tree.shared.interface_start[number] + l, tree.shared.fits.a_hat
        return s * a[at], s * a[at + r], s * a[at + 2 * r]
    at, own = 3 * tree.own.interface_start[number] + l, tree.own.fits.a_hat
    return s * own[at, b], s * own[at + r, b], s * own[at + 2 * r, b]


@compiled(inline=True)
def nine_modes(tree, g, b, k, l):
    """What coordinate l of lane b of group g does to the matrix that interface k is fitted by, which gives its
    turning."""
    kind = tree.group_class[g]
    number = tree.class_interface[kind] + k
    if kind < len(tree.lone_starts):
        return nine(tree.shared.fits.A_modes, 9 * (tree.shared.interface_start[number] + l), 1)
    at, own = 9 * (tree.own.interface_start[number] + l), tree.own.fits.A_modes
    return (
        own[at, b], own[at + 1, b], own[at + 2, b], own[at + 3, b], own[at + 4, b], own[at + 5, b], own[at + 6, b],
        own[at + 7, b], own[at + 8, b],
    )  # fmt: skip


@compiled(inline=True)
def plus_nine(A, f, B):
    """A + f B, nine values each."""
    return (
        A[0] + f * B[0], A[1] + f * B[1], A[2] + f * B[2], A[3] + f * B[3], A[4] + f * B[4], A[5] + f * B[5],
        A[6] + f * B[6], A[7] + f * B[7], A[8] + f * B[8],
    )  # fmt: skip


@compiled(borrows=True)
def chain_root(workspace, root, gravity):
    """The motion of the root's frame into slot 0; gravity is an acceleration upwards."""
    out = workspace.held_slot
    R = quaternion_matrix((root.rotation[0], root.rotation[1], root.rotation[2], root.rotation[3]))
    a = (root.acceleration[0] - gravity[0], root.acceleration[1] - gravity[1], root.acceleration[2] - gravity[2])
    put_three(out, 0, (root.x[0], root.x[1], root.x[2]))
    for i in range(9):
        out[3 + i] = R[i]
    put_three(out, 12, turned_back(R, (root.velocity[0], root.velocity[1], root.velocity[2])))
    put_three(out, 15, (root.alpha[0], root.alpha[1], root.alpha[2]))
    put_three(out, 18, turned_back(R, a))


@compiled(borrows=True)
def chain_group(tree, workspace, g):
    """The motion of the interfaces of group g, from that of its own frames, its coordinates and its fits."""
    kind = tree.group_class[g]
    r = tree.class_r[kind]
    rows, interface = group_rows(r, tree.group_interfaces[g]), INTERFACE_ROWS
    work, out, base = workspace.work, workspace.held_slot, tree.group_work[g]
    for b in range(tree.group_count[g]):
        above = CHAIN * tree.parent_slot[g * LANES + b]
        o, Q, u = three(out, above, 1), nine(out, above + 3, 1), three(out, above + 12, 1)
        alpha, a = three(out, above + 15, 1), three(out, above + 18, 1)
        w = three(work, base + LANES * rows.spin + b, LANES)
        for k in range(tree.group_interfaces[g]):
            at = base + LANES * (rows.interfaces + k * interface.size) + b
            x, v, R = three(work, at, LANES), three(work, at + 3 * LANES, LANES), nine(work, at + 6 * LANES, LANES)
            turn = add3(alpha, three(work, at + LANES * interface.c, LANES))  # (T12)
            move = add3(add3(a, cross(alpha, x)), three(work, at + LANES * (interface.c + 3), LANES))  # (T12)
            A = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            for l in range(r):
                value, m = workspace.a[tree.group_q[g] + l * LANES + b], three_hat(tree, g, b, k, l)
                A = plus_nine(A, value, nine_modes(tree, g, b, k, l))
                move = (move[0] + value * m[0], move[1] + value * m[1], move[2] + value * m[2])
            turn = add3(turn, polar_rate_by(nine(work, at + LANES * interface.solver, LANES), R, A))  # (T12), (13.14)
            here = CHAIN * (tree.group_slot[g] + k * LANES + b)
            put_three(out, here, add3(o, turned(Q, x)))  # (12.1)
            for j in range(3):
                column = turned(Q, (R[j], R[3 + j], R[6 + j]))
                out[here + 3 + j], out[here + 6 + j], out[here + 9 + j] = column[0], column[1], column[2]
            put_three(out, here + 12, turned_back(R, add3(u, add3(cross(w, x), v))))  # (12.2)
            put_three(out, here + 15, turned_back(R, turn))
            put_three(out, here + 18, turned_back(R, move))


@compiled(borrows=True)
def chain(tree, workspace, root, gravity):
    """The motion of all frames in the world, at the state and frames of now, with the accelerations of the state."""
    chain_root(workspace, root, gravity)
    for g in range(len(tree.group_class)):
        if tree.group_interfaces[g] > 0:
            chain_group(tree, workspace, g)


@compiled(borrows=True)
def add_point(tree, workspace, g, spin, r, p):
    """J and R^T Kh R J of point p of group g; returns R^T f + R^T Kh R J (A, q")."""
    work, place = workspace.work, workspace.held_place[p]
    b, s, slot = place - g * LANES, tree.scale[place], CHAIN * tree.parent_slot[place]
    y, dy, ddy = (
        (workspace.held_X[p, 0], workspace.held_X[p, 1], workspace.held_X[p, 2]),
        (0.0, 0.0, 0.0),
        (0.0, 0.0, 0.0),
    )
    width, first = 6 + r, workspace.held_first_J[p]
    for l in range(r):
        at = tree.group_q[g] + l * LANES + b
        q, v, a, n = (
            workspace.q[at],
            workspace.v[at],
            workspace.a[at],
            three(workspace.held_U, workspace.held_first[p] + l, r),
        )
        y = (y[0] + n[0] * q, y[1] + n[1] * q, y[2] + n[2] * q)  # (12.3)
        dy = (dy[0] + n[0] * v, dy[1] + n[1] * v, dy[2] + n[2] * v)
        ddy = (ddy[0] + n[0] * a, ddy[1] + n[1] * a, ddy[2] + n[2] * a)
        workspace.held_J[first + 6 + l] = s * n[0]  # (12.10)
        workspace.held_J[first + width + 6 + l] = s * n[1]
        workspace.held_J[first + 2 * width + 6 + l] = s * n[2]
    y, dy, ddy = (s * y[0], s * y[1], s * y[2]), (s * dy[0], s * dy[1], s * dy[2]), (s * ddy[0], s * ddy[1], s * ddy[2])
    for i in range(3):
        for j in range(3):
            workspace.held_J[first + i * width + j] = 0.0
            workspace.held_J[first + i * width + 3 + j] = 1.0 if i == j else 0.0
    workspace.held_J[first + 1], workspace.held_J[first + 2] = y[2], -y[1]  # (12.10)
    workspace.held_J[first + width], workspace.held_J[first + width + 2] = -y[2], y[0]
    workspace.held_J[first + 2 * width], workspace.held_J[first + 2 * width + 1] = y[1], -y[0]
    w = three(work, spin + b, LANES)
    o, R, u = (
        three(workspace.held_slot, slot, 1),
        nine(workspace.held_slot, slot + 3, 1),
        three(workspace.held_slot, slot + 12, 1),
    )
    alpha, a = three(workspace.held_slot, slot + 15, 1), three(workspace.held_slot, slot + 18, 1)
    x, rate = add3(o, turned(R, y)), turned(R, add3(u, add3(cross(w, y), dy)))  # (12.3)
    law = workspace.held_law[p]
    for i in range(3):
        workspace.held_force[6 * p + 3 + i] = x[i]
    x = (x[0] - law[3], x[1] - law[4], x[2] - law[5])
    rate = (rate[0] - law[6], rate[1] - law[7], rate[2] - law[8])
    Kx, Bv = turned(nine(law, 9, 1), x), turned(nine(law, 18, 1), rate)  # (12.10)
    f = turned_back(R, (law[0] - Kx[0] - Bv[0], law[1] - Kx[1] - Bv[1], law[2] - Kx[2] - Bv[2]))  # (12.10)
    K, B, by_q, by_v = nine(law, 9, 1), nine(law, 18, 1), workspace.held_factors[0], workspace.held_factors[1]
    for c in range(width):
        n = turned(R, three(workspace.held_J, first + c, width))
        k, d = turned(K, n), turned(B, n)
        n = turned_back(R, (by_q * k[0] + by_v * d[0], by_q * k[1] + by_v * d[1], by_q * k[2] + by_v * d[2]))  # (12.11)
        workspace.held_KJ[first + c], workspace.held_KJ[first + width + c], workspace.held_KJ[first + 2 * width + c] = (
            n[0],
            n[1],
            n[2],
        )
    n = turned(R, add3(a, add3(cross(alpha, y), ddy)))
    k, d = turned(K, n), turned(B, n)
    n = turned_back(R, (by_q * k[0] + by_v * d[0], by_q * k[1] + by_v * d[1], by_q * k[2] + by_v * d[2]))
    f = add3(f, n)  # (12.11)
    for i in range(3):
        workspace.held_force[6 * p + i] = f[i]
    return f


@compiled(borrows=True)
def add_points(tree, workspace, g, spin, r, seen, bias, H, Z, matrix, at_matrix):
    """Add the springs of the points of group g to what it shows, to H, to its matrix and to its right-hand side.

    spin, seen, H, Z: where its angular velocity, what it shows, H* and (H*^T | r) begin; bias: row of p in what it
    shows. matrix: rows (r, r) from at_matrix, lower triangle.
    """
    work = workspace.work
    for p in range(workspace.held_start[g], workspace.held_start[g + 1]):
        f = add_point(tree, workspace, g, spin, r, p)
        b, width, first = workspace.held_place[p] - g * LANES, 6 + r, workspace.held_first_J[p]
        for c in range(width):
            n = three(workspace.held_J, first + c, width)
            pushed = n[0] * f[0] + n[1] * f[1] + n[2] * f[2]  # (12.11)
            if c < 6:
                work[seen + LANES * (bias + c) + b] -= pushed
            else:
                work[Z + LANES * (7 * (c - 6) + 6) + b] += pushed
            for d in range(c if c < 6 else 6, width):
                k = three(workspace.held_KJ, first + d, width)
                value = n[0] * k[0] + n[1] * k[1] + n[2] * k[2]  # (12.11)
                if d < 6:
                    work[seen + LANES * pair(c, d) + b] += value
                elif c < 6:
                    work[H + LANES * (c * r + d - 6) + b] += value
                else:
                    matrix[at_matrix + LANES * ((d - 6) * r + c - 6) + b] += value
