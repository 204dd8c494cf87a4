"""Responses of an eliminated tree to a load on one domain, and G A^-1 G^T of conditions between domains.

    up        z = M*^-1 r,   p_i = -w + X^T R p_j + H* M*^-1 r,   r = Q - N^T R p_j   from the loaded domain to the root
    down      q" = z - M*^-1 H*^T A,   A_j = R^T (X A + N q")                    from the root to where it is asked

with the factors of the elimination; z is zero off the way of the load. So one response costs a walk from the domain to
the root and one to each domain that is asked, whatever the size of the tree. All this is valid between an elimination
and the substitution that follows it.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.ldlt import ldlt_factor, ldlt_solve
from supple.algebra.dense.polar_kernels import polar_rate_by
from supple.algebra.dense.rotation_kernels import cross
from supple.algebra.dense.rotation_kernels import matrix_rotate as turned
from supple.algebra.dense.rotation_kernels import matrix_rotate_inverse as turned_back
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.layout import INTERFACE_ROWS, group_rows, sum_rows
from supple.bodies.tree.step.frame_kernels import add3, dot3, times3
from supple.bodies.tree.step.spatial_kernels import entry
from supple.bodies.tree.surface.point_kernels import nine, nine_modes, plus_nine, three, three_hat

Array = np.ndarray


class Conditions(NamedTuple):
    """Rows of conditions as they act on one tree, entry by entry; those of a place lie together.

    row (e,): of the condition; place (e,): of the domain; wrench (e, 6): coefficients of its (alpha, a); modes (flat,
    from first[k]): of its q". slot_place, slot_interface: which place and interface a slot belongs to. z (as q), p
    (6): scratch.
    """

    row: Array
    place: Array
    wrench: Array
    modes: Array
    first: Array
    slot_place: Array
    slot_interface: Array
    z: Array
    p: Array


@compiled(borrows=True)
def solve_lane(a, base, b, r, x, at):
    """x (r numbers, LANES apart, from `at`) <- A^-1 x, A factored in rows from base, lane b."""
    for i in range(r):
        value = x[at + i * LANES]
        for k in range(i):
            value -= a[base + LANES * (i * r + k) + b] * x[at + k * LANES]
        x[at + i * LANES] = value
    for i in range(r - 1, -1, -1):
        value = x[at + i * LANES] * a[base + LANES * (i * r + i) + b]
        for k in range(i + 1, r):
            value -= a[base + LANES * (k * r + i) + b] * x[at + k * LANES]
        x[at + i * LANES] = value


@compiled
def climb(tree, workspace, asked, factor, k, scratch):
    """Add the response to entry k times `factor` to asked.z and asked.p. scratch: as q, zero, and left so."""
    work, place = workspace.work, asked.place[k]
    p = np.empty(6)
    for i in range(6):
        p[i] = -factor * asked.wrench[k, i]
    g = place // LANES
    at = tree.group_q[g] + place - g * LANES
    for l in range(tree.class_r[tree.group_class[g]]):
        scratch[at + l * LANES] = factor * asked.modes[asked.first[k] + l]
    while True:
        g = place // LANES
        b, r, interfaces = place - g * LANES, tree.class_r[tree.group_class[g]], tree.group_interfaces[g]
        rows, base, at = group_rows(r, interfaces), tree.group_work[g], tree.group_q[g] + place - g * LANES
        for l in range(r):
            for i in range(6):
                p[i] += work[base + LANES * (rows.solved + 7 * l + i) + b] * scratch[at + l * LANES]  # (T11)
        if interfaces > 0:
            solve_lane(work, base + LANES * (rows.sums + sum_rows(r).total), b, r, scratch, at)
        elif workspace.held_start[g] < workspace.held_start[g + 1]:
            solve_lane(workspace.held_mass, workspace.held_mass_start[g], b, r, scratch, at)
        else:
            solve_lane(work, base + LANES * rows.mass, b, r, scratch, at)
        for l in range(r):
            asked.z[at + l * LANES] += scratch[at + l * LANES]
            scratch[at + l * LANES] = 0.0
        slot = tree.parent_slot[place]
        if slot == 0:
            break
        place, interface = asked.slot_place[slot], asked.slot_interface[slot]
        g = place // LANES
        b, r = place - g * LANES, tree.class_r[tree.group_class[g]]
        rows, inner = group_rows(r, tree.group_interfaces[g]), INTERFACE_ROWS
        start = tree.group_work[g] + LANES * (rows.interfaces + interface * inner.size) + b
        R, x = nine(work, start + 6 * LANES, LANES), three(work, start, LANES)
        T, F = turned(R, (p[0], p[1], p[2])), turned(R, (p[3], p[4], p[5]))
        u = turned_back(nine(work, start + LANES * inner.solver, LANES), T)  # Gamma^T T = <R skew(u), A_modes>
        w0, w1, w2 = cross((R[0], R[1], R[2]), u), cross((R[3], R[4], R[5]), u), cross((R[6], R[7], R[8]), u)
        for l in range(r):
            n, m = nine_modes(tree, g, b, interface, l), three_hat(tree, g, b, interface, l)
            value = dot3(w0, (n[0], n[1], n[2])) + dot3(w1, (n[3], n[4], n[5])) + dot3(w2, (n[6], n[7], n[8]))
            scratch[tree.group_q[g] + l * LANES + b] = -value - dot3(m, F)  # (T8)
        T = add3(T, cross(x, F))
        for i in range(3):
            p[i], p[3 + i] = T[i], F[i]
    for i in range(6):
        asked.p[i] += p[i]


@compiled
def root_response(workspace, is_free, p, A_out):
    """A_out (6): acceleration of the root under the bias p (6)."""
    for i in range(6):
        A_out[i] = 0.0
    if is_free:
        inertia = np.empty((6, 6))
        for i in range(6):
            A_out[i] = -p[i]
            for j in range(6):
                inertia[i, j] = workspace.out[entry(i, j)]
        ldlt_factor(inertia)
        ldlt_solve(inertia, A_out)


@compiled(borrows=True)
def domain_response(tree, workspace, z, place, A, a_out):
    """a_out (r,): q" of a domain whose frame has the acceleration A (6)."""
    g = place // LANES
    b, r = place - g * LANES, tree.class_r[tree.group_class[g]]
    rows, at = group_rows(r, tree.group_interfaces[g]), tree.group_q[g] + place - g * LANES
    solved = tree.group_work[g] + LANES * rows.solved + b
    for l in range(r):
        value = z[at + l * LANES]
        for i in range(6):
            value -= workspace.work[solved + LANES * (7 * l + i)] * A[i]
        a_out[l] = value


