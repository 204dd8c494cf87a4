"""Kernels of a lattice's contacts with surfaces that move: gaps, forces and impulses, step after step of the sweep.

Symbols as in `surface_contact`. All sums are in double precision and in the order of the contacts, on one thread.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross, matrix_rotate, quaternion_matrix
from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.voxel.links.link import add, dot, scale, subtract
from supple.bodies.voxel.sweep.brick_links import three
from supple.interaction.law_kernels import OPEN, SLIDES, STICKS, friction_force, normal_force

Array = np.ndarray
VOXEL = 18  # x less its start, R by rows, v, w


class SurfaceRun(NamedTuple):
    """k contacts with e entries of u voxels in all, in the axes of the sweep, and what has become of them.

    start (k + 1,), touched (e,): an entry's voxel among the u; local (e, 3), weight (e,), turned (e,): its part of the
    moment of `turn_voxels`. is_inner (k,): both sides are of the lattice. normal, motion (k, 3), gap
    (k,), constants (k, 5): k, k_t, c, c_t, mu; rest (k,): length of a spring, negative for a contact. place, load_place
    (u,): where x and the loads of a voxel start. mobility (3 k, 3 k) by columns, or none, pushed (k, 3): how the other
    sides respond to forces other than these; heed (1,): part of a step's change of their velocity that dashpots take
    note of.
    At the start of the run: origin (u, 3) the places of the voxels, from which places are counted, first (k, 3) the
    vectors d, and apart (k, 3) those between the two points within the lattice. So far: steps (1,), way (k, 3) of the
    other sides, felt (k, 3) their velocity as dashpots see it, last (k, 3) d + way a step ago, slip, impulse (k, 3),
    moment (k, 3) the sum of dt times what the other sides take, about the origin, with the opposite sign, mode (k,),
    depth (k,) the deepest; at the end: gap_end (k,), and last that of the end. force (k, 3), rate (3 k,),
    voxels (u, VOXEL), levers (e, 3), loads (u, 6): workspace to work in.
    """

    start: Array
    touched: Array
    local: Array
    weight: Array
    turned: Array
    is_inner: Array
    normal: Array
    motion: Array
    gap: Array
    constants: Array
    rest: Array
    place: Array
    load_place: Array
    mobility: Array
    pushed: Array
    heed: Array
    origin: Array
    first: Array
    apart: Array
    steps: Array
    way: Array
    felt: Array
    last: Array
    slip: Array
    impulse: Array
    moment: Array
    mode: Array
    depth: Array
    gap_end: Array
    force: Array
    rate: Array
    voxels: Array
    levers: Array
    loads: Array


@compiled(inline=True)
def row(array, i, start):
    """array[i, start:start + 3]."""
    return array[i, start], array[i, start + 1], array[i, start + 2]


@compiled(inline=True)
def set_row(u, i, array_out):
    """array_out[i] = u."""
    array_out[i, 0], array_out[i, 1], array_out[i, 2] = u[0], u[1], u[2]


@compiled(inline=True)
def add_row(u, i, start, array_out):
    """array_out[i, start:start + 3] += u."""
    array_out[i, start] += u[0]
    array_out[i, start + 1] += u[1]
    array_out[i, start + 2] += u[2]


@compiled(borrows=True)
def gather_voxels(state, run):
    """Copy the touched voxels out of the bricks."""
    W = lane_count(state)
    voxels = run.voxels
    for i in range(len(run.place)):
        at = run.place[i]
        qx, qy, qz = three(state, at + 4 * W, W)
        R = quaternion_matrix((np.float64(state[at + 3 * W]), qx, qy, qz))
        x, v, w = three(state, at, W), three(state, at + 7 * W, W), three(state, at + 10 * W, W)
        for c in range(3):
            voxels[i, c] = x[c] - run.origin[i, c]
            voxels[i, 12 + c] = v[c]
            voxels[i, 15 + c] = w[c]
        for c in range(9):
            voxels[i, 3 + c] = R[c]


@compiled(inline=True)
def place_points(run, m):
    """d of contact m; keeps the levers."""
    voxels = run.voxels
    d = (0.0, 0.0, 0.0)
    for e in range(run.start[m], run.start[m + 1]):
        i = run.touched[e]
        R = (
            voxels[i, 3], voxels[i, 4], voxels[i, 5],
            voxels[i, 6], voxels[i, 7], voxels[i, 8],
            voxels[i, 9], voxels[i, 10], voxels[i, 11],
        )  # fmt: skip
        r = matrix_rotate(R, row(run.local, e, 0))
        set_row(r, e, run.levers)
        d = add(d, scale(run.weight[e], add(row(voxels, i, 0), r)))
    return d


@compiled(inline=True)
def is_joined(run, m):
    """Whether m is a point of another body that a joint holds, without a voxel: see `joint_kernels`."""
    return run.start[m] == run.start[m + 1]


@compiled(inline=True)
def gap_at(run, m, d):
    """The gap of contact m with the vector d, the way of the other side included."""
    return run.gap[m] + dot(row(run.normal, m, 0), subtract(d, row(run.first, m, 0)))


@compiled(inline=True)
def stretched(run, m, d):
    """The slip of contact m with the vector d, in the plane of contact; the last step moved it."""
    slip, n = row(run.slip, m, 0), row(run.normal, m, 0)
    if run.steps[0] > 0:
        slip = add(slip, subtract(d, row(run.last, m, 0)))
    return subtract(slip, scale(dot(n, slip), n))


@compiled(borrows=True)
def move_sides(run, dt):
    """Move the other sides by a step, as they respond to the forces of now."""
    run.steps[0] += 1
    count, size = len(run.gap), len(run.mobility)
    if size == 0:
        for m in range(count):
            set_row(scale(dt * run.steps[0], row(run.motion, m, 0)), m, run.way)
        return
    rate = run.rate
    rate[:] = 0.0
    for j in range(size):
        excess = run.force[j // 3, j % 3] - run.pushed[j // 3, j % 3]
        if excess != 0.0:
            column = run.mobility[j]
            for i in range(size):
                rate[i] += column[i] * excess
    for i in range(size):
        m, axis = i // 3, i % 3
        now = run.motion[m, axis] + rate[i]
        run.way[m, axis] += dt * now
        run.felt[m, axis] += run.heed[0] * (now - run.felt[m, axis])


@compiled(inline=True)
def relative_velocity(run, m):
    """u of contact m; the levers are those of `place_points`."""
    u = row(run.felt, m, 0)
    for e in range(run.start[m], run.start[m + 1]):
        i = run.touched[e]
        v = add(row(run.voxels, i, 12), cross(row(run.voxels, i, 15), row(run.levers, e, 0)))
        u = add(u, scale(run.weight[e], v))
    return u


@compiled(inline=True)
def contact_force(n, constants, g, u, slip):
    """Force F, slip and mode of a contact of gap g, relative velocity u and slip."""
    k, k_t, c, c_t, mu = constants
    none = (0.0, 0.0, 0.0)
    along = dot(n, u)
    N = normal_force(k, c, -g, -along)  # (C1)
    if N <= 0.0:
        return none, none, OPEN
    F = scale(N, n)
    if mu == 0.0:
        return F, none, SLIDES
    T, slip, sticks = friction_force(k_t, c_t, mu * N, mu * N, slip, subtract(u, scale(along, n)))  # (C3)
    return add(F, T), slip, STICKS if sticks else SLIDES


@compiled(inline=True)
def spring_force(k, c, rest, e, u):
    """Force on the first side of a spring with the vector e from the second side to it, and its rate u."""
    if rest == 0.0:
        return scale(-1.0, add(scale(k, e), scale(c, u)))
    L = np.sqrt(dot(e, e))
    if L == 0.0:
        return 0.0, 0.0, 0.0
    n = scale(1.0 / L, e)
    return scale(-k * (L - rest) - c * dot(n, u), n)


@compiled(inline=True)
def push_voxels(run, m, F, dt):
    """Let a force F act on the voxels of contact or spring m, and on the other side's impulse."""
    set_row(F, m, run.force)
    add_row(scale(dt, F), m, 0, run.impulse)
    M = (0.0, 0.0, 0.0)
    for e in range(run.start[m], run.start[m + 1]):
        f, i, r = scale(run.weight[e], F), run.touched[e], row(run.levers, e, 0)
        add_row(f, i, 0, run.loads)
        add_row(cross(r, f), i, 3, run.loads)
        M = add(M, cross(add(r, add(row(run.origin, i, 0), row(run.voxels, i, 0))), f))
    add_row(scale(dt, M), m, 0, run.moment)  # (12.15)


