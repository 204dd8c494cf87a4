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

from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from supple.algebra.compiling import compiled
from supple.algebra.lanes import lane_count, load, maximum, select_ge, sqrt, store
from supple.algebra.rotation_kernels import quaternion_multiply, quaternion_normalise
from supple.bodies.voxel.brick_lanes import (
    arrive_x,
    arrive_y,
    arrive_z,
    neighbour_x,
    neighbour_y,
    neighbour_z,
    prefetch,
)
from supple.bodies.voxel.link import add, dot, link_loads, scale, subtract

Array = np.ndarray
STATE = 14  # x, q, v, w (world axes), size
CONSTANTS = 16  # a1, a2, c_u, c_t of the links along x, y, z; 1/m, 1/I, drag, spin drag
LOADS = 6
SWINGS = 2  # sine and cosine of the size
CONTACT = 4  # k/m, c/m, mu_s, mu_d
RESTING = 1e-6  # a voxel that moves along a plane by less than this part of a step's friction is at rest
AHEAD = 8  # bricks whose data are asked for early


class Bricks(NamedTuple):
    """A lattice in bricks of W lanes. All float arrays are flat, in tiles of so many fields of W values.

    state: STATE fields of the bricks, a void one, and copies at the slabs' borders, twice. constants: CONSTANTS
    fields of the bricks. loads, swings, contact: LOADS, SWINGS, CONTACT fields, or nothing.
    next_x, next_y, next_z: the state tile ahead; follows: 1 where the brick before is the one behind along x. row,
    column: where the brick leaves its loads along y and z; row_behind, column_behind: where it finds those of the
    bricks behind it, a zero one if there are none.
    """

    state: Array
    constants: Array
    loads: Array
    swings: Array
    contact: Array
    next_x: Array
    next_y: Array
    next_z: Array
    follows: Array
    row: Array
    row_behind: Array
    column: Array
    column_behind: Array


class Slabs(NamedTuple):
    """How the bricks are shared out. start (count + 1,): first brick of each slab.

    rows, columns: buffers along y and z, tiles of LOADS fields; row_count, column_count: tiles a slab, the last zero.
    copy_start, copy_from, copy_to: tiles a slab copies at the end of a step. entry_start, entry_tile, entry_below,
    entry_above: links into a slab from below; the copied tile, its brick, and the slab's own brick.
    halo: copies of one step.
    """

    start: Array
    rows: Array
    columns: Array
    row_count: int
    column_count: int
    copy_start: Array
    copy_from: Array
    copy_to: Array
    entry_start: Array
    entry_tile: Array
    entry_below: Array
    entry_above: Array
    first_copy: int
    halo: int


class Step(NamedTuple):
    """t, dt [s], gravity (gx, gy, gz) [m/s²], bend = l²/12 [m²]: bending over axial stiffness of a link.

    size [m] and frequency [Hz] of the voxels that swing; planes (4 p,): normals and offsets; spheres (4 s,):
    centres and radii.
    """

    t: float
    dt: float
    gx: float
    gy: float
    gz: float
    bend: float
    size: float
    frequency: float
    planes: Array
    spheres: Array


@compiled(inline=True)
def load_three(array, at, stride):
    """Three fields from a tile."""
    return load(array, at), load(array, at + stride), load(array, at + 2 * stride)


@compiled(inline=True)
def store_three(array, at, stride, u):
    """Three fields into a tile."""
    store(array, at, u[0])
    store(array, at + stride, u[1])
    store(array, at + 2 * stride, u[2])


@compiled(inline=True)
def load_state(state, tile, W):
    """x, q, v, w, size of a brick."""
    at = tile * STATE * W
    qx, qy, qz = load_three(state, at + 4 * W, W)
    return (
        load_three(state, at, W),
        (load(state, at + 3 * W), qx, qy, qz),
        load_three(state, at + 7 * W, W),
        load_three(state, at + 10 * W, W),
        load(state, at + 13 * W),
    )


