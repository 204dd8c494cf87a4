"""Kernels of springs in the sweep of a lattice: after each small step, the impulses of springs between points.

    d = x_j - x_i, u its rate, both at the start of a small step; d' at its end, d* the end without the spring
    f = -k (d' + 2 d + d_) / 4 - c (d' - d) / dt,   d_ = d - dt u          on j, and -f on i             (14.30)
    d' = d* + dt² W f,   so that   (1 + dt² a W) f = -(a d* + (3 k/4 - c/dt) d - k dt u/4),   a = k/4 + c/dt

W = sum over both ends of (1/m - [r]² / I): how the points yield. The weights 1, 2, 1 neither add nor take energy, and
the damper is taken at the end of the step. A spring that would swing faster than the steps can tell, z = dt² k W beyond
1, is damped by k dt z² / (4 + z²) more and comes to rest, as a joint does; a swing of 60 small steps loses 2e-5 of its
energy by that. Beside a lattice of stiffness K that is swept explicitly, the scheme is the explicit one of K for the
mass M + dt² k/4 + dt c/2: stable for any k and c wherever the lattice alone is, so that springs leave the stable step
as it is. A spring of rest length L0 > 0 acts along n = d/|d| alone, |d| - L0 in place of d; its part across n is
explicit, see `springs`. Springs are taken one after another, each from where those before have put its points.

Forces act at the places of the start, in pairs: linear momentum is kept, and angular momentum where f is along d.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.polar_kernels import solve_sym3
from supple.algebra.dense.rotation_kernels import (
    cross,
    quaternion_exp,
    quaternion_multiply,
    quaternion_rotate,
)
from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.voxel.links.link import add, dot, scale, subtract
from supple.bodies.voxel.sweep.brick_links import three

Array = np.ndarray


class SpringRun(NamedTuple):
    """n springs in the axes of the sweep, from end 0 to end 1. place (n, 2): where x of an end's voxel starts in the
    state, -1: the end is in the world. local (n, 2, 3) [m]: ends in their voxels' axes, or places in the world.
    per (n, 2, 2): 1/m and 1/I, zero of what does not move. stiffness, damping, rest (n,).

    Of the start of a small step: lever (n, 2, 3), apart (n, 3): d, rate (n, 3): u."""

    place: Array
    local: Array
    per: Array
    stiffness: Array
    damping: Array
    rest: Array
    lever: Array
    apart: Array
    rate: Array


@compiled(inline=True)
def three_of(array, s, e):
    """array[s, e, 0:3]."""
    return array[s, e, 0], array[s, e, 1], array[s, e, 2]


@compiled(inline=True)
def keep_three(u, s, e, array_out):
    """array[s, e, 0:3] = u."""
    array_out[s, e, 0], array_out[s, e, 1], array_out[s, e, 2] = u[0], u[1], u[2]


@compiled(borrows=True)
def place_end(state, run, s, e):
    """Where an end of a spring is, and its lever about its voxel."""
    W, at, local = lane_count(state), run.place[s, e], three_of(run.local, s, e)
    if at < 0:
        return local, (0.0, 0.0, 0.0)
    qx, qy, qz = three(state, at + 4 * W, W)
    r = quaternion_rotate((np.float64(state[at + 3 * W]), qx, qy, qz), local)
    return add(three(state, at, W), r), r


@compiled(borrows=True)
def begin_springs(state, run):
    """Distances and rates at the start of a small step."""
    W = lane_count(state)
    for s in range(len(run.rest)):
        d, u = (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        for e in range(2):
            sign, at = 2.0 * e - 1.0, run.place[s, e]
            x, r = place_end(state, run, s, e)
            keep_three(r, s, e, run.lever)
            d = add(d, scale(sign, x))
            if at >= 0:
                v = add(three(state, at + 7 * W, W), cross(three(state, at + 10 * W, W), r))
                u = add(u, scale(sign, v))
        for c in range(3):
            run.apart[s, c], run.rate[s, c] = d[c], u[c]


@compiled(inline=True)
def settling(k, w, dt):
    """Damping of a spring that swings faster than steps can tell, between points that yield by w."""
    z = dt * dt * k * w
    return k * dt * z * z / (4.0 + z * z)


@compiled(inline=True)
def attaching_force(run, s, d, dt):
    """f of a spring without a length; d: d*."""
    k = run.stiffness[s]
    xx = xy = xz = yy = yz = zz = 0.0
    for e in range(2):
        r, m, i = three_of(run.lever, s, e), run.per[s, e, 0], run.per[s, e, 1]
        r2 = dot(r, r)
        xx += m + i * (r2 - r[0] * r[0])
        yy += m + i * (r2 - r[1] * r[1])
        zz += m + i * (r2 - r[2] * r[2])
        xy -= i * r[0] * r[1]
        xz -= i * r[0] * r[2]
        yz -= i * r[1] * r[2]
    c = run.damping[s] + settling(k, (xx + yy + zz) / 3.0, dt)
    a, b = 0.25 * k + c / dt, 0.75 * k - c / dt
    h = dt * dt * a
    g0 = -(a * d[0] + b * run.apart[s, 0] - 0.25 * k * dt * run.rate[s, 0])
    g1 = -(a * d[1] + b * run.apart[s, 1] - 0.25 * k * dt * run.rate[s, 1])
    g2 = -(a * d[2] + b * run.apart[s, 2] - 0.25 * k * dt * run.rate[s, 2])
    return solve_sym3(1.0 + h * xx, h * xy, h * xz, 1.0 + h * yy, h * yz, 1.0 + h * zz, g0, g1, g2)  # (14.30)


@compiled(inline=True)
def stretching_force(run, s, d, dt):
    """f of a spring of a length; d: d*."""
    k, before = run.stiffness[s], (run.apart[s, 0], run.apart[s, 1], run.apart[s, 2])
    L = np.sqrt(dot(before, before))
    if L == 0.0:
        return 0.0, 0.0, 0.0
    n, w = scale(1.0 / L, before), 0.0
    for e in range(2):
        turn = cross(three_of(run.lever, s, e), n)
        w += run.per[s, e, 0] + run.per[s, e, 1] * dot(turn, turn)
    c = run.damping[s] + settling(k, w, dt)
    a, b = 0.25 * k + c / dt, 0.75 * k - c / dt
    u = n[0] * run.rate[s, 0] + n[1] * run.rate[s, 1] + n[2] * run.rate[s, 2]
    g = -(a * (np.sqrt(dot(d, d)) - run.rest[s]) + b * (L - run.rest[s]) - 0.25 * k * dt * u)
    return scale(g / (1.0 + dt * dt * a * w), n)  # (14.30)


@compiled(borrows=True)
def push_end(state, run, s, e, f, dt):
    """Let a force act on an end in the step that has been taken."""
    W, at = lane_count(state), run.place[s, e]
    if at < 0:
        return
    turn = scale(dt * run.per[s, e, 1], cross(three_of(run.lever, s, e), f))
    for c in range(3):
        v = dt * run.per[s, e, 0] * f[c]
        state[at + (7 + c) * W] += v
        state[at + (10 + c) * W] += turn[c]
        state[at + c * W] += dt * v
    qx, qy, qz = three(state, at + 4 * W, W)
    q = (np.float64(state[at + 3 * W]), qx, qy, qz)
    q = quaternion_multiply(quaternion_exp(scale(dt, turn)), q)
    for c in range(4):
        state[at + (3 + c) * W] = q[c]


@compiled(borrows=True)
def close_springs(state, run, dt):
    """Add to the step that has been taken the impulses of the springs."""
    for s in range(len(run.rest)):
        one, _ = place_end(state, run, s, 0)
        two, _ = place_end(state, run, s, 1)
        d = subtract(two, one)
        f = stretching_force(run, s, d, dt) if run.rest[s] > 0.0 else attaching_force(run, s, d, dt)
        push_end(state, run, s, 1, f, dt)
        push_end(state, run, s, 0, scale(-1.0, f), dt)