@compiled(inline=True)
def turn_voxels(run, m, F, g, d, dt):
    """The moment that lets the force F of contact m, of gap g and vector d, act at one place on both sides."""
    D = scale(g, row(run.normal, m, 0))
    if run.is_inner[m]:
        D = add(row(run.apart, m, 0), subtract(d, row(run.first, m, 0)))
    M = cross(F, D)
    for e in range(run.start[m], run.start[m + 1]):
        add_row(scale(run.turned[e], M), run.touched[e], 3, run.loads)
    add_row(scale(dt, M), m, 0, run.moment)


@compiled(borrows=True)
def start_run(state, slip, run):
    """Begin at the state: nothing has moved, no impulse has passed; slip (k, 3)."""
    run.origin[:] = 0.0
    gather_voxels(state, run)
    for m in range(len(run.gap)):
        if run.is_inner[m]:
            set_row(place_points(run, m), m, run.apart)
    for i in range(len(run.place)):
        set_row(row(run.voxels, i, 0), i, run.origin)
    gather_voxels(state, run)
    for m in range(len(run.gap)):
        set_row(place_points(run, m), m, run.first)
        set_row(row(slip, m, 0), m, run.slip)
        set_row(row(run.motion, m, 0), m, run.felt)
    run.steps[0] = 0
    run.way[:] = 0.0
    run.force[:] = 0.0
    run.impulse[:] = 0.0
    run.moment[:] = 0.0
    run.depth[:] = 0.0
    run.mode[:] = OPEN