@compiled(inline=True)
def ahead_x(s, t):
    """The state one voxel further along x; s: the brick's, t: the next brick's."""
    return (
        (neighbour_x(s[0][0], t[0][0]), neighbour_x(s[0][1], t[0][1]), neighbour_x(s[0][2], t[0][2])),
        (
            neighbour_x(s[1][0], t[1][0]),
            neighbour_x(s[1][1], t[1][1]),
            neighbour_x(s[1][2], t[1][2]),
            neighbour_x(s[1][3], t[1][3]),
        ),
        (neighbour_x(s[2][0], t[2][0]), neighbour_x(s[2][1], t[2][1]), neighbour_x(s[2][2], t[2][2])),
        (neighbour_x(s[3][0], t[3][0]), neighbour_x(s[3][1], t[3][1]), neighbour_x(s[3][2], t[3][2])),
        neighbour_x(s[4], t[4]),
    )


@compiled(inline=True)
def ahead_y(s, t):
    """The state one voxel further along y, seen in the axes (y, z, x)."""
    return (
        (neighbour_y(s[0][1], t[0][1]), neighbour_y(s[0][2], t[0][2]), neighbour_y(s[0][0], t[0][0])),
        (
            neighbour_y(s[1][0], t[1][0]),
            neighbour_y(s[1][2], t[1][2]),
            neighbour_y(s[1][3], t[1][3]),
            neighbour_y(s[1][1], t[1][1]),
        ),
        (neighbour_y(s[2][1], t[2][1]), neighbour_y(s[2][2], t[2][2]), neighbour_y(s[2][0], t[2][0])),
        (neighbour_y(s[3][1], t[3][1]), neighbour_y(s[3][2], t[3][2]), neighbour_y(s[3][0], t[3][0])),
        neighbour_y(s[4], t[4]),
    )


@compiled(inline=True)
def ahead_z(s, t):
    """The state one voxel further along z, seen in the axes (z, x, y)."""
    return (
        (neighbour_z(s[0][2], t[0][2]), neighbour_z(s[0][0], t[0][0]), neighbour_z(s[0][1], t[0][1])),
        (
            neighbour_z(s[1][0], t[1][0]),
            neighbour_z(s[1][3], t[1][3]),
            neighbour_z(s[1][1], t[1][1]),
            neighbour_z(s[1][2], t[1][2]),
        ),
        (neighbour_z(s[2][2], t[2][2]), neighbour_z(s[2][0], t[2][0]), neighbour_z(s[2][1], t[2][1])),
        (neighbour_z(s[3][2], t[3][2]), neighbour_z(s[3][0], t[3][0]), neighbour_z(s[3][1], t[3][1])),
        neighbour_z(s[4], t[4]),
    )


@compiled(inline=True)
def turned_yzx(s):
    """A state seen in the axes (y, z, x)."""
    x, q, v, w, size = s
    return (x[1], x[2], x[0]), (q[0], q[2], q[3], q[1]), (v[1], v[2], v[0]), (w[1], w[2], w[0]), size


@compiled(inline=True)
def turned_zxy(s):
    """A state seen in the axes (z, x, y)."""
    x, q, v, w, size = s
    return (x[2], x[0], x[1]), (q[0], q[3], q[1], q[2]), (v[2], v[0], v[1]), (w[2], w[0], w[1]), size


@compiled(inline=True)
def brick_links(constants, at, W, bend, s, t):
    """Force F, moments M1, M2 of the links from s to t along the first axis: F, M1 on s, -F, M2 on t."""
    axial = load(constants, at)
    F, A, B = link_loads(
        (axial, axial, load(constants, at + W), axial * bend),
        (load(constants, at + 2 * W), load(constants, at + 3 * W)),
        0.5 * (s[4] + t[4]),
        subtract(t[0], s[0]),
        s[1],
        t[1],
        subtract(t[2], s[2]),
        s[3],
        t[3],
    )
    return F, add(A, B), subtract(A, B)


