"""Converged implicit midpoint steps of one floating body, many in one call, without allocation.

    u: velocity over the step,   x_m = x0 moved by h/2 u,   x1 = x0 moved by h u
    P(x_m, u) - P(x0, v0) = h/2 f(x_m, u),     P(x1, v1) - P(x0, v0) = h f(x_m, u)     both seen from the middle

The rule is that of `solvers.methods.midpoint`, with the momentum of `mass`: it is second order and symmetric in time,
and keeps linear and angular momentum to round-off. Newton's matrix M + h²/4 K + h/2 D is factored once a step; what it
leaves out, the turning of momentum, shrinks the residual by about h |w| / 2 an iteration.
"""

# mypy: ignore-errors
from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.ldlt import ldlt_factor, ldlt_solve
from supple.algebra.dense.rotation_kernels import cross, dexp_inverse_apply, rotation_update
from supple.bodies.floating.kernels import (
    Workspace,
    compute_mass,
    compute_moments,
    compute_momentum,
    compute_pull,
    compute_velocity_terms,
    mix,
    pull_modes,
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


class StrideWorkspace(NamedTuple):
    """Scratch: states and velocities of the start, the middle and the end; the matrix; vectors (6 + r,)."""

    start: Workspace
    middle: Workspace
    end: Workspace
    A: Array
    x: Array
    u: Array
    p0: Array
    p: Array
    f: Array
    residual: Array

    @classmethod
    def empty(cls, r: int) -> StrideWorkspace:
        """Workspace for r modes."""
        n = 6 + r
        rooms = (Workspace.empty(r) for _ in range(3))
        return cls(*rooms, np.empty((n, n)), np.empty(n + 1), *(np.empty(n) for _ in range(5)))


@compiled(borrows=True)
def move(x0, u, h, x_out):
    """x_out = x0 moved by h u."""
    for i in range(3):
        x_out[i] = x0[i] + h * u[i]
    a = rotation_update((x0[3], x0[4], x0[5], x0[6]), (h * u[3], h * u[4], h * u[5]))  # (1.2)
    x_out[3], x_out[4], x_out[5], x_out[6] = a
    for k in range(7, x0.size):
        x_out[k] = x0[k] + h * u[k - 1]


@compiled(borrows=True)
def compute_force(numbers, stride, x, u, workspace, f_out):
    """f_out (6 + r,): (force, torque, modes) in (world, body) axes at the moments of `workspace`."""
    r = stride.K.shape[0]
    g = (stride.gravity[0], stride.gravity[1], stride.gravity[2])
    G = turn_back(workspace.R, g)
    torque = cross((workspace.S[0], workspace.S[1], workspace.S[2]), G)  # (11.3)
    for i in range(3):
        f_out[i] = numbers.mass * g[i]  # (11.3)
    f_out[3], f_out[4], f_out[5] = torque
    U_bar = numbers.U_bar
    for l in range(r):
        total = U_bar[0, l] * G[0] + U_bar[1, l] * G[1] + U_bar[2, l] * G[2]
        for p in range(r):
            total -= stride.K[l, p] * x[7 + p] + stride.D[l, p] * u[6 + p]  # (11.3)
        f_out[6 + l] = total
    for k in range(stride.forces.shape[0]):
        world = (stride.forces[k, 0], stride.forces[k, 1], stride.forces[k, 2])
        F = turn_back(workspace.R, world)
        a, b, c = stride.points[k, 0], stride.points[k, 1], stride.points[k, 2]
        for l in range(r):
            s0, s1, s2 = stride.shapes[k, 0, l], stride.shapes[k, 1, l], stride.shapes[k, 2, l]
            a += s0 * x[7 + l]
            b += s1 * x[7 + l]
            c += s2 * x[7 + l]
            f_out[6 + l] += s0 * F[0] + s1 * F[1] + s2 * F[2]  # (11.3)
        torque = cross((a, b, c), F)  # (11.3)
        for i in range(3):
            f_out[i] += world[i]
            f_out[3 + i] += torque[i]


@compiled(borrows=True)
def norm(a):
    """|a|."""
    total = 0.0
    for k in range(a.size):
        total += a[k] * a[k]
    return math.sqrt(total)


@compiled(borrows=True)
def begin(numbers, x0, v0, workspace):
    """The momentum of the start: p0 with its angular part in world axes, and what pulls its modes back."""
    start, p0 = workspace.start, workspace.p0
    compute_moments(numbers, x0, start)
    compute_momentum(numbers, v0, start, p0)
    p0[3], p0[4], p0[5] = turn(start.R, (p0[3], p0[4], p0[5]))
    mix(numbers.W7, v0, start.V)
    compute_pull(v0, start)


@compiled(borrows=True)
def balance_middle(h, x0, x, p0, p, R, f, residual_out):
    """residual_out of the first half of a step: the frame goes from x0 to x with the momentum p of the middle."""
    arm = cross((x[0] - x0[0], x[1] - x0[1], x[2] - x0[2]), (p[0], p[1], p[2]))
    angular = turn_back(R, (p0[3] - arm[0], p0[4] - arm[1], p0[5] - arm[2]))  # (11.9)
    for i in range(3):
        residual_out[i] = p[i] - p0[i] - 0.5 * h * f[i]  # (11.11)
        residual_out[3 + i] = p[3 + i] - angular[i] - 0.5 * h * f[3 + i]  # (11.11)
    for k in range(6, f.size):
        residual_out[k] = p[k] - p0[k] - 0.5 * h * f[k]  # (11.11)


@compiled(borrows=True)
def find_middle(numbers, stride, h, tolerance, limit, x0, v0, workspace):
    """workspace.u and the middle state from the start; returns (outcome, iterations, relative residual)."""
    r, n = stride.K.shape[0], v0.size
    x, u, f, p, p0, residual, A, middle = (
        workspace.x,
        workspace.u,
        workspace.f,
        workspace.p,
        workspace.p0,
        workspace.residual,
        workspace.A,
        workspace.middle,
    )
    relative = 0.0
    for iteration in range(limit + 1):
        move(x0, u, 0.5 * h, x)  # (11.11)
        compute_moments(numbers, x, middle)
        compute_momentum(numbers, u, middle, p)
        pull_modes(numbers, v0, workspace.start, middle.R, p0)
        compute_force(numbers, stride, x, u, middle, f)
        balance_middle(h, x0, x, p0, p, middle.R, f, residual)
        scale = norm(p) + h * norm(f)
        relative = norm(residual) / scale if scale > 0.0 else 0.0
        if not relative > tolerance:
            return FINE, iteration, relative
        if iteration == limit:
            return NOT_CONVERGED, iteration, relative
        if iteration == 0:
            compute_mass(numbers, middle, A)
            for l in range(r):
                for q in range(r):
                    A[6 + l, 6 + q] += 0.25 * h * h * stride.K[l, q] + 0.5 * h * stride.D[l, q]
            if ldlt_factor(A) >= 0:
                return SINGULAR, iteration, relative
        ldlt_solve(A, residual)
        for k in range(n):
            u[k] -= residual[k]
    return NOT_CONVERGED, limit, relative


@compiled(borrows=True)
def find_end(numbers, h, x0, x1, v1_out, workspace):
    """v1_out from the momentum at the end, by one linear solve; returns an outcome."""
    r, A, end, middle, p0, f, x = (
        stride_size(numbers),
        workspace.A,
        workspace.end,
        workspace.middle,
        workspace.p0,
        workspace.f,
        workspace.x,
    )
    compute_moments(numbers, x1, end)
    compute_mass(numbers, end, A)  # its last rows are replaced by what the modes of the middle see
    R, N, W7, U_bar = end.R, end.N, numbers.W7, numbers.U_bar
    f0 = turn_back(middle.R, (R[0, 0], R[1, 0], R[2, 0]))
    f1 = turn_back(middle.R, (R[0, 1], R[1, 1], R[2, 1]))
    f2 = turn_back(middle.R, (R[0, 2], R[1, 2], R[2, 2]))
    for l in range(r):
        k = 9 * l
        a = turn(middle.R, (U_bar[0, l], U_bar[1, l], U_bar[2, l]))
        A[6 + l, 0], A[6 + l, 1], A[6 + l, 2] = a
        b0, b1, b2 = 0.0, 0.0, 0.0  # <N_l skew(w)^T, F> = w . sum_i (row i of N_l) x (row i of F)
        for i in range(3):
            n = k + 3 * i
            c = cross((N[n], N[n + 1], N[n + 2]), (f0[i], f1[i], f2[i]))
            b0, b1, b2 = b0 + c[0], b1 + c[1], b2 + c[2]
        A[6 + l, 3], A[6 + l, 4], A[6 + l, 5] = b0, b1, b2  # (11.10)
        v1_out[6 + l] = p0[6 + l] + h * f[6 + l]  # (11.12)
    for q in range(r):
        for l in range(r):
            k = 9 * l
            A[6 + l, 6 + q] = (  # (11.10)
                (W7[q, k] * f0[0] + W7[q, k + 1] * f1[0] + W7[q, k + 2] * f2[0])
                + (W7[q, k + 3] * f0[1] + W7[q, k + 4] * f1[1] + W7[q, k + 5] * f2[1])
                + (W7[q, k + 6] * f0[2] + W7[q, k + 7] * f1[2] + W7[q, k + 8] * f2[2])
            )
    p1 = (p0[0] + h * f[0], p0[1] + h * f[1], p0[2] + h * f[2])  # (11.12)
    before = cross((x0[0] - x[0], x0[1] - x[1], x0[2] - x[2]), (p0[0], p0[1], p0[2]))
    after = cross((x1[0] - x[0], x1[1] - x[1], x1[2] - x[2]), p1)  # (11.9)
    torque = turn(middle.R, (f[3], f[4], f[5]))
    v1_out[0], v1_out[1], v1_out[2] = p1
    L = turn_back(
        R,
        (
            p0[3] + before[0] - after[0] + h * torque[0],
            p0[4] + before[1] - after[1] + h * torque[1],
            p0[5] + before[2] - after[2] + h * torque[2],
        ),
    )
    v1_out[3], v1_out[4], v1_out[5] = L
    return solve_in_place(A, v1_out)


@compiled(inline=True)
def stride_size(numbers):
    """r."""
    return numbers.Me.shape[0]


@compiled(borrows=True)
def solve_in_place(A, b):
    """b <- A^-1 b by elimination with row pivots; A is spoilt. Returns an outcome."""
    n = b.size
    for k in range(n):
        best = k
        for i in range(k + 1, n):
            if abs(A[i, k]) > abs(A[best, k]):
                best = i
        if not abs(A[best, k]) > 0.0:
            return SINGULAR
        if best != k:
            b[k], b[best] = b[best], b[k]
            for j in range(k, n):
                A[k, j], A[best, j] = A[best, j], A[k, j]
        inverse, pivot = 1.0 / A[k, k], A[k, k + 1 :]
        for i in range(k + 1, n):
            factor, row = A[i, k] * inverse, A[i, k + 1 :]
            b[i] -= factor * b[k]
            for j in range(row.size):
                row[j] -= factor * pivot[j]
    for k in range(n - 1, -1, -1):
        b[k] /= A[k, k]
        for i in range(k):
            b[i] -= A[i, k] * b[k]
    return FINE


@compiled
def advance_steps(numbers, stride, h, steps, tolerance, limit, workspace, history, x, v):
    """`steps` steps of x (7 + r,), v (6 + r,) in place. Returns (outcome, steps made, most iterations, residual).

    history (3, 6 + r): u of the last step, of the one before it, and how many steps were made before these, in place.
    """
    n = v.size
    x1, v1, last, older = np.empty_like(x), np.empty_like(v), history[0], history[1]
    largest, worst = 0, 0.0
    for step in range(steps):
        begin(numbers, x, v, workspace)
        known = history[2, 0]
        for k in range(n):  # from v at the start, then by the second difference of v and the two last u
            if known == 0.0:
                workspace.u[k] = v[k]
            elif known == 1.0:
                workspace.u[k] = 2.0 * v[k] - last[k]
            else:
                workspace.u[k] = (8.0 * v[k] - 6.0 * last[k] + older[k]) / 3.0
        outcome, iterations, relative = find_middle(numbers, stride, h, tolerance, limit, x, v, workspace)
        largest, worst = max(largest, iterations), max(worst, relative)
        if outcome != FINE:
            return outcome, step, largest, relative
        move(x, workspace.u, h, x1)  # (11.12)
        outcome = find_end(numbers, h, x, x1, v1, workspace)
        if outcome != FINE:
            return outcome, step, largest, relative
        older[:] = last
        last[:] = workspace.u
        history[2, 0] = min(known + 1.0, 2.0)
        x[:] = x1
        v[:] = v1
    return FINE, steps, largest, worst


@compiled
def advance_explicitly(numbers, stride, h, steps, workspace, x, v):
    """`steps` classical Runge-Kutta steps on the rotation group, in place. Returns (outcome, steps made)."""
    n = v.size
    at, rate, d, d_sum, v_sum, now = (np.empty_like(x), np.empty(n), np.empty(n), np.empty(n), np.empty(n), np.empty(n))
    d_rate = np.empty(n)
    for step in range(steps):
        rate[:], d_rate[:], d_sum[:], v_sum[:] = 0.0, 0.0, 0.0, 0.0
        for stage in range(4):
            c = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
            b = 1.0 / 6.0 if stage == 0 or stage == 3 else 1.0 / 3.0
            for k in range(n):
                d[k] = c * h * d_rate[k]
                now[k] = v[k] + c * h * rate[k]
            move(x, d, 1.0, at)
            compute_moments(numbers, at, workspace.middle)
            compute_velocity_terms(numbers, now, workspace.middle)
            compute_force(numbers, stride, at, now, workspace.middle, rate)
            for k in range(n):
                rate[k] -= workspace.middle.h[k]  # (11.3)
            compute_mass(numbers, workspace.middle, workspace.A)
            if ldlt_factor(workspace.A) >= 0:
                return SINGULAR, step
            ldlt_solve(workspace.A, rate)
            d_rate[:] = now
            turned = dexp_inverse_apply((d[3], d[4], d[5]), (now[3], now[4], now[5]))  # (1.9), [MK98]
            d_rate[3], d_rate[4], d_rate[5] = turned
            for k in range(n):
                d_sum[k] += b * d_rate[k]
                v_sum[k] += b * rate[k]
        move(x, d_sum, h, at)
        x[:] = at
        for k in range(n):
            v[k] += h * v_sum[k]
    return FINE, steps
