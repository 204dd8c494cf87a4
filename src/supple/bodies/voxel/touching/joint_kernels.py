"""Kernels of joints in the sweep of a lattice: after each small step, the impulses that hold what they ask for [RCB77].

    v' = v + dt M^-1 (F + G^T l),   x' = x + dt v',   phi(x') = 0          G = dphi/dx at the start of the step
    dt² W dl = -phi(x'),   W = G M^-1 G^T                                  repeated until phi is round-off

The sweep moves voxels as if there were no joints. Its step is linear in forces, so that G^T l is added afterwards, to
the few voxels that joints hold, as if it had been there. No force lags behind, and since l acts in pairs at the places
of the start, linear and angular momentum are kept. A lattice that is held has no higher frequency than a free one: the
stable step is that of the lattice. Joints that are open at the start of an `advance` are closed along it.

A side of a joint is points of the world, points on voxels, or points held by a patch of them: see `PatchFrame`, with
c the mean of the patch, R the rotation nearest to A = mean of (x_i - c) r_i^T, S = R^T A, K = tr(S) I - S:

    x_k = c + R t_k,   J^T of forces f_k:   f_i = (F + R (K^-1 R^T M × r_i))/n,   F = sum f_k,  M = sum (x_k - c) × f_k

Or it is points of another body, which move while the lattice is swept as those of `surface_contact` do, with the
mobility Y of their velocities, E = dphi/dy:

    y' = y + dt (w + Y E^T l),   W = G M^-1 G^T + E Y E^T / dt                                             (14.27)
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.polar_kernels import polar_rotation, polar_stretch, solve_sym3
from supple.algebra.dense.rotation_kernels import (
    cross,
    matrix_rotate,
    matrix_rotate_inverse,
    quaternion_exp,
    quaternion_matrix,
    quaternion_multiply,
)
from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.voxel.groups.group_contact_kernels import find_pushes, meet_obstacles
from supple.bodies.voxel.groups.group_joint_kernels import groups_of, place_on_group, push_owner, scale_turns
from supple.bodies.voxel.groups.group_kernels import begin_groups, gather_groups, move_groups, scatter_groups
from supple.bodies.voxel.links.link import add, dot, scale, subtract
from supple.bodies.voxel.sweep.brick_links import three
from supple.bodies.voxel.touching.spring_kernels import SpringRun, begin_springs, close_springs
from supple.bodies.voxel.touching.surface_contact_kernels import add_row, row, set_row

Array = np.ndarray
WORLD, POINTS, PATCH, OTHER = 0, 1, 2, 3
"""Kinds of sides."""
DONE, TOTAL = 0, 1
ITERATIONS = 10
SAME = 1e-10
"""Part of the diagonal of W added to it, so that rows that say the same twice share their force."""


class JointRun(NamedTuple):
    """Joints of u voxels or rigid bodies of them by p points on these, s sides and q points, m rows, in the axes of the
    sweep.

    place (u,): where x of a voxel starts; per (u, 2): 1/m and 1/I; owner (u,): number of the rigid body, of which per
    is 1/M and 1, or -1: a voxel. voxel (p,): a point's voxel among the u, local
    (p, 3): in its axes, offset (p, 3): r_i of a patch. start, held_start (s + 1,): points and held points of a side;
    kind (s,). held (q, 3): t_k of a patch, or places in the world. meetings (k, 2), angles (l, 4), constants (l,): rows
    between the q points, as `PointConditionRows` has them. limit (1,) [m]: what counts as closed.
    So far: open (m,) phi at the start, progress (2,) steps done and to do, impulse (m,) the sum of dt l. Workspace:
    levers, spots (p, 3), middle (s, 3), frames (s, 9), stretch (s, 6), points, gradient (q, 3), rows (m, u, 6),
    W (m, m), phi, l (m,).
    Of other bodies: others (o,) which of the q points are theirs, entry (q,) their numbers among the contacts of the
    sweep, whose way, felt, force, passed (impulse), moment (k, 3), heed (1,) and mobility (3 k, 3 k) by columns these
    are, see `SurfaceRun`; per_step (1,): 1/dt; spot (o, 3) places, apart (k, 3) from first to second point of meetings
    at the start of a step, outer, moved (m, o, 3): E, and Y E^T, workspace.
    spring_*: `SpringRun`, of springs that are taken in the same small steps, before the joints are closed. group_*:
    `GroupRun`, of rigid bodies, which move between the two.
    """

    place: Array
    per: Array
    owner: Array
    voxel: Array
    local: Array
    offset: Array
    start: Array
    held_start: Array
    kind: Array
    held: Array
    meetings: Array
    angles: Array
    constants: Array
    limit: Array
    open: Array
    progress: Array
    impulse: Array
    levers: Array
    spots: Array
    middle: Array
    frames: Array
    stretch: Array
    points: Array
    gradient: Array
    rows: Array
    W: Array
    phi: Array
    l: Array
    others: Array
    entry: Array
    way: Array
    felt: Array
    force: Array
    passed: Array
    moment: Array
    heed: Array
    mobility: Array
    per_step: Array
    spot: Array
    apart: Array
    outer: Array
    moved: Array
    spring_place: Array
    spring_local: Array
    spring_per: Array
    spring_stiffness: Array
    spring_damping: Array
    spring_rest: Array
    spring_lever: Array
    spring_apart: Array
    spring_rate: Array
    group_start: Array
    group_place: Array
    group_local: Array
    group_mass: Array
    group_inertia: Array
    group_whole: Array
    group_moments: Array
    group_axes: Array
    group_centre: Array
    group_turn: Array
    group_speed: Array
    group_spin: Array
    group_lever: Array
    group_before: Array
    group_outer: Array
    group_outer_group: Array
    group_friction: Array
    group_smooth: Array
    group_sticky: Array
    group_tiles: Array
    group_scratch: Array
    group_found: Array
    group_one_kind: Array
    group_one_moving: Array
    group_normal: Array
    group_flow: Array
    group_rest: Array
    group_hold: Array
    group_slide: Array
    group_passed: Array


@compiled(inline=True)
def springs_of(run):
    """The springs that lie beside the joints; a team of threads takes no tuple within another."""
    return SpringRun(
        run.spring_place,
        run.spring_local,
        run.spring_per,
        run.spring_stiffness,
        run.spring_damping,
        run.spring_rest,
        run.spring_lever,
        run.spring_apart,
        run.spring_rate,
    )


@compiled(inline=True)
def nine(array, i):
    """array[i, 0:9]."""
    return (
        array[i, 0], array[i, 1], array[i, 2],
        array[i, 3], array[i, 4], array[i, 5],
        array[i, 6], array[i, 7], array[i, 8],
    )  # fmt: skip


@compiled(borrows=True)
def fit_patch(run, s):
    """The frame of a patch and the points it holds."""
    first, last = run.start[s], run.start[s + 1]
    c = (0.0, 0.0, 0.0)
    for p in range(first, last):
        c = add(c, row(run.spots, p, 0))
    per = 1.0 / (last - first)
    c = scale(per, c)
    set_row(c, s, run.middle)
    a = run.frames[s]
    a[:] = 0.0
    for p in range(first, last):
        x, r = subtract(row(run.spots, p, 0), c), row(run.offset, p, 0)
        for i in range(3):
            for j in range(3):
                a[3 * i + j] += per * x[i] * r[j]
    A = nine(run.frames, s)
    found = polar_rotation(A[0], A[1], A[2], A[3], A[4], A[5], A[6], A[7], A[8])
    R = (found[0], found[1], found[2], found[3], found[4], found[5], found[6], found[7], found[8])
    S = polar_stretch(R, A)
    for i in range(6):
        run.stretch[s, i] = S[i]
    for i in range(9):
        run.frames[s, i] = R[i]
    for k in range(run.held_start[s], run.held_start[s + 1]):
        set_row(add(c, matrix_rotate(R, row(run.held, k, 0))), k, run.points)


@compiled(borrows=True)
def place_sides(state, run):
    """Where the points of all joints are."""
    W = lane_count(state)
    for p in range(len(run.voxel)):
        if run.owner[run.voxel[p]] >= 0:
            place_on_group(run, p)
            continue
        at = run.place[run.voxel[p]]
        qx, qy, qz = three(state, at + 4 * W, W)
        R = quaternion_matrix((np.float64(state[at + 3 * W]), qx, qy, qz))
        r = matrix_rotate(R, row(run.local, p, 0))
        set_row(r, p, run.levers)
        set_row(add(three(state, at, W), r), p, run.spots)
    for s in range(len(run.kind)):
        if run.kind[s] == PATCH:
            fit_patch(run, s)
            continue
        for k in range(run.held_start[s], run.held_start[s + 1]):
            if run.kind[s] == POINTS:
                set_row(row(run.spots, run.start[s] + k - run.held_start[s], 0), k, run.points)
            elif run.kind[s] == OTHER:
                set_row(add(row(run.held, k, 0), row(run.way, run.entry[k], 0)), k, run.points)
            else:
                set_row(row(run.held, k, 0), k, run.points)


@compiled(borrows=True)
def compute_violations(run):
    """phi of all rows."""
    x, phi = run.points, run.phi
    first = 3 * len(run.meetings)
    for k in range(len(run.meetings)):
        d = subtract(row(x, run.meetings[k, 1], 0), row(x, run.meetings[k, 0], 0))
        for c in range(3):
            phi[3 * k + c] = d[c]
    for k in range(len(run.angles)):
        a = subtract(row(x, run.angles[k, 1], 0), row(x, run.angles[k, 0], 0))
        b = subtract(row(x, run.angles[k, 3], 0), row(x, run.angles[k, 2], 0))
        phi[first + k] = dot(a, b) - run.constants[k]


@compiled(borrows=True)
def spread(run, m):
    """Row m on the voxels and on points of other bodies, from its gradient by the joints' points."""
    run.rows[m, :, :] = 0.0
    for o in range(len(run.others)):
        set_row(row(run.gradient, run.others[o], 0), o, run.outer[m])
    for s in range(len(run.kind)):
        first, last = run.start[s], run.start[s + 1]
        F, M, c = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), row(run.middle, s, 0)
        used = False
        for k in range(run.held_start[s], run.held_start[s + 1]):
            g = row(run.gradient, k, 0)
            used = used or dot(g, g) > 0.0
            F, M = add(F, g), add(M, cross(subtract(row(run.points, k, 0), c), g))
        if not used or run.kind[s] == WORLD or run.kind[s] == OTHER:
            continue
        t = (0.0, 0.0, 0.0)
        R = nine(run.frames, s)
        if run.kind[s] == PATCH:
            S, b = run.stretch[s], matrix_rotate_inverse(R, M)
            trace = S[0] + S[3] + S[5]
            t = solve_sym3(trace - S[0], -S[1], -S[2], trace - S[3], -S[4], trace - S[5], b[0], b[1], b[2])
        for p in range(first, last):
            f = row(run.gradient, run.held_start[s] + p - first, 0) if run.kind[s] == POINTS else F
            if run.kind[s] == PATCH:
                f = scale(1.0 / (last - first), add(F, matrix_rotate(R, cross(t, row(run.offset, p, 0)))))
            add_row(f, run.voxel[p], 0, run.rows[m])
            add_row(cross(row(run.levers, p, 0), f), run.voxel[p], 3, run.rows[m])