@compiled(inline=True)
def arrived_x(F, M, G, N):
    """Loads that arrive from behind along x: of the brick F, M and of the one before G, N."""
    return (
        (arrive_x(F[0], G[0]), arrive_x(F[1], G[1]), arrive_x(F[2], G[2])),
        (arrive_x(M[0], N[0]), arrive_x(M[1], N[1]), arrive_x(M[2], N[2])),
    )


@compiled(inline=True)
def arrived_y(F, M, G, N):
    """The same along y."""
    return (
        (arrive_y(F[0], G[0]), arrive_y(F[1], G[1]), arrive_y(F[2], G[2])),
        (arrive_y(M[0], N[0]), arrive_y(M[1], N[1]), arrive_y(M[2], N[2])),
    )


@compiled(inline=True)
def arrived_z(F, M, G, N):
    """The same along z."""
    return (
        (arrive_z(F[0], G[0]), arrive_z(F[1], G[1]), arrive_z(F[2], G[2])),
        (arrive_z(M[0], N[0]), arrive_z(M[1], N[1]), arrive_z(M[2], N[2])),
    )


@compiled(inline=True)
def links_along_y(bricks, b, tile, W, bend, s):
    """F, M1, M2 of a brick's links along y, in the axes (x, y, z)."""
    t = ahead_y(s, load_state(bricks.state, tile, W))
    F, M, N = brick_links(bricks.constants, (b * CONSTANTS + 4) * W, W, bend, turned_yzx(s), t)
    return (F[2], F[0], F[1]), (M[2], M[0], M[1]), (N[2], N[0], N[1])


@compiled(inline=True)
def links_along_z(bricks, b, tile, W, bend, s):
    """F, M1, M2 of a brick's links along z, in the axes (x, y, z)."""
    t = ahead_z(s, load_state(bricks.state, tile, W))
    F, M, N = brick_links(bricks.constants, (b * CONSTANTS + 8) * W, W, bend, turned_zxy(s), t)
    return (F[1], F[2], F[0]), (M[1], M[2], M[0]), (N[1], N[2], N[0])


@compiled(inline=True)
def turn(q, w, dt):
    """exp(dt w) q, w in world axes."""
    r = scale(0.5 * dt, w)
    a2 = dot(r, r)
    N = 10395.0 - a2 * (1260.0 - 21.0 * a2)
    D = 10395.0 - a2 * (4725.0 - a2 * (210.0 - a2))
    return quaternion_normalise(quaternion_multiply((D, N * r[0], N * r[1], N * r[2]), q))


@compiled(inline=True)
def along(planes, p, u):
    """The part of u along the normal of plane p, as a length."""
    return u[0] * planes[4 * p] + u[1] * planes[4 * p + 1] + u[2] * planes[4 * p + 2]


@compiled(inline=True)
def tangential(planes, p, u):
    """The part of u along plane p."""
    a = along(planes, p, u)
    return u[0] - a * planes[4 * p], u[1] - a * planes[4 * p + 1], u[2] - a * planes[4 * p + 2]


@compiled(inline=True)
def push(planes, p, stiffness, damping, x, v, size):
    """Acceleration by plane p along its normal, zero off the plane."""
    depth = 0.5 * size - (along(planes, p, x) - planes[4 * p + 3])
    return select_ge(0.0, depth, 0.0 * depth, maximum(stiffness * depth - damping * along(planes, p, v), 0.0))


@compiled(inline=True)
def slowing(static, kinetic, a, u, before):
    """Part of the tangential velocity u that friction takes out of it, under a normal push a; before: u last step."""
    speed = sqrt(dot(u, u))
    rests = RESTING * static * a
    grip = select_ge(rests * rests, dot(before, before), static, kinetic)
    return select_ge(grip * a, speed, 0.0 * speed + 1.0, kinetic * a / maximum(speed, 1e-30))


