"""Rigid bodies among the voxels of a lattice: what a small step of the sweep did to their cells, they do as one.

    m, I, x, v, w of a cell, moved as if it were free;   r = R rho: from the centre c of its body, at the step's start
    V = sum m v / M,   L = sum (m r × (v - V) + I w)                        what acted on the cells acts on the body
    L' = R p Pi,   Pi: about the principal axes p of the body, with the moments J = (J_1, J_2, J_3)
    c += dt V,   R p <- R p E_1(h/2) E_2(h/2) E_3(h) E_2(h/2) E_1(h/2),   E_k(h) = exp(h Pi_k/J_k e_k),  Pi <- E_k^T Pi
    x = c + R rho,   q = R,   w = R p (Pi/J),   v = V + w × r

M and J have the inertia of the cells themselves. Linear and angular momentum are those of the cells, to round-off. A
body on which nothing acts turns by the composition of exact turns about its principal axes [DLM97]: L stays, and
the energy swings about its value without drift, its error being of second order in the step. The stable step of the
lattice without the links in a body holds: velocities are projected, orthogonally to the masses, which raises no
frequency. So bodies cost a pass over their cells a step, and no shorter steps.

`begin_groups` is called at the start of a small step, `close_groups` at its end.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import (
    cross,
    quaternion_conjugate,
    quaternion_exp,
    quaternion_multiply,
    quaternion_normalise,
    quaternion_rotate,
    quaternion_rotate_inverse,
)
from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.voxel.links.link import add, scale, subtract
from supple.bodies.voxel.sweep.brick_links import three
from supple.bodies.voxel.touching.surface_contact_kernels import row, set_row

Array = np.ndarray


class GroupRun(NamedTuple):
    """g rigid bodies of k cells, in the axes of the sweep. start (g + 1,): first cell of each; place (k,): where x of a
    cell starts in the state; local (k, 3) [m]: rho; mass, inertia (k,): m, I. whole (g,): M; moments (g, 3): J,
    axes (g, 4): p, as a quaternion.
    Of a small step: centre (g, 3): c, turn (g, 4): R, speed (g, 3): V, spin (g, 3): L; lever (k, 3): r at its start, as
    are before (g, 4): R p.
    Of s cells on the surface: outer (s,): their numbers among the k, outer_group (s,): their bodies; friction (s, 2):
    mu_s, mu_d; smooth, sticky: CONTACT fields of tiles, with no friction and with one without end. Workspace: tiles of
    their states, scratch, found, one_kind (3,), one_moving (2, MOVING). Of a small step: normal (s, 3): N; flow (s, 3):
    velocity of the surface along it; rest (s, 3): u_0; hold, slide (s,): the largest |J| that sticks, and |J| that
    slides; passed (s, 3): N + J."""

    start: Array
    place: Array
    local: Array
    mass: Array
    inertia: Array
    whole: Array
    moments: Array
    axes: Array
    centre: Array
    turn: Array
    speed: Array
    spin: Array
    lever: Array
    before: Array
    outer: Array
    outer_group: Array
    friction: Array
    smooth: Array
    sticky: Array
    tiles: Array
    scratch: Array
    found: Array
    one_kind: Array
    one_moving: Array
    normal: Array
    flow: Array
    rest: Array
    hold: Array
    slide: Array
    passed: Array


@compiled(inline=True)
def four(array, i):
    """array[i, 0:4]."""
    return array[i, 0], array[i, 1], array[i, 2], array[i, 3]


@compiled(inline=True)
def set_four(q, i, array_out):
    """array[i, 0:4] = q."""
    array_out[i, 0], array_out[i, 1], array_out[i, 2], array_out[i, 3] = q[0], q[1], q[2], q[3]


@compiled(inline=True)
def spin_of(run, g, frame, L):
    """Angular velocity of body g under an angular momentum; frame: R p."""
    b = quaternion_rotate_inverse(frame, L)
    J = row(run.moments, g, 0)
    return quaternion_rotate(frame, (b[0] / J[0], b[1] / J[1], b[2] / J[2]))


@compiled(inline=True)
def turn_about(A, P, J, k, h):
    """A E_k(h) and E_k(h)^T Pi."""
    a = h * P[k] / J[k]
    E = quaternion_exp((a if k == 0 else 0.0, a if k == 1 else 0.0, a if k == 2 else 0.0))
    return quaternion_multiply(A, E), quaternion_rotate_inverse(E, P)


@compiled(borrows=True)
def begin_groups(state, run):
    """Where the bodies are."""
    W = lane_count(state)
    for g in range(len(run.whole)):
        at = run.place[run.start[g]]
        qx, qy, qz = three(state, at + 4 * W, W)
        R = quaternion_normalise((np.float64(state[at + 3 * W]), qx, qy, qz))
        set_four(R, g, run.turn)
        set_four(quaternion_multiply(R, four(run.axes, g)), g, run.before)
        for i in range(run.start[g], run.start[g + 1]):
            set_row(quaternion_rotate(R, row(run.local, i, 0)), i, run.lever)
        set_row(subtract(three(state, at, W), row(run.lever, run.start[g], 0)), g, run.centre)


@compiled(borrows=True)
def gather_groups(state, run):
    """V and L of what the step did to the cells."""
    W = lane_count(state)
    for g in range(len(run.whole)):
        P, L = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for i in range(run.start[g], run.start[g + 1]):
            P = add(P, scale(run.mass[i], three(state, run.place[i] + 7 * W, W)))  # (14.31)
        V = scale(1.0 / run.whole[g], P)
        for i in range(run.start[g], run.start[g + 1]):
            v, w = three(state, run.place[i] + 7 * W, W), three(state, run.place[i] + 10 * W, W)
            L = add(L, cross(row(run.lever, i, 0), scale(run.mass[i], subtract(v, V))))  # (14.31)
            L = add(L, scale(run.inertia[i], w))  # (14.31)
        set_row(V, g, run.speed)
        set_row(L, g, run.spin)


@compiled(borrows=True)
def move_groups(run, dt):
    """c and R at the end of the step."""
    for g in range(len(run.whole)):
        set_row(add(row(run.centre, g, 0), scale(dt, row(run.speed, g, 0))), g, run.centre)  # (14.32)
        A, J = four(run.before, g), row(run.moments, g, 0)
        P = quaternion_rotate_inverse(A, row(run.spin, g, 0))
        A, P = turn_about(A, P, J, 0, 0.5 * dt)  # (14.32)
        A, P = turn_about(A, P, J, 1, 0.5 * dt)
        A, P = turn_about(A, P, J, 2, dt)
        A, P = turn_about(A, P, J, 1, 0.5 * dt)
        A, P = turn_about(A, P, J, 0, 0.5 * dt)
        R = quaternion_normalise(quaternion_multiply(A, quaternion_conjugate(four(run.axes, g))))
        set_four(R, g, run.turn)


@compiled(borrows=True)
def scatter_groups(state, run):
    """Cells where their bodies have them."""
    W = lane_count(state)
    for g in range(len(run.whole)):
        c, R, V = row(run.centre, g, 0), four(run.turn, g), row(run.speed, g, 0)
        w = spin_of(run, g, quaternion_multiply(R, four(run.axes, g)), row(run.spin, g, 0))
        for i in range(run.start[g], run.start[g + 1]):
            at, r = run.place[i], quaternion_rotate(R, row(run.local, i, 0))
            x, v = add(c, r), add(V, cross(w, r))  # (14.32)
            for k in range(3):
                state[at + k * W] = x[k]
                state[at + (7 + k) * W] = v[k]
                state[at + (10 + k) * W] = w[k]
            for k in range(4):
                state[at + (3 + k) * W] = R[k]


@compiled(borrows=True)
def push_group(run, g, F, T, dt):
    """Let a force, and a moment about its centre, act on a body in the step that has been taken."""
    V = scale(dt / run.whole[g], F)
    set_row(add(row(run.speed, g, 0), V), g, run.speed)
    set_row(add(row(run.centre, g, 0), scale(dt, V)), g, run.centre)
    L = scale(dt, T)
    set_row(add(row(run.spin, g, 0), L), g, run.spin)
    w = spin_of(run, g, four(run.before, g), L)
    R = quaternion_multiply(quaternion_exp(scale(dt, w)), four(run.turn, g))
    set_four(quaternion_normalise(R), g, run.turn)