@compiled(borrows=True)
def compute_rows(run):
    """G of all rows on the voxels."""
    g = run.gradient
    for k in range(len(run.meetings)):
        for c in range(3):
            g[:, :] = 0.0
            g[run.meetings[k, 0], c] = -1.0
            g[run.meetings[k, 1], c] = 1.0
            spread(run, 3 * k + c)
    for k in range(len(run.angles)):
        a, b, c, d = run.angles[k, 0], run.angles[k, 1], run.angles[k, 2], run.angles[k, 3]
        first = subtract(row(run.points, b, 0), row(run.points, a, 0))
        second = subtract(row(run.points, d, 0), row(run.points, c, 0))
        g[:, :] = 0.0
        add_row(scale(-1.0, second), a, 0, g)
        add_row(second, b, 0, g)
        add_row(scale(-1.0, first), c, 0, g)
        add_row(first, d, 0, g)
        spread(run, 3 * len(run.meetings) + k)


@compiled(borrows=True)
def move_others(run):
    """Y E^T of all rows: the velocities that they give to points of other bodies."""
    run.moved[:, :, :] = 0.0
    for m in range(len(run.moved)):
        for o in range(len(run.others)):
            for c in range(3):
                g = run.outer[m, o, c]
                if g != 0.0:
                    column = run.mobility[3 * run.entry[run.others[o]] + c]
                    for i in range(len(run.others)):
                        at = 3 * run.entry[run.others[i]]
                        for b in range(3):
                            run.moved[m, i, b] += g * column[at + b]


