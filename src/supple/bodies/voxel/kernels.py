"""The fused explicit sweep: symplectic Euler of a lattice, many steps in one call, bricks of voxels in SIMD lanes.

    v += dt (F/m + g - drag v),   w += dt (T/I - spin_drag w),   x += dt v,   q <- exp(dt w) q      [HL12, eqs. 27-30]

State is kept in tiles: a brick's 14 fields of LANES values lie together. Bricks are visited with x fastest, then y,
then z. A brick computes the links from its voxels to their neighbours along +x, +y, +z, which are still old, takes
what the bricks behind it left in small buffers (one brick along x, one row along y, one layer along z), and updates
itself in place: one pass over memory a step, sums in a fixed order.

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
from supple.bodies.voxel.links.link import add, dot, scale, subtract
from supple.bodies.voxel.sweep.brick_data import CONSTANTS, GUIDE, LOADS, STATE
from supple.bodies.voxel.sweep.brick_links import (
    ahead_x,
    arrived_x,
    arrived_y,
    arrived_z,
    brick_links,
    links_along_y,
    links_along_z,
    load_state,
    load_three,
    store_three,
)
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
def guided(bricks, g, W, v, w):
    """Velocities v, w in the directions that guide tile g leaves free, and its own in the others."""
    at = g * GUIDE * W
    x, y, z = (
        load_three(bricks.guides, at, W),
        load_three(bricks.guides, at + 3 * W, W),
        load_three(bricks.guides, at + 6 * W, W),
    )
    free = load(bricks.guides, at + 9 * W)
    v = add((dot(x, v), dot(y, v), dot(z, v)), load_three(bricks.guides, at + 10 * W, W))
    return v, add(scale(free, w), load_three(bricks.guides, at + 13 * W, W))


@compiled(inline=True)
def update_brick(bricks, slabs, slab, b, W, step, n, s, F, M):
    """Move a brick by step n under the loads F, M of its links."""
    x, q, v, w, _ = s
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
        v[0] + (dt * (per_mass * F[0] - drag * v[0]) + free * step.gx),  # (14.17), [HL12, eq. 27]
        v[1] + (dt * (per_mass * F[1] - drag * v[1]) + free * step.gy),
        v[2] + (dt * (per_mass * F[2] - drag * v[2]) + free * step.gz),
    )
    if bricks.contact.size > 0:
        v = meet_spheres(bricks, b, W, step, s, meet_planes(bricks, b, W, step, s, v))
        if step.boxes.size > 0:
            v = meet_boxes(bricks, b, W, step, s, v)
        if step.ground.size > 0:
            v = meet_ground(bricks, slabs, slab, b, W, step, s, v)
        v = meet_moving(step.moving, step.moving_kinds, bricks, b, W, step, n, s, v)
    w = (
        w[0] + dt * (per_inertia * M[0] - spin_drag * w[0]),  # (14.17), [HL12, eq. 29]
        w[1] + dt * (per_inertia * M[1] - spin_drag * w[1]),
        w[2] + dt * (per_inertia * M[2] - spin_drag * w[2]),
    )
    if bricks.guide.size > 0 and bricks.guide[b] >= 0:
        v, w = guided(bricks, bricks.guide[b], W, v, w)
    q = turn(q, w, dt)  # (14.17), [HL12, eq. 30]
    to = b * STATE * W
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
def enter_slab(bricks, slabs, slab, parity):
    """Loads on a slab's first layer from the layer below, computed from copies, into the slab's buffer."""
    W = lane_count(bricks.state)
    for k in range(slabs.entry_start[slab], slabs.entry_start[slab + 1]):
        above = slabs.entry_above[k]
        s = load_state(bricks.state, slabs.entry_tile[k] + parity * slabs.halo, W)
        F, _, N = links_along_z(bricks, slabs.entry_below[k], above, W, s)
        at = (slab * slabs.column_count + bricks.column[above]) * LOADS * W
        store_three(slabs.columns, at, W, F)
        store_three(slabs.columns, at + 3 * W, W, N)


@compiled(borrows=True)
def copy_borders(bricks, slabs, slab, parity):
    """Copy the layers of a slab that its neighbours will see."""
    size = STATE * lane_count(bricks.state)
    state = bricks.state
    for k in range(slabs.copy_start[slab], slabs.copy_start[slab + 1]):
        a, b = slabs.copy_from[k] * size, (slabs.copy_to[k] + parity * slabs.halo) * size
        for i in range(size):
            state[b + i] = state[a + i]


@compiled(borrows=True)
def sweep_slab(bricks, slabs, slab, n, step):
    """The n-th step of one slab."""
    parity = n % 2  # which of the two sets of copies belongs to the step's start
    W = lane_count(bricks.state)
    enter_slab(bricks, slabs, slab, parity)
    rows, columns = slabs.rows, slabs.columns
    first_row, first_column = slab * slabs.row_count, slab * slabs.column_count
    zero = load(bricks.state, 0) * 0.0
    none = (zero, zero, zero)
    before_F, before_N = none, none
    stop = slabs.start[slab + 1]
    for b in range(slabs.start[slab], stop):
        early = min(b + AHEAD, stop - 1)
        for k in range(CONSTANTS):
            prefetch(bricks.constants, (early * CONSTANTS + k) * W)
        tile = bricks.next_z[early]
        for k in range(STATE):
            prefetch(bricks.state, (tile * STATE + k) * W)
        s = load_state(bricks.state, b, W)
        # along x: what arrives from behind is still at hand
        t = ahead_x(s, load_state(bricks.state, bricks.next_x[b], W))
        F, M, N = brick_links(bricks, b, 0, W, s, t)
        if bricks.follows[b] == 0:
            before_F, before_N = none, none
        G, H = arrived_x(F, N, before_F, before_N)
        before_F, before_N = F, N
        total_F, total_M = subtract(F, G), add(M, H)
        # along y: the row behind left its loads in the buffer
        F, M, N = links_along_y(bricks, b, bricks.next_y[b], W, s)
        at = (first_row + bricks.row_behind[b]) * LOADS * W
        G, H = arrived_y(F, N, load_three(rows, at, W), load_three(rows, at + 3 * W, W))
        at = (first_row + bricks.row[b]) * LOADS * W
        store_three(rows, at, W, F)
        store_three(rows, at + 3 * W, W, N)
        total_F, total_M = add(total_F, subtract(F, G)), add(total_M, add(M, H))
        # along z: the layer behind did
        tile = bricks.next_z[b]
        if tile >= slabs.first_copy:
            tile += parity * slabs.halo
        F, M, N = links_along_z(bricks, b, tile, W, s)
        at = (first_column + bricks.column_behind[b]) * LOADS * W
        G, H = arrived_z(F, N, load_three(columns, at, W), load_three(columns, at + 3 * W, W))
        at = (first_column + bricks.column[b]) * LOADS * W
        store_three(columns, at, W, F)
        store_three(columns, at + 3 * W, W, N)
        total_F, total_M = add(total_F, subtract(F, G)), add(total_M, add(M, H))
        update_brick(bricks, slabs, slab, b, W, step, n, s, total_F, total_M)
    copy_borders(bricks, slabs, slab, 1 - parity)


@compiled
def advance(bricks, slabs, laws, step, first, count):
    """Steps first to count on one thread; returns the step it came to, earlier than count where links failed."""
    slab_count = len(slabs.start) - 1
    for slab in range(slab_count):
        copy_borders(bricks, slabs, slab, first % 2)
    for n in range(first, count):
        failures = 0
        if bricks.shifts.size > 0:
            failures = shift_links(bricks, slabs, laws, n)
        for slab in range(slab_count):
            sweep_slab(bricks, slabs, slab, n, step)
        if failures > 0:
            return n + 1
    return count


@compiled(parallel=True)
def advance_parallel(bricks, slabs, laws, step, first, count):
    """The same on all threads; the same bits as `advance`."""
    slab_count = len(slabs.start) - 1
    for slab in range(slab_count):
        copy_borders(bricks, slabs, slab, first % 2)
    reached, failures = first, 0
    while reached < count and failures == 0:
        if bricks.shifts.size > 0:
            failures = shift_links_parallel(bricks, slabs, laws, reached)
        for slab in numba.prange(slab_count):
            sweep_slab(bricks, slabs, slab, reached, step)
        reached += 1
    return reached