@compiled(borrows=True)
def interface_response(tree, workspace, place, interface, A, a, A_out):
    """A_out (6): acceleration of an interface of a domain that has A and q" = a; may be A itself."""
    g = place // LANES
    b, r = place - g * LANES, tree.class_r[tree.group_class[g]]
    rows, inner, work = group_rows(r, tree.group_interfaces[g]), INTERFACE_ROWS, workspace.work
    start = tree.group_work[g] + LANES * (rows.interfaces + interface * inner.size) + b
    R, x = nine(work, start + 6 * LANES, LANES), three(work, start, LANES)
    turn = (A[0], A[1], A[2])
    move = add3((A[3], A[4], A[5]), cross(turn, x))
    modes = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    for l in range(r):
        modes = plus_nine(modes, a[l], nine_modes(tree, g, b, interface, l))
        move = add3(move, times3(a[l], three_hat(tree, g, b, interface, l)))
    turn = add3(turn, polar_rate_by(nine(work, start + LANES * inner.solver, LANES), R, modes))
    turn, move = turned_back(R, turn), turned_back(R, move)
    for i in range(3):
        A_out[i], A_out[3 + i] = turn[i], move[i]


@compiled
def descend(tree, workspace, asked, place, path, A, a_out):
    """A (6): on entry of the root, on exit of the domain at `place`; a_out: its q". path: scratch for the levels."""
    count, here = 0, place
    while True:
        path[count] = here
        count += 1
        if tree.parent_slot[here] == 0:
            break
        here = asked.slot_place[tree.parent_slot[here]]
    for k in range(count - 1, -1, -1):
        domain_response(tree, workspace, asked.z, path[k], A, a_out)
        if k > 0:
            interface_response(
                tree, workspace, path[k], asked.slot_interface[tree.parent_slot[path[k - 1]]], A, a_out, A
            )


@compiled
def add_row_values(tree, workspace, is_free, asked, values_out):
    """values_out (rows,) += G (A, q"), of the response in asked.z, asked.p."""
    largest = 1
    for kind in range(len(tree.class_r)):
        largest = max(largest, tree.class_r[kind])
    A0, A, a = np.empty(6), np.empty(6), np.empty(largest)
    path = np.empty(len(tree.level_start), np.int64)
    root_response(workspace, is_free, asked.p, A0)
    for e in range(len(asked.row)):
        place = asked.place[e]
        if e == 0 or place != asked.place[e - 1]:
            A[:] = A0
            descend(tree, workspace, asked, place, path, A, a)
        value = 0.0
        for i in range(6):
            value += asked.wrench[e, i] * A[i]
        for l in range(tree.class_r[tree.group_class[place // LANES]]):
            value += asked.modes[asked.first[e] + l] * a[l]
        values_out[asked.row[e]] += value


@compiled
def add_delassus(tree, workspace, is_free, asked, W_out):
    """W_out (rows, rows) += G A^-1 G^T of one tree."""
    scratch = np.zeros(len(asked.z))
    done = np.zeros(len(W_out), np.bool_)
    for first in range(len(asked.row)):
        row = asked.row[first]
        if done[row]:
            continue
        done[row] = True
        asked.z[:], asked.p[:] = 0.0, 0.0
        for e in range(first, len(asked.row)):
            if asked.row[e] == row:
                climb(tree, workspace, asked, 1.0, e, scratch)
        add_row_values(tree, workspace, is_free, asked, W_out[row])
    asked.z[:], asked.p[:] = 0.0, 0.0