@compiled(inline=True)
def yielding(run, i, j):
    """E Y E^T / dt of rows i and j, its symmetric part."""
    total = 0.0
    for o in range(len(run.others)):
        for c in range(3):
            total += run.outer[i, o, c] * run.moved[j, o, c] + run.outer[j, o, c] * run.moved[i, o, c]
    return 0.5 * total * run.per_step[0]


@compiled(borrows=True)
def factor(run):
    """W = L D L^T, in place, with 1/D on its diagonal."""
    W, rows, per = run.W, run.rows, run.per
    count = len(W)
    for i in range(count):
        for j in range(i + 1):
            total = 0.0
            for u in range(len(per)):
                linear = rows[i, u, 0] * rows[j, u, 0] + rows[i, u, 1] * rows[j, u, 1] + rows[i, u, 2] * rows[j, u, 2]
                turn = rows[i, u, 3] * rows[j, u, 3] + rows[i, u, 4] * rows[j, u, 4] + rows[i, u, 5] * rows[j, u, 5]
                total += per[u, 0] * linear + per[u, 1] * turn
            W[i, j] = total + yielding(run, i, j)  # (14.27)
    for i in range(count):
        W[i, i] *= 1.0 + SAME
        for j in range(i):
            for k in range(j):
                W[i, j] -= W[i, k] * W[j, k]
        d = W[i, i]
        for j in range(i):
            w = W[i, j]
            W[i, j] = w * W[j, j]
            d -= w * W[i, j]
        W[i, i] = 1.0 / d if d > 0.0 else 0.0


