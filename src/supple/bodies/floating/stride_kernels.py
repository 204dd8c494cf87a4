"""Converged implicit midpoint steps of one floating body, many in one call, without allocation.

    u: velocity over the step,   x_m = x0 moved by h/2 u,   x1 = x0 moved by h u
    P(x_m, u) - P(x0, v0) = h/2 f(x_m, u),     P(x1, v1) - P(x0, v0) = h f(x_m, u)     both seen from the middle

The rule is that of `supple.solvers.midpoint`, with the momentum of `mass`: it is second order and symmetric in time, and
keeps linear and angular momentum to round-off. Newton's matrix M + h²/4 K + h/2 D is factored once a step; what it
leaves out, the turning of momentum, shrinks the residual by about h |w| / 2 an iteration.
"""

# mypy: ignore-errors
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from supple.algebra.compiling import compiled
from supple.algebra.ldlt import ldlt_factor, ldlt_solve
from supple.algebra.rotation_kernels import cross, rotation_update
from supple.bodies.floating.kernels import (
    Room,
    compute_mass,
    compute_moments,
    compute_momentum,
    mix,
    turn,
    turn_back,
)

Array = np.ndarray
FINE, SINGULAR, NOT_CONVERGED = 0, 1, 2


class StrideNumbers(NamedTuple):
    """K, D (r, r); gravity (3,) [m/s²]; points X (k, 3) with shapes (k, 3, r) and world forces (k, 3) [N]."""

    K: Array
    D: Array
    gravity: Array
    points: Array
    shapes: Array
    forces: Array


class StrideRoom(NamedTuple):
    """Scratch: states and velocities of the start, the middle and the end; the matrix; vectors (6 + r,)."""

    start: Room
    middle: Room
    end: Room
    A: Array
    x: Array
    u: Array
    before: Array
    p0: Array
    p: Array
    f: Array
    residual: Array

    @classmethod
    def empty(cls, r: int) -> StrideRoom:
        """Room for r modes."""
        n = 6 + r
        rooms = (Room.empty(r) for _ in range(3))
        return cls(*rooms, np.empty((n, n)), np.empty(n + 1), *(np.empty(n) for _ in range(6)))


@compiled(borrows=True)
def move(x0, u, h, x_out):
    """x_out = x0 moved by h u."""
    for i in range(3):
        x_out[i] = x0[i] + h * u[i]
    a = rotation_update((x0[3], x0[4], x0[5], x0[6]), (h * u[3], h * u[4], h * u[5]))
    x_out[3], x_out[4], x_out[5], x_out[6] = a
    for k in range(7, x0.size):
        x_out[k] = x0[k] + h * u[k - 1]


@compiled(borrows=True)
def compute_force(numbers, stride, x, u, room, f_out):
    """f_out (6 + r,): (force, torque, modes) in (world, body) axes at the moments of `room`."""
    r = stride.K.shape[0]
    g = (stride.gravity[0], stride.gravity[1], stride.gravity[2])
    G = turn_back(room.R, g)
    torque = cross((room.S[0], room.S[1], room.S[2]), G)
    for i in range(3):
        f_out[i] = numbers.mass * g[i]
    f_out[3], f_out[4], f_out[5] = torque
    U_bar = numbers.U_bar
    for l in range(r):
        total = U_bar[0, l] * G[0] + U_bar[1, l] * G[1] + U_bar[2, l] * G[2]
        for p in range(r):
            total -= stride.K[l, p] * x[7 + p] + stride.D[l, p] * u[6 + p]
        f_out[6 + l] = total
    for k in range(stride.forces.shape[0]):
        world = (stride.forces[k, 0], stride.forces[k, 1], stride.forces[k, 2])
        F = turn_back(room.R, world)
        a, b, c = stride.points[k, 0], stride.points[k, 1], stride.points[k, 2]
        for l in range(r):
            s0, s1, s2 = stride.shapes[k, 0, l], stride.shapes[k, 1, l], stride.shapes[k, 2, l]
            a += s0 * x[7 + l]
            b += s1 * x[7 + l]
            c += s2 * x[7 + l]
            f_out[6 + l] += s0 * F[0] + s1 * F[1] + s2 * F[2]
        torque = cross((a, b, c), F)
        for i in range(3):
            f_out[i] += world[i]
            f_out[3 + i] += torque[i]


