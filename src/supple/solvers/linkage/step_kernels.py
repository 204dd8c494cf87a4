"""Midpoint steps of frames on joints, many in one call, without allocation.

The rule is that of `solvers.methods.midpoint`, the arithmetic of a body that of `bodies.floating`:

    P(x_m, u) - P(x0, v0) = h/2 (f + P^T l),    phi(x1) = 0
    P: rows of meetings as the mean of both ends, of angles in the middle, torques in the axes of the middle

    [A  -P^T] [du    ]   [-r     ]        A = M + h²/4 K + h/2 D, body by body
    [G    0 ] [h/2 dl] = [-phi/h ]        S = G A^-1 P^T is dense: linkages have few rows

The matrix is factored once a step, and again where the iteration is slow. v1 follows from the momentum at the end and
is projected on the tangent of the joints there.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.addresses import address_at
from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.ldlt import ldlt_factor, ldlt_solve
from supple.bodies.floating.kernels import (
    InertiaNumbers,
    compute_mass,
    compute_moments,
    compute_momentum,
    pull_modes,
    set_rotation,
)
from supple.bodies.floating.stride_kernels import (
    FINE,
    NOT_CONVERGED,
    SINGULAR,
    StrideNumbers,
    StrideWorkspace,
    balance_middle,
    begin,
    compute_force,
    find_end,
    move,
    norm,
)
from supple.solvers.linkage.row_kernels import (
    END,
    MIDDLE,
    START,
    add_rows_of,
    factor_rows,
    place_points,
    solve_rows,
    violate,
)

Array = np.ndarray
SLOW = 0.2
"""A residual that falls to more than this part in an iteration asks for a new matrix."""
LEAST_PIVOT = 1e-9
"""Of scaled rows: below it rows count as redundant, which the general way solves."""


class LinkedBody(NamedTuple):
    """A frame with r modes, n = 6 + r. x (7 + r,), v (n,) at the start, x1, v1 at the end of a step.

    at (3, 7 + r), turns (3, 3, 3): x and R at the start, in the middle and at the end, the memory of those here and in
    the workspace; history (3, n) as of `advance_steps`. rows (k,): numbers of the rows that hold it; P, G, Y (k, n):
    these rows, and A^-1 P^T.
    """

    numbers: InertiaNumbers
    stride: StrideNumbers
    workspace: StrideWorkspace
    x: Array
    v: Array
    x1: Array
    v1: Array
    at: Array
    turns: Array
    history: Array
    rows: Array
    P: Array
    G: Array
    Y: Array


@compiled(borrows=True)
def put(values, out):
    """out = values, of equal length."""
    for k in range(out.size):
        out[k] = values[k]


@compiled(borrows=True)
def guess(body):
    """u of a step from v at its start, then by the second difference of v and the two last u."""
    u, v, last, older, known = body.workspace.u, body.v, body.history[0], body.history[1], body.history[2, 0]
    for k in range(v.size):
        if known == 0.0:
            u[k] = v[k]
        elif known == 1.0:
            u[k] = 2.0 * v[k] - last[k]
        else:
            u[k] = (8.0 * v[k] - 6.0 * last[k] + older[k]) / 3.0


@compiled(borrows=True)
def evaluate(body, h):
    """Momentum and force in the middle, and the rotation at the end, by u; returns |P|² and |f|²."""
    workspace = body.workspace
    u, p, f, middle = workspace.u, workspace.p, workspace.f, workspace.middle
    move(body.x, u, 0.5 * h, workspace.x)  # (11.11)
    compute_moments(body.numbers, workspace.x, middle)
    compute_momentum(body.numbers, u, middle, p)
    pull_modes(body.numbers, body.v, workspace.start, middle.R, workspace.p0)
    compute_force(body.numbers, body.stride, workspace.x, u, middle, f)
    move(body.x, u, h, body.x1)  # (11.12)
    set_rotation(body.x1[3:7], workspace.end.R)
    size_p, size_f = norm(p), norm(f)
    body.P[:] = 0.0
    return size_p * size_p, size_f * size_f


@compiled(borrows=True)
def balance(body, h, multipliers):
    """f += P^T l, and the residual; returns its square."""
    workspace = body.workspace
    f, residual = workspace.f, workspace.residual
    for k in range(body.rows.size):
        l, row = multipliers[body.rows[k]], body.P[k]
        for i in range(row.size):
            f[i] += l * row[i]
    balance_middle(h, body.x, workspace.x, workspace.p0, workspace.p, workspace.middle.R, f, residual)
    size = norm(residual)
    return size * size


@compiled(borrows=True)
def factor_body(body, h):
    """A <- its factors, from the middle, and Y = A^-1 P^T; returns whether A is regular."""
    workspace, stride = body.workspace, body.stride
    A, r = workspace.A, stride.K.shape[0]
    compute_mass(body.numbers, workspace.middle, A)
    for l in range(r):
        for q in range(r):
            A[6 + l, 6 + q] += 0.25 * h * h * stride.K[l, q] + 0.5 * h * stride.D[l, q]
    return solve_body_rows(body, body.P)


@compiled(borrows=True)
def solve_body_rows(body, pull):
    """A <- its factors and Y = A^-1 of rows; returns whether A is regular."""
    A = body.workspace.A
    if ldlt_factor(A) >= 0:
        return False
    for k in range(body.rows.size):
        put(pull[k], body.Y[k])
        ldlt_solve(A, body.Y[k])
    return True


@compiled(borrows=True)
def add_schur(body, S):
    """S += G Y^T of a body."""
    for i in range(body.rows.size):
        for j in range(body.rows.size):
            total = 0.0
            for k in range(body.v.size):
                total += body.G[i, k] * body.Y[j, k]
            S[body.rows[i], body.rows[j]] += total


@compiled(borrows=True)
def add_along(body, vector, y):
    """y += G vector, of the rows of a body."""
    for i in range(body.rows.size):
        total = 0.0
        for k in range(vector.size):
            total += body.G[i, k] * vector[k]
        y[body.rows[i]] += total


@compiled(borrows=True)
def add_pulled(body, y, vector):
    """vector += Y^T y."""
    for i in range(body.rows.size):
        value = y[body.rows[i]]
        for k in range(vector.size):
            vector[k] += value * body.Y[i, k]


@compiled(borrows=True)
def factor_linkage(bodies, count, rows, h):
    """A of the bodies and S of the rows, from the states of an iteration; returns an outcome."""
    rows.S[:] = 0.0
    for b in range(count):
        body = address_at(bodies, b)
        body.G[:] = 0.0
        if not factor_body(body, h):
            return SINGULAR
    add_rows_of(bodies, rows, END, 1.0, 1.0, False)
    for b in range(count):
        add_schur(address_at(bodies, b), rows.S)
    return FINE if factor_rows(rows) > LEAST_PIVOT else SINGULAR


@compiled(borrows=True)
def correct(bodies, count, rows, h, multipliers):
    """Newton's step of u and the multipliers by the factors that are there."""
    for i in range(rows.y.size):
        rows.y[i] = -rows.violation[i] / h
    for b in range(count):
        body = address_at(bodies, b)
        ldlt_solve(body.workspace.A, body.workspace.residual)
        add_along(body, body.workspace.residual, rows.y)
    solve_rows(rows)
    for b in range(count):
        body = address_at(bodies, b)
        u, residual = body.workspace.u, body.workspace.residual
        for k in range(u.size):
            u[k] -= residual[k]
        add_pulled(body, rows.y, u)
    for i in range(rows.y.size):
        multipliers[i] += rows.y[i] / (0.5 * h)


