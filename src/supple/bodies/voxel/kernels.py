"""The fused explicit sweep: symplectic Euler of a lattice, many steps in one call, bricks of voxels in SIMD lanes.

    v += dt (F/m + g - drag v),   w += dt (T/I - spin_drag w),   x += dt v,   q <- exp(dt w) q      [HL12, eqs. 27-30]

State is kept in tiles: a brick's 14 fields of LANES values lie together. A brick takes the loads of its links, see
`brick_sums`, and updates itself in place while what lies ahead is still old: one pass over memory a step, sums in a
fixed order. Stages of damping, where there are any, precede it: see `damping_kernels`.

Threads take slabs of whole layers along z. Where slabs meet, each sees a copy of the other's layer, made at the end
of the step before; the slabs of a body do not depend on the number of threads, so neither do the bits.

exp: q <- (D, N dt w / 2) q, normalised, with N/D = tan(a)/a, a = dt |w| / 2, by its continued fraction, exact to
round-off below half a radian a step.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import numba

from supple.algebra.compiling.compiled import compiled
from supple.algebra.compiling.prefetching import prefetch
from supple.algebra.dense.rotation_kernels import quaternion_multiply, quaternion_normalise
from supple.algebra.lanes.lane_type import lane_count, load, select_ge, store
from supple.bodies.voxel.links.link import add, dot, scale
from supple.bodies.voxel.sweep.brick_data import CONSTANTS, LOADS, STATE
from supple.bodies.voxel.sweep.brick_links import VELOCITY, load_moving, load_three, store_three
from supple.bodies.voxel.sweep.brick_sums import copy_tiles, enter_slab, sum_links
from supple.bodies.voxel.sweep.damping_kernels import damp_links, damp_links_parallel, guided, source_after
from supple.bodies.voxel.sweep.shift_kernels import shift_links, shift_links_parallel
from supple.bodies.voxel.touching.moving_kernels import meet_moving
from supple.bodies.voxel.touching.surroundings import fluid_force, meet_boxes, meet_ground, meet_planes, meet_spheres

AHEAD = 8  # bricks whose data are asked for early


@compiled(inline=True)
def turn(q, w, dt):
    """exp(dt w) q, w in world axes."""
    r = scale(0.5 * dt, w)
    a2 = dot(r, r)
    N = 10395.0 - a2 * (1260.0 - 21.0 * a2)  # (14.19)
    D = 10395.0 - a2 * (4725.0 - a2 * (210.0 - a2))  # (14.19)
    return quaternion_normalise(quaternion_multiply((D, N * r[0], N * r[1], N * r[2]), q))  # (14.18)


@compiled(inline=True)
def update_brick(bricks, slabs, slab, b, W, step, n, s, F, M):
    """Move a brick by step n under the loads F, M of its links; s: with velocities after the stages of damping."""
    x, q, v, w, size = s
    to = b * STATE * W
    v0, w0 = load_three(bricks.state, to + VELOCITY * W, W), load_three(bricks.state, to + (VELOCITY + 3) * W, W)
    s = (x, q, v0, w0, size)
    at = (b * CONSTANTS + 12) * W
    per_mass, per_inertia = load(bricks.constants, at), load(bricks.constants, at + W)
    drag, spin_drag = load(bricks.constants, at + 2 * W), load(bricks.constants, at + 3 * W)
    if bricks.loads.size > 0:
        F = add(F, load_three(bricks.loads, b * LOADS * W, W))
        M = add(M, load_three(bricks.loads, (b * LOADS + 3) * W, W))
    if bricks.skin.size > 0:
        F = add(F, fluid_force(bricks, b, W, step, s))
    dt = step.dt
    free = select_ge(0.0, per_mass, 0.0 * per_mass, 0.0 * per_mass + dt)  # zero for voxels that are held
    v = (
        v[0] + (dt * (per_mass * F[0] - drag * v0[0]) + free * step.gx),  # (14.17), [HL12, eq. 27]
        v[1] + (dt * (per_mass * F[1] - drag * v0[1]) + free * step.gy),
        v[2] + (dt * (per_mass * F[2] - drag * v0[2]) + free * step.gz),
    )
    if bricks.contact.size > 0:
        v = meet_spheres(bricks, b, W, step, s, meet_planes(bricks, b, W, step, s, v))
        if step.boxes.size > 0:
            v = meet_boxes(bricks, b, W, step, s, v)
        if step.ground.size > 0:
            v = meet_ground(bricks, slabs, slab, b, W, step, s, v)
        v = meet_moving(step.moving, step.moving_kinds, bricks, b, W, step, n, s, v)
    w = (
        w[0] + dt * (per_inertia * M[0] - spin_drag * w0[0]),  # (14.17), [HL12, eq. 29]
        w[1] + dt * (per_inertia * M[1] - spin_drag * w0[1]),
        w[2] + dt * (per_inertia * M[2] - spin_drag * w0[2]),
    )
    if bricks.guide.size > 0 and bricks.guide[b] >= 0:
        v, w = guided(bricks, bricks.guide[b], W, v, w)
    q = turn(q, w, dt)  # (14.17), [HL12, eq. 30]
    store_three(bricks.state, to, W, add(x, scale(dt, v)))  # (14.17), [HL12, eq. 28]
    store(bricks.state, to + 3 * W, q[0])
    store_three(bricks.state, to + 4 * W, W, (q[1], q[2], q[3]))
    store_three(bricks.state, to + 7 * W, W, v)
    store_three(bricks.state, to + 10 * W, W, w)
    if bricks.swings.size > 0:
        count = step.signals.shape[1]
        size = 0.0 * per_mass + bricks.edge[b]
        for c in range(count):
            size = size + step.signals[n, c] * load(bricks.swings, (b * count + c) * W)  # (14.20)
        store(bricks.state, to + 13 * W, size)


@compiled(borrows=True)
def copy_borders(bricks, slabs, slab, parity):
    """Copy the layers of a slab that its neighbours will see."""
    copy_tiles(slabs, slab, bricks.state, STATE * lane_count(bricks.state), parity * slabs.halo)


@compiled(borrows=True)
def sweep_slab(bricks, slabs, damping, slab, n, step):
    """The n-th step of one slab, after the stages of damping."""
    parity = n % 2  # which of the two sets of copies belongs to the step's start
    W = lane_count(bricks.state)
    source = source_after(bricks, slabs, damping, len(damping.before), parity)
    within = damping.within
    enter_slab(bricks, slabs, slab, source, W, within, True)
    zero = load(bricks.state, 0) * 0.0
    none = ((zero, zero, zero), (zero, zero, zero))
    left = none
    stop = slabs.start[slab + 1]
    for b in range(slabs.start[slab], stop):
        early = min(b + AHEAD, stop - 1)
        for k in range(CONSTANTS):
            prefetch(bricks.constants, (early * CONSTANTS + k) * W)
        tile = bricks.next_z[early]
        for k in range(STATE):
            prefetch(bricks.state, (tile * STATE + k) * W)
        s = load_moving(bricks.state, source, b, W)
        if bricks.follows[b] == 0:
            left = none
        F, M, left = sum_links(bricks, slabs, slab, b, source, W, s, left, within, True)
        update_brick(bricks, slabs, slab, b, W, step, n, s, F, M)
    copy_borders(bricks, slabs, slab, 1 - parity)


@compiled
def advance(bricks, slabs, laws, damping, step, first, count):
    """Steps first to count on one thread; returns the step it came to, earlier than count where links failed."""
    slab_count = len(slabs.start) - 1
    for slab in range(slab_count):
        copy_borders(bricks, slabs, slab, first % 2)
    for n in range(first, count):
        failures = 0
        if bricks.shifts.size > 0:
            failures = shift_links(bricks, slabs, laws, n)
        damp_links(bricks, slabs, damping, n)
        for slab in range(slab_count):
            sweep_slab(bricks, slabs, damping, slab, n, step)
        if failures > 0:
            return n + 1
    return count


@compiled(parallel=True)
def advance_parallel(bricks, slabs, laws, damping, step, first, count):
    """The same on all threads; the same bits as `advance`."""
    slab_count = len(slabs.start) - 1
    for slab in range(slab_count):
        copy_borders(bricks, slabs, slab, first % 2)
    reached, failures = first, 0
    while reached < count and failures == 0:
        if bricks.shifts.size > 0:
            failures = shift_links_parallel(bricks, slabs, laws, reached)
        damp_links_parallel(bricks, slabs, damping, reached)
        for slab in numba.prange(slab_count):
            sweep_slab(bricks, slabs, damping, slab, reached, step)
        reached += 1
    return reached
