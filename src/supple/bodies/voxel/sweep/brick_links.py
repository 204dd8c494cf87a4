"""Links of a brick of voxels: the states ahead along each axis, the loads of links, and what arrives from behind."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import load, store
from supple.bodies.voxel.links.link import add, axial_by_rest, link_damping, link_loads, subtract
from supple.bodies.voxel.sweep.brick_data import BY_REST, CONSTANTS, SHIFTS, STATE
from supple.bodies.voxel.sweep.brick_lanes import arrive_x, arrive_y, arrive_z, neighbour_x, neighbour_y, neighbour_z

VELOCITY = 7  # the field of the state where v, w begin


@compiled(inline=True)
def load_three(array, at, stride):
    """Three fields from a tile."""
    return load(array, at), load(array, at + stride), load(array, at + 2 * stride)


@compiled(inline=True)
def three(array, at, stride):
    """Three fields of one voxel, in double precision."""
    return np.float64(array[at]), np.float64(array[at + stride]), np.float64(array[at + 2 * stride])


@compiled(inline=True)
def store_three(array, at, stride, u):
    """Three fields into a tile."""
    store(array, at, u[0])
    store(array, at + stride, u[1])
    store(array, at + 2 * stride, u[2])


@compiled(inline=True)
def load_moving(state, source, tile, W):
    """x, q, v, w, size of a brick, velocities from a source: an array of tiles of so many fields, of which v, w are
    those from `first` on."""
    rates, fields, first = source
    at, to = tile * STATE * W, (tile * fields + first) * W
    qx, qy, qz = load_three(state, at + 4 * W, W)
    return (
        load_three(state, at, W),
        (load(state, at + 3 * W), qx, qy, qz),
        load_three(rates, to, W),
        load_three(rates, to + 3 * W, W),
        load(state, at + 13 * W),
    )


@compiled(inline=True)
def load_state(state, tile, W):
    """x, q, v, w, size of a brick."""
    return load_moving(state, (state, STATE, VELOCITY), tile, W)


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
def brick_links(bricks, b, axis, W, s, t, damped, elastic):
    """Force F, moments M1, M2 of the links from s to t along an axis, seen as the first: F, M1 on s, -F, M2 on t.

    damped: a factor of the damping. elastic: False: the damping alone.
    """
    constants, at = bricks.constants, (b * CONSTANTS + 4 * axis) * W
    axial, twist = load(constants, at), load(constants, at + W)
    cu, ct = damped * load(constants, at + 2 * W), damped * load(constants, at + 3 * W)
    rest, edge = 0.5 * (s[4] + t[4]), bricks.edge[b]  # (14.20)
    along = axial
    if bricks.linked[b] & BY_REST:
        along = axial_by_rest(axial, edge, rest)  # (14.29)
    if bricks.shifts.size > 0:
        at = (b * SHIFTS + 2 * axis) * W
        rest = rest + load(bricks.shifts, at)  # (14.20)
        strength = load(bricks.shifts, at + W)
        along, axial, twist = strength * along, strength * axial, strength * twist
        cu, ct = strength * cu, strength * ct
    d, v = subtract(t[0], s[0]), subtract(t[2], s[2])
    if elastic:
        stiffness = (along, axial, twist, axial * (edge * edge / 12.0))  # (14.2)
        F, A, B = link_loads(stiffness, (cu, ct), rest, d, s[1], t[1], v, s[3], t[3])
    else:
        F, A, B = link_damping((cu, ct), d, v, s[3], t[3])
    return F, add(A, B), subtract(A, B)  # (14.12)


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
def links_along_y(bricks, b, source, W, s, damped, elastic):
    """F, M1, M2 of a brick's links along y, in the axes (x, y, z)."""
    t = ahead_y(s, load_moving(bricks.state, source, bricks.next_y[b], W))
    F, M, N = brick_links(bricks, b, 1, W, turned_yzx(s), t, damped, elastic)
    return (F[2], F[0], F[1]), (M[2], M[0], M[1]), (N[2], N[0], N[1])


@compiled(inline=True)
def links_along_z(bricks, b, source, tile, W, s, damped, elastic):
    """F, M1, M2 of a brick's links along z to a tile, in the axes (x, y, z)."""
    return links_across(bricks, b, W, s, load_moving(bricks.state, source, tile, W), damped, elastic)


@compiled(inline=True)
def links_across(bricks, b, W, s, t, damped, elastic):
    """F, M1, M2 of a brick's links along z to a brick of the state t, in the axes (x, y, z)."""
    F, M, N = brick_links(bricks, b, 2, W, turned_zxy(s), ahead_z(s, t), damped, elastic)
    return (F[1], F[2], F[0]), (M[1], M[2], M[0]), (N[1], N[2], N[0])