@compiled(borrows=True)
def find_linkage_middle(bodies, count, rows, h, tolerance, opening, limit, multipliers):
    """u of all bodies and the multipliers; returns (outcome, iterations, relative residual)."""
    relative, before, is_factored = 0.0, np.inf, False
    for iteration in range(limit + 1):
        size_p, size_f, size_r = 0.0, 0.0, 0.0
        for b in range(count):
            p, f = evaluate(address_at(bodies, b), h)
            size_p += p
            size_f += f
        place_points(bodies, rows, MIDDLE)
        place_points(bodies, rows, END)
        add_rows_of(bodies, rows, START, 0.5, 0.0, True)
        add_rows_of(bodies, rows, END, 0.5, 0.0, True)
        add_rows_of(bodies, rows, MIDDLE, 0.0, 1.0, True)
        open_rows = violate(rows, END)
        for b in range(count):
            size_r += balance(address_at(bodies, b), h, multipliers)
        scale = np.sqrt(size_p) + h * np.sqrt(size_f)
        relative = np.sqrt(size_r) / scale if scale > 0.0 else np.sqrt(size_r)
        if relative <= tolerance and open_rows <= opening:
            return FINE, iteration, relative
        now = max(relative / tolerance, open_rows / opening)
        if iteration == limit or not now < np.inf:
            return NOT_CONVERGED, iteration, relative
        if not is_factored or now > SLOW * before:
            if factor_linkage(bodies, count, rows, h) != FINE:
                return SINGULAR, iteration, relative
            is_factored = True
        before = now
        correct(bodies, count, rows, h, multipliers)
    return NOT_CONVERGED, limit, relative