@compiled(borrows=True)
def solve_factored(W, b):
    """b <- W^-1 b."""
    count = len(b)
    for i in range(count):
        for j in range(i):
            b[i] -= W[i, j] * b[j]
    for i in range(count):
        b[i] *= W[i, i]
    for i in range(count - 1, -1, -1):
        for j in range(i + 1, count):
            b[i] -= W[j, i] * b[j]


@compiled(borrows=True)
def start_joints(state, run, steps):
    """Begin an `advance` of so many steps."""
    begin_groups(state, groups_of(run))
    place_sides(state, run)
    compute_violations(run)
    for m in range(len(run.phi)):
        run.open[m] = run.phi[m]
    run.impulse[:] = 0.0
    run.progress[DONE], run.progress[TOTAL] = 0, steps


@compiled(borrows=True)
def begin_joints(state, run, step, n):
    """G and W at the start of small step n, and where springs and rigid bodies are then."""
    begin_springs(state, springs_of(run))
    if len(run.group_whole) > 0:
        begin_groups(state, groups_of(run))
        find_pushes(state, groups_of(run), step, n)
    if len(run.phi) == 0:
        return
    place_sides(state, run)
    compute_rows(run)
    scale_turns(run)
    for o in range(len(run.others)):
        set_row(row(run.points, run.others[o], 0), o, run.spot)
    for k in range(len(run.meetings)):
        one, two = row(run.points, run.meetings[k, 0], 0), row(run.points, run.meetings[k, 1], 0)
        set_row(subtract(two, one), k, run.apart)
    move_others(run)
    factor(run)


