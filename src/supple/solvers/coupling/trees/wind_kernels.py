"""Drag of winds on a tree, as forces on coordinates and wrenches on domains: lanes of a group of its step at once.

    Q_l = sum s U_l . f,   t = sum s c x f,   f = R^T F                                          sums over patches

R: of the frame that `bodies.tree.surface.moving_kernels` finds with its motion; c: centroid of a patch in its
domain's axes; F: its drag (15.1). What pushes a domain turns with it, as far as the step finds that it turns.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross, quaternion_multiply, quaternion_normalise
from supple.algebra.dense.rotation_kernels import matrix_rotate as turned
from supple.algebra.dense.rotation_kernels import matrix_rotate_inverse as turned_back
from supple.algebra.lanes.lane_type import LANES, load, select_ge, store, value_at
from supple.bodies.tree.domains.layout import SIX
from supple.bodies.tree.step.frame_kernels import add3, dot3, load3, load9, store3, times3
from supple.bodies.tree.step.transpose_kernels import scatter_rows
from supple.bodies.tree.surface.moving_kernels import gather_frames, place_children, place_root
from supple.scene.acting.wind_kernels import WAVE, Flow, air_at, find_waves

Array = np.ndarray
WRENCH = 24
"""Rows of scratch: behind the frame of a group, a wrench."""
PATCH = 9
"""Numbers of a patch at rest, and by each coordinate: its centroid and two edges."""
NO_AREA = 1e-300


class Winds(NamedTuple):
    """Of w winds: half (w,): rho C / 2 [kg/m³]; back (w,): part of it on faces that look downwind; U (w, 3) [m/s];
    start (w + 1,): where the waves of each begin, as of `Flow`."""

    half: Array
    back: Array
    U: Array
    start: Array
    k: Array
    a: Array
    phase: Array


class Blown(NamedTuple):
    """Winds on a tree. count, first (g,): patches of each group, and where their rows begin: in shared, flat, of a
    group of one class, or in own, (rows, LANES), of several.

    State: q, v: coordinates in the middle of a call and their rates, as in the workspace; frame (7,), velocity (6,).
    Found: Q, as q; wrench (SIX a place): torque about and force at each domain's origin, in its axes. Scratch: slots
    (SLOT each), beside (SLOT a lane), rows (ROWS).
    """

    winds: Winds
    count: Array
    first: Array
    shared: Array
    own: Array
    q: Array
    v: Array
    frame: Array
    velocity: Array
    Q: Array
    wrench: Array
    slots: Array
    beside: Array
    rows: Array


@compiled(inline=True)
def turn_ahead(frame, velocity, ahead):
    """Move a frame (7,) on by a time [s], at constant velocities (6,)."""
    s = 0.5 * ahead
    for i in range(3):
        frame[i] += ahead * velocity[i]
    turn = (1.0, s * velocity[3], s * velocity[4], s * velocity[5])
    moved = quaternion_normalise(quaternion_multiply((frame[3], frame[4], frame[5], frame[6]), turn))
    for i in range(4):
        frame[3 + i] = moved[i]


@compiled(inline=True)
def drag(blown, waves, x, v, N):
    """Force on patches at x that move with v, area vectors N, in world axes."""
    winds = blown.winds
    area2 = dot3(N, N)
    none = 0.0 * area2
    g = none
    for n in range(len(winds.half)):
        u = air_at(winds.U[n, 0], winds.U[n, 1], winds.U[n, 2], waves, winds.start[n], winds.start[n + 1], x)
        along = dot3((u[0] - v[0], u[1] - v[1], u[2] - v[2]), N)
        s = select_ge(area2, NO_AREA, winds.half[n] * along * along / area2, none)  # (15.1)
        g += select_ge(along, none, winds.back[n] * s, -s)  # (15.1)
    return times3(g, N)


@compiled(borrows=True)
def blow_group(tree, blown, waves, coefficients, g, first):
    """Q and wrenches of group g, whose frames lie in the first rows and whose patches begin at `first`."""
    rows, q, v, Q = blown.rows, blown.q, blown.v, blown.Q
    r, at_q, s, mask = (
        tree.class_r[tree.group_class[g]], tree.group_q[g], load(tree.scale, g * LANES), load(tree.mask, g * LANES)
    )  # fmt: skip
    R, o = load9(rows, 0), load3(rows, 9 * LANES, LANES)
    u, w = load3(rows, 12 * LANES, LANES), load3(rows, 15 * LANES, LANES)
    none = 0.0 * s
    torque, force = (none, none, none), (none, none, none)
    for p in range(blown.count[g]):
        at = first + p * PATCH * (1 + r)
        c0, c1, c2 = (
            none + value_at(coefficients, at), none + value_at(coefficients, at + 1),
            none + value_at(coefficients, at + 2),
        )  # fmt: skip
        a0, a1, a2 = (
            none + value_at(coefficients, at + 3), none + value_at(coefficients, at + 4),
            none + value_at(coefficients, at + 5),
        )  # fmt: skip
        b0, b1, b2 = (
            none + value_at(coefficients, at + 6), none + value_at(coefficients, at + 7),
            none + value_at(coefficients, at + 8),
        )  # fmt: skip
        d0, d1, d2 = none, none, none
        for l in range(r):
            q_l, v_l, by = load(q, at_q + l * LANES), load(v, at_q + l * LANES), at + PATCH * (1 + l)
            x, y, z = value_at(coefficients, by), value_at(coefficients, by + 1), value_at(coefficients, by + 2)
            c0, c1, c2 = c0 + q_l * x, c1 + q_l * y, c2 + q_l * z  # (12.3)
            d0, d1, d2 = d0 + v_l * x, d1 + v_l * y, d2 + v_l * z  # (12.3)
            a0 += q_l * value_at(coefficients, by + 3)
            a1 += q_l * value_at(coefficients, by + 4)
            a2 += q_l * value_at(coefficients, by + 5)
            b0 += q_l * value_at(coefficients, by + 6)
            b1 += q_l * value_at(coefficients, by + 7)
            b2 += q_l * value_at(coefficients, by + 8)
        c = times3(s, (c0, c1, c2))
        N = times3(0.5 * s * s, cross((a0, a1, a2), (b0, b1, b2)))
        moving = add3(u, turned(R, add3(cross(w, c), times3(s, (d0, d1, d2)))))  # (12.3)
        F = drag(blown, waves, add3(o, turned(R, c)), moving, turned(R, N))
        f = times3(mask, turned_back(R, F))  # (12.4)
        torque, force = add3(torque, cross(c, f)), add3(force, f)  # (12.4)
        f = times3(s, f)
        for l in range(r):
            by = at + PATCH * (1 + l)
            own = (
                f[0] * value_at(coefficients, by) + f[1] * value_at(coefficients, by + 1)
                + f[2] * value_at(coefficients, by + 2)
            )  # fmt: skip
            store(Q, at_q + l * LANES, load(Q, at_q + l * LANES) + own)
    store3(rows, LANES * WRENCH, torque)
    store3(rows, LANES * (WRENCH + 3), force)
    scatter_rows(rows, LANES * WRENCH, blown.wrench, SIX * g * LANES, SIX, SIX)


@compiled(borrows=True)
def blow_groups(tree, blown, waves):
    """Q and wrenches of all groups, from the root outwards."""
    shared, own = tree.shared, tree.own
    place_root(blown)
    for n in range(len(tree.order)):
        g = tree.order[n]
        gather_frames(tree, blown, g)
        if tree.group_class[g] < len(tree.lone_starts):
            blow_group(tree, blown, waves, blown.shared, g, blown.first[g])
            for k in range(tree.group_interfaces[g]):
                place_children(tree, shared, blown, g, k)
        else:
            blow_group(tree, blown, waves, blown.own, g, blown.first[g])
            for k in range(tree.group_interfaces[g]):
                place_children(tree, own, blown, g, k)


@compiled
def blow(tree, blown, t):
    """Q and wrenches of all winds at time t [s], at the state in `blown`."""
    winds = blown.winds
    blown.Q[:] = 0.0
    waves = np.empty(WAVE * len(winds.phase))
    for n in range(len(winds.half)):
        a, b = winds.start[n], winds.start[n + 1]
        find_waves(Flow(winds.U[n], winds.k[a:b], winds.a[a:b], winds.phase[a:b]), t, waves[WAVE * a : WAVE * b])
    blow_groups(tree, blown, waves)


@compiled
def look_ahead(blown, q, v, ahead):
    """The state after a time [s] at constant velocities: coordinates and rates as in the workspace; its frame is that
    of now."""
    for k in range(0, len(q), LANES):
        rate = load(v, k)
        store(blown.q, k, load(q, k) + ahead * rate)
        store(blown.v, k, rate)
    turn_ahead(blown.frame, blown.velocity, ahead)