@compiled(inline=True)
def meet_planes(bricks, b, W, step, s, v):
    """Velocities after contact with the planes; v: the candidates without it, s: the state at the step's start."""
    at = b * CONTACT * W
    stiffness, damping = load(bricks.contact, at), load(bricks.contact, at + W)
    static, kinetic = load(bricks.contact, at + 2 * W), load(bricks.contact, at + 3 * W)
    planes = step.planes
    for p in range(len(planes) // 4):
        a = step.dt * push(planes, p, stiffness, damping, s[0], s[2], s[4])
        v = (v[0] + a * planes[4 * p], v[1] + a * planes[4 * p + 1], v[2] + a * planes[4 * p + 2])
    for p in range(len(planes) // 4):
        a = step.dt * push(planes, p, stiffness, damping, s[0], s[2], s[4])
        u, before = tangential(planes, p, v), tangential(planes, p, s[2])
        v = subtract(v, scale(slowing(static, kinetic, a, u, before), u))
    return v


@compiled(inline=True)
def meet_spheres(bricks, b, W, step, s, v):
    """The same with the spheres."""
    at = b * CONTACT * W
    stiffness, damping = load(bricks.contact, at), load(bricks.contact, at + W)
    static, kinetic = load(bricks.contact, at + 2 * W), load(bricks.contact, at + 3 * W)
    spheres = step.spheres
    for p in range(len(spheres) // 4):
        r = (s[0][0] - spheres[4 * p], s[0][1] - spheres[4 * p + 1], s[0][2] - spheres[4 * p + 2])
        distance = sqrt(dot(r, r))
        n = scale(1.0 / maximum(distance, 1e-30), r)
        depth = 0.5 * s[4] + spheres[4 * p + 3] - distance
        force = maximum(stiffness * depth - damping * dot(n, s[2]), 0.0)
        a = step.dt * select_ge(0.0, depth, 0.0 * depth, force)
        v = add(v, scale(a, n))
        u, before = subtract(v, scale(dot(n, v), n)), subtract(s[2], scale(dot(n, s[2]), n))
        v = subtract(v, scale(slowing(static, kinetic, a, u, before), u))
    return v


@compiled(inline=True)
def update_brick(bricks, b, W, step, wave, s, F, M):
    """Move a brick by one step under the loads F, M of its links. wave: sine and cosine of the swing at its end."""
    x, q, v, w, _ = s
    at = (b * CONSTANTS + 12) * W
    per_mass, per_inertia = load(bricks.constants, at), load(bricks.constants, at + W)
    drag, spin_drag = load(bricks.constants, at + 2 * W), load(bricks.constants, at + 3 * W)
    if bricks.loads.size > 0:
        F = add(F, load_three(bricks.loads, b * LOADS * W, W))
        M = add(M, load_three(bricks.loads, (b * LOADS + 3) * W, W))
    dt = step.dt
    free = select_ge(0.0, per_mass, 0.0 * per_mass, 0.0 * per_mass + dt)  # zero for voxels that are held
    v = (
        v[0] + (dt * (per_mass * F[0] - drag * v[0]) + free * step.gx),
        v[1] + (dt * (per_mass * F[1] - drag * v[1]) + free * step.gy),
        v[2] + (dt * (per_mass * F[2] - drag * v[2]) + free * step.gz),
    )
    if bricks.contact.size > 0:
        v = meet_spheres(bricks, b, W, step, s, meet_planes(bricks, b, W, step, s, v))
    w = (
        w[0] + dt * (per_inertia * M[0] - spin_drag * w[0]),
        w[1] + dt * (per_inertia * M[1] - spin_drag * w[1]),
        w[2] + dt * (per_inertia * M[2] - spin_drag * w[2]),
    )
    q = turn(q, w, dt)
    to = b * STATE * W
    store_three(bricks.state, to, W, add(x, scale(dt, v)))
    store(bricks.state, to + 3 * W, q[0])
    store_three(bricks.state, to + 4 * W, W, (q[1], q[2], q[3]))
    store_three(bricks.state, to + 7 * W, W, v)
    store_three(bricks.state, to + 10 * W, W, w)
    if bricks.swings.size > 0:
        at = b * SWINGS * W
        size = step.size + wave[0] * load(bricks.swings, at) + wave[1] * load(bricks.swings, at + W)
        store(bricks.state, to + 13 * W, size)


@compiled
def enter_slab(bricks, slabs, slab, parity, bend):
    """Loads on a slab's first layer from the layer below, computed from copies, into the slab's buffer."""
    W = lane_count(bricks.state)
    for k in range(slabs.entry_start[slab], slabs.entry_start[slab + 1]):
        above = slabs.entry_above[k]
        s = load_state(bricks.state, slabs.entry_tile[k] + parity * slabs.halo, W)
        F, _, N = links_along_z(bricks, slabs.entry_below[k], above, W, bend, s)
        at = (slab * slabs.column_count + bricks.column[above]) * LOADS * W
        store_three(slabs.columns, at, W, F)
        store_three(slabs.columns, at + 3 * W, W, N)


@compiled
def copy_borders(bricks, slabs, slab, parity):
    """Copy the layers of a slab that its neighbours will see."""
    size = STATE * lane_count(bricks.state)
    state = bricks.state
    for k in range(slabs.copy_start[slab], slabs.copy_start[slab + 1]):
        a, b = slabs.copy_from[k] * size, (slabs.copy_to[k] + parity * slabs.halo) * size
        for i in range(size):
            state[b + i] = state[a + i]


@compiled
def sweep_slab(bricks, slabs, slab, n, step):
    """The n-th step of one slab."""
    parity = n % 2  # which of the two sets of copies belongs to the step's start
    angle = 2.0 * np.pi * step.frequency * (step.t + (n + 1) * step.dt)
    wave = (np.sin(angle), np.cos(angle))
    W = lane_count(bricks.state)
    enter_slab(bricks, slabs, slab, parity, step.bend)
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
        F, M, N = brick_links(bricks.constants, b * CONSTANTS * W, W, step.bend, s, t)
        if bricks.follows[b] == 0:
            before_F, before_N = none, none
        G, H = arrived_x(F, N, before_F, before_N)
        before_F, before_N = F, N
        total_F, total_M = subtract(F, G), add(M, H)
        # along y: the row behind left its loads in the buffer
        F, M, N = links_along_y(bricks, b, bricks.next_y[b], W, step.bend, s)
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
        F, M, N = links_along_z(bricks, b, tile, W, step.bend, s)
        at = (first_column + bricks.column_behind[b]) * LOADS * W
        G, H = arrived_z(F, N, load_three(columns, at, W), load_three(columns, at + 3 * W, W))
        at = (first_column + bricks.column[b]) * LOADS * W
        store_three(columns, at, W, F)
        store_three(columns, at + 3 * W, W, N)
        total_F, total_M = add(total_F, subtract(F, G)), add(total_M, add(M, H))
        update_brick(bricks, b, W, step, wave, s, total_F, total_M)
    copy_borders(bricks, slabs, slab, 1 - parity)


@compiled
def advance(bricks, slabs, step, count):
    """So many steps, one thread."""
    slab_count = len(slabs.start) - 1
    for slab in range(slab_count):
        copy_borders(bricks, slabs, slab, 0)
    for n in range(count):
        for slab in range(slab_count):
            sweep_slab(bricks, slabs, slab, n, step)


@compiled(parallel=True)
def advance_parallel(bricks, slabs, step, count):
    """So many steps on all threads; the same bits as `advance`."""
    slab_count = len(slabs.start) - 1
    for slab in range(slab_count):
        copy_borders(bricks, slabs, slab, 0)
    for n in range(count):
        for slab in numba.prange(slab_count):
            sweep_slab(bricks, slabs, slab, n, step)