@compiled(borrows=True)
def end_run(state, run):
    """Bring gaps and slips to the state that the steps have led to."""
    gather_voxels(state, run)
    for m in range(len(run.gap)):
        if is_joined(run, m):
            continue
        d = add(place_points(run, m), row(run.way, m, 0))
        if run.rest[m] >= 0.0:
            set_row(add(row(run.slip, m, 0), subtract(d, row(run.first, m, 0))), m, run.slip)
            continue
        g, slip = gap_at(run, m, d), stretched(run, m, d)
        set_row(d, m, run.last)
        run.gap_end[m] = g
        set_row(scale(1.0 if g < 0.0 else 0.0, slip), m, run.slip)


@compiled(borrows=True)
def clear_surfaces(run, base, loads_out):
    """Take the contacts of the step before out of the loads; base: the loads without any."""
    W = lane_count(base)
    for i in range(len(run.load_place)):
        at = run.load_place[i]
        for c in range(6):
            loads_out[at + c * W] = base[at + c * W]


@compiled(borrows=True)
def add_surfaces(state, run, dt, loads_out):
    """Add forces and moments of all contacts at the start of a step to the loads, and dt F to their impulses."""
    if len(run.gap) == 0:
        return
    gather_voxels(state, run)
    loads = run.loads
    loads[:] = 0.0
    for m in range(len(run.gap)):
        if is_joined(run, m):
            set_row((0.0, 0.0, 0.0), m, run.force)
            continue
        d = add(place_points(run, m), row(run.way, m, 0))
        if run.rest[m] >= 0.0:
            e, k = add(row(run.slip, m, 0), subtract(d, row(run.first, m, 0))), run.constants[m]
            F = spring_force(k[0], k[2], run.rest[m], e, relative_velocity(run, m))
            push_voxels(run, m, F, dt)
            add_row(scale(dt, cross(F, e)), m, 0, run.moment)  # at the other end; nothing where F is along e
            continue
        g, slip = gap_at(run, m, d), stretched(run, m, d)
        set_row(d, m, run.last)
        set_row((0.0, 0.0, 0.0), m, run.force)
        if g >= 0.0:
            run.mode[m] = OPEN
            set_row((0.0, 0.0, 0.0), m, run.slip)
            continue
        run.depth[m] = max(run.depth[m], -g)
        k = run.constants[m]
        u, n = relative_velocity(run, m), row(run.normal, m, 0)
        F, slip, mode = contact_force(n, (k[0], k[1], k[2], k[3], k[4]), g, u, slip)
        run.mode[m] = mode
        set_row(slip, m, run.slip)
        if mode == OPEN:
            continue
        push_voxels(run, m, F, dt)
        turn_voxels(run, m, F, g, d, dt)
    W = lane_count(state)
    for i in range(len(run.load_place)):
        at = run.load_place[i]
        for c in range(6):
            loads_out[at + c * W] += loads[i, c]
    move_sides(run, dt)
