"""The fused explicit sweep: symplectic Euler of a lattice, many steps in one call, bricks of voxels in SIMD lanes.

    v += dt (F/m + g - drag v),   w += dt (T/I - spin_drag w),   x += dt v,   q <- exp(dt w) q      [HL12, eqs. 27-30]

State is kept in tiles: a brick's 14 fields of LANES values lie together. A brick takes the loads of its links, see
`brick_sums`, and updates itself in place while what lies ahead is still old: one pass over memory a step, sums in a
fixed order. Stages of damping, where there are any, precede it: see `damping_kernels`.

Threads take slabs of whole layers along z, see `team_kernels`; links from one slab to the next are computed by the one
below, see `border_kernels`. The slabs of a body do not depend on the number of threads, nor do the bits.

exp: q <- (D, N dt w / 2) q, normalised, with N/D = tan(a)/a, a = dt |w| / 2, by its continued fraction, exact to
round-off below half a radian a step.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.aligned_stack import align_stack
from supple.algebra.compiling.compiled import compiled
from supple.algebra.compiling.prefetching import prefetch
from supple.algebra.dense.rotation_kernels import quaternion_multiply, quaternion_normalise
from supple.algebra.lanes.lane_type import lane_count, load, maximum, select_ge, store
from supple.bodies.voxel.links.link import add, dot, scale
from supple.bodies.voxel.sweep.border_kernels import (
    ask_shown,
    ask_to_show,
    await_sent,
    border_under,
    end_shown,
    show_face,
    source_after,
    sweep_number,
)
from supple.bodies.voxel.sweep.brick_data import CONSTANTS, LOADS, STATE
from supple.bodies.voxel.sweep.brick_links import VELOCITY, load_moving, load_three, store_three
from supple.bodies.voxel.sweep.brick_sums import sum_links
from supple.bodies.voxel.sweep.damping_kernels import guided
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
    """Move a brick by step n under the loads F, M of its links; s: with velocities after the stages of damping.

    Returns its new velocity and size.
    """
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
    return v, size


@compiled(borrows=True)
def sweep_slab(bricks, slabs, damping, slab, n, step):
    """The n-th step of one slab, after the stages of damping."""
    align_stack()
    W = lane_count(bricks.state)
    stage = len(damping.before)
    source, number = source_after(bricks, damping, stage), sweep_number(damping, n, stage)
    within = damping.within
    zero = load(bricks.state, 0) * 0.0
    none = ((zero, zero, zero), (zero, zero, zero))
    left, fastest, largest = none, zero, zero
    stop = slabs.start[slab + 1]
    for b in range(slabs.start[slab], stop):
        early = min(b + AHEAD, stop - 1)
        for k in range(CONSTANTS):
            prefetch(bricks.constants, (early * CONSTANTS + k) * W)
        tile = bricks.next_z[early]
        for k in range(STATE):
            prefetch(bricks.state, (tile * STATE + k) * W)
        under, crossing = border_under(bricks, slabs, b), bricks.crossing[b]
        if under >= 0:
            await_sent(slabs, under, number)
            ask_to_show(slabs, min(under + 2, len(slabs.above) - 1))
        if crossing >= 0:
            ask_shown(slabs, crossing)
        s = load_moving(bricks.state, source, b, W)
        if bricks.follows[b] == 0:
            left = none
        F, M, left = sum_links(bricks, slabs, b, under, source, W, s, left, within, True)
        v, size = update_brick(bricks, slabs, slab, b, W, step, n, s, F, M)
        if under >= 0:
            show_face(bricks, slabs, under, b, W)
            end_shown(slabs, under, number)
        fastest, largest = maximum(fastest, dot(v, v)), maximum(largest, size)
    store(slabs.peaks, 2 * slab * W, fastest)
    store(slabs.peaks, (2 * slab + 1) * W, largest)


@compiled(borrows=True)
def measure_peaks(bricks, slabs, slab):
    """The largest v² and size of a slab, as its step leaves them."""
    W = lane_count(bricks.state)
    fastest = load(bricks.state, 0) * 0.0
    largest = fastest
    for b in range(slabs.start[slab], slabs.start[slab + 1]):
        v = load_three(bricks.state, (b * STATE + VELOCITY) * W, W)
        fastest = maximum(fastest, dot(v, v))
        largest = maximum(largest, load(bricks.state, (b * STATE + 13) * W))
    store(slabs.peaks, 2 * slab * W, fastest)
    store(slabs.peaks, (2 * slab + 1) * W, largest)