@compiled(borrows=True)
def push_joints(state, run, dt):
    """Let forces l act on the voxels in the step that has been taken."""
    W = lane_count(state)
    for u in range(len(run.place)):
        if run.owner[u] >= 0:
            push_owner(run, u, dt)
            continue
        at = run.place[u]
        for c in range(3):
            force, moment = 0.0, 0.0
            for m in range(len(run.l)):
                force += run.l[m] * run.rows[m, u, c]
                moment += run.l[m] * run.rows[m, u, 3 + c]
            run.gradient[0, c] = dt * run.per[u, 1] * moment
            v = dt * run.per[u, 0] * force
            state[at + (7 + c) * W] += v
            state[at + (10 + c) * W] += run.gradient[0, c]
            state[at + c * W] += dt * v
        qx, qy, qz = three(state, at + 4 * W, W)
        q = (np.float64(state[at + 3 * W]), qx, qy, qz)
        q = quaternion_multiply(quaternion_exp(scale(dt, row(run.gradient, 0, 0))), q)
        for c in range(4):
            state[at + (3 + c) * W] = q[c]


@compiled(borrows=True)
def push_others(run, dt):
    """Let forces l act on points of other bodies; their moments are those that the voxels take, also of points that do
    not yet meet."""
    for k in range(len(run.meetings)):
        entry = max(run.entry[run.meetings[k, 0]], run.entry[run.meetings[k, 1]])
        if entry >= 0:
            f = (run.l[3 * k], run.l[3 * k + 1], run.l[3 * k + 2])
            add_row(scale(dt, cross(row(run.apart, k, 0), f)), entry, 0, run.moment)
    for o in range(len(run.others)):
        f, entry = (0.0, 0.0, 0.0), run.entry[run.others[o]]
        for m in range(len(run.l)):
            f = add(f, scale(run.l[m], row(run.outer[m], o, 0)))
        add_row(f, entry, 0, run.force)
        add_row(scale(dt, f), entry, 0, run.passed)
        add_row(scale(-dt, cross(row(run.spot, o, 0), f)), entry, 0, run.moment)
        for c in range(3):
            column = run.mobility[3 * entry + c]
            for i in range(len(column)):
                run.way[i // 3, i % 3] += dt * column[i] * f[c]  # (14.27)
                run.felt[i // 3, i % 3] += run.heed[0] * column[i] * f[c]


@compiled(borrows=True)
def close_joints(state, run, dt):
    """Add to the step that has been taken the impulses of springs, then those of the joints; rigid bodies move between
    the two."""
    close_springs(state, springs_of(run), dt)
    if len(run.group_whole) > 0:
        groups = groups_of(run)
        gather_groups(state, groups)
        meet_obstacles(groups)
        move_groups(groups, dt)
        hold_joints(state, run, dt)
        scatter_groups(state, groups)
    else:
        hold_joints(state, run, dt)


@compiled(borrows=True)
def hold_joints(state, run, dt):
    """Add to the step that has been taken the impulses of the joints."""
    if len(run.phi) == 0:
        return
    run.progress[DONE] += 1
    left = 1.0 - run.progress[DONE] / run.progress[TOTAL]
    for _ in range(ITERATIONS):
        place_sides(state, run)
        compute_violations(run)
        worst = 0.0
        for m in range(len(run.phi)):
            run.l[m] = -(run.phi[m] - left * run.open[m]) / (dt * dt)
            worst = max(worst, abs(run.phi[m] - left * run.open[m]))
        if worst <= run.limit[0]:
            return
        solve_factored(run.W, run.l)
        for m in range(len(run.l)):
            run.impulse[m] += dt * run.l[m]
        push_joints(state, run, dt)
        push_others(run, dt)