@compiled(borrows=True)
def find_linkage_end(bodies, count, rows, h):
    """v1 of all bodies, on the tangent of the joints at the end; returns an outcome."""
    rows.S[:] = 0.0
    rows.y[:] = 0.0
    for b in range(count):
        body = address_at(bodies, b)
        body.G[:] = 0.0
        if find_end(body.numbers, h, body.x, body.x1, body.v1, body.workspace) != FINE:
            return SINGULAR
    add_rows_of(bodies, rows, END, 1.0, 1.0, False)
    for b in range(count):
        body = address_at(bodies, b)
        compute_mass(body.numbers, body.workspace.end, body.workspace.A)
        if not solve_body_rows(body, body.G):
            return SINGULAR
        add_schur(body, rows.S)
        add_along(body, body.v1, rows.y)
    if not factor_rows(rows) > LEAST_PIVOT:
        return SINGULAR
    solve_rows(rows)
    for i in range(rows.y.size):
        rows.y[i] = -rows.y[i]
    for b in range(count):
        body = address_at(bodies, b)
        add_pulled(body, rows.y, body.v1)
    return FINE


@compiled(borrows=True)
def accept(body):
    """The end becomes the start; what the next step extrapolates from."""
    known = body.history[2, 0]
    put(body.history[0], body.history[1])
    put(body.workspace.u, body.history[0])
    body.history[2, 0] = min(known + 1.0, 2.0)
    put(body.x1, body.x)
    put(body.v1, body.v)


@compiled
def advance_linkage(bodies, count, rows, h, steps, tolerance, opening, limit, multipliers, kept):
    """`steps` steps of all bodies and the multipliers (m,) in place. kept (m,): scratch, the multipliers of the last
    step made. Returns (outcome, steps made, most iterations, worst residual)."""
    largest, worst = 0, 0.0
    for step in range(steps):
        put(multipliers, kept)
        for b in range(count):
            body = address_at(bodies, b)
            begin(body.numbers, body.x, body.v, body.workspace)
            guess(body)
        place_points(bodies, rows, START)
        outcome, iterations, relative = find_linkage_middle(
            bodies, count, rows, h, tolerance, opening, limit, multipliers
        )
        if outcome == FINE:
            outcome = find_linkage_end(bodies, count, rows, h)
        if outcome != FINE:
            put(kept, multipliers)
            return outcome, step, largest, relative
        largest, worst = max(largest, iterations), max(worst, relative)
        for b in range(count):
            accept(address_at(bodies, b))
    return FINE, steps, largest, worst