@compiled(borrows=True)
def seen_from(R, c, x, p, factor, out):
    """out += factor times the momentum p of a state at x, its angular part moved to c and turned to the axes R."""
    arm = cross((x[0] - c[0], x[1] - c[1], x[2] - c[2]), (p[0], p[1], p[2]))
    angular = turn_back(R, (p[3] + arm[0], p[4] + arm[1], p[5] + arm[2]))
    for i in range(3):
        out[i] += factor * p[i]
        out[3 + i] += factor * angular[i]
    for k in range(6, out.size):
        out[k] += factor * p[k]


@compiled(borrows=True)
def norm(a):
    """|a|."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * a[k]
    return math.sqrt(total)


@compiled(borrows=True)
def find_middle(numbers, stride, h, tolerance, limit, x0, v0, room):
    """room.u and the middle state from the start; returns (outcome, iterations, relative residual)."""
    r, n = stride.K.shape[0], v0.size
    x, u, f, residual, A, middle = room.x, room.u, room.f, room.residual, room.A, room.middle
    relative = 0.0
    for iteration in range(limit + 1):
        move(x0, u, 0.5 * h, x)
        compute_moments(numbers, x, middle)
        mix(numbers.W7, u, middle.V)
        compute_momentum(numbers, u, middle, middle.R, room.p)
        compute_momentum(numbers, v0, room.start, middle.R, room.p0)
        compute_force(numbers, stride, x, u, middle, f)
        for k in range(n):
            residual[k] = -0.5 * h * f[k]
        seen_from(middle.R, x, x, room.p, 1.0, residual)
        scale = norm(room.p) + h * norm(f)
        seen_from(middle.R, x, x0, room.p0, -1.0, residual)
        relative = norm(residual) / scale if scale > 0.0 else 0.0
        if not relative > tolerance:
            return FINE, iteration, relative
        if iteration == limit:
            return NOT_CONVERGED, iteration, relative
        if iteration == 0:
            compute_mass(numbers, middle, A)
            for l in range(r):
                for p in range(r):
                    A[6 + l, 6 + p] += 0.25 * h * h * stride.K[l, p] + 0.5 * h * stride.D[l, p]
            if ldlt_factor(A) >= 0:
                return SINGULAR, iteration, relative
        ldlt_solve(A, residual)
        for k in range(n):
            u[k] -= residual[k]
    return NOT_CONVERGED, limit, relative


@compiled(borrows=True)
def find_end(numbers, h, limit, x0, x1, v1, room):
    """v1 (a guess on entry) from the momentum at the end; returns an outcome."""
    n = v1.size
    A, residual, end, middle = room.A, room.residual, room.end, room.middle
    compute_moments(numbers, x1, end)
    compute_mass(numbers, end, A)
    if ldlt_factor(A) >= 0:
        return SINGULAR
    for _ in range(limit):
        mix(numbers.W7, v1, end.V)
        compute_momentum(numbers, v1, end, middle.R, room.p)
        for k in range(n):
            residual[k] = h * room.f[k]
        seen_from(middle.R, room.x, x0, room.p0, 1.0, residual)
        scale = norm(residual)
        seen_from(middle.R, room.x, x1, room.p, -1.0, residual)
        left = norm(residual)
        body = turn_back(end.R, turn(middle.R, (residual[3], residual[4], residual[5])))
        residual[3], residual[4], residual[5] = body
        ldlt_solve(A, residual)
        for k in range(n):
            v1[k] += residual[k]
        if not left > 1e-13 * scale:
            return FINE
    return FINE if left <= 1e-9 * scale else NOT_CONVERGED


@compiled
def advance_steps(numbers, stride, h, steps, tolerance, limit, room, x, v):
    """`steps` steps of x (7 + r,), v (6 + r,) in place. Returns (outcome, steps made, most iterations, residual)."""
    n = v.size
    x1, v1 = np.empty_like(x), np.empty_like(v)
    room.before[:] = v
    most, worst = 0, 0.0
    for step in range(steps):
        compute_moments(numbers, x, room.start)
        mix(numbers.W7, v, room.start.V)
        for k in range(n):
            room.u[k] = v[k] + 0.5 * (v[k] - room.before[k])
        outcome, iterations, relative = find_middle(numbers, stride, h, tolerance, limit, x, v, room)
        most, worst = max(most, iterations), max(worst, relative)
        if outcome != FINE:
            return outcome, step, most, relative
        move(x, room.u, h, x1)
        for k in range(n):
            v1[k] = 2.0 * room.u[k] - v[k]
        outcome = find_end(numbers, h, limit, x, x1, v1, room)
        if outcome != FINE:
            return outcome, step, most, relative
        room.before[:] = v
        x[:] = x1
        v[:] = v1
    return FINE, steps, most, worst
