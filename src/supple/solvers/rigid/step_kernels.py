"""Newton's method for the contacts of rigid bodies in one compiled call; equations and symbols of `contact_steps`.

(M + h J^T T J) d = b + h J^T (f_* + T (u_* - J v)),      J = (+-I, B) for each side of a contact
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.interaction.contact_kernels import ROUNDING, compute_contacts
from supple.solvers.rigid.matrix_kernels import factor, find_structure, substitute
from supple.solvers.rigid.search_kernels import search


class RigidContacts(NamedTuple):
    """k contacts of one step. body (k, 2): rows of the bodies, -1: none; B (k, 2, 3, 3) [m]: J of angular velocities;
    all others as in `ContactSet`."""

    body: np.ndarray
    B: np.ndarray
    gap: np.ndarray
    normal: np.ndarray
    slip: np.ndarray
    stiffness: np.ndarray
    tangential_stiffness: np.ndarray
    dashpot: np.ndarray
    tangential_dashpot: np.ndarray
    friction: np.ndarray


class Law(NamedTuple):
    """What the law says: force (k, 3) [N], tangent (k, 3, 3) [N s/m], slip (k, 3) [m], mode (k,)."""

    force: np.ndarray
    tangent: np.ndarray
    slip: np.ndarray
    mode: np.ndarray


@compiled
def law_at(c, h, u, symmetric, law_out):
    """The law at relative velocities u (k, 3) [m/s]."""
    compute_contacts(
        h, c.gap, c.normal, c.slip, c.stiffness, c.tangential_stiffness, c.dashpot, c.tangential_dashpot, c.friction, u,
        symmetric,
        law_out.force, law_out.tangent, law_out.slip, law_out.mode,
    )  # fmt: skip


@compiled
def compute_relative(c, d, u_out):
    """u_out (k, 3) = J d of velocities d (n, 6)."""
    for m in range(len(c.body)):
        for i in range(3):
            u_out[m, i] = 0.0
        for side in range(2):
            a, sign, B = c.body[m, side], 1.0 - 2.0 * side, c.B[m, side]
            if a >= 0:
                for i in range(3):
                    turning = B[i, 0] * d[a, 3] + B[i, 1] * d[a, 4] + B[i, 2] * d[a, 5]
                    u_out[m, i] += sign * d[a, i] + turning  # (16.10)


@compiled
def add_pushed(c, f, h, b_out):
    """b_out (n, 6) += h J^T f of forces f (k, 3)."""
    for m in range(len(c.body)):
        for side in range(2):
            a, sign, B = c.body[m, side], 1.0 - 2.0 * side, c.B[m, side]
            if a >= 0:
                for i in range(3):
                    b_out[a, i] += h * sign * f[m, i]  # (16.10)
                    b_out[a, 3 + i] += h * (B[0, i] * f[m, 0] + B[1, i] * f[m, 1] + B[2, i] * f[m, 2])


@compiled
def add_tangents(c, T, h, place, A_out):
    """A_out (., 6, 6) += h J^T T J."""
    TJ = np.empty((3, 6))
    for m in range(len(c.body)):
        if T[m, 0, 0] == 0.0 and T[m, 1, 1] == 0.0 and T[m, 2, 2] == 0.0:
            continue
        for two in range(2):
            b = c.body[m, two]
            if b < 0:
                continue
            sign, B = h * (1.0 - 2.0 * two), c.B[m, two]
            for i in range(3):
                for j in range(3):
                    TJ[i, j] = sign * T[m, i, j]
                    TJ[i, 3 + j] = h * (T[m, i, 0] * B[0, j] + T[m, i, 1] * B[1, j] + T[m, i, 2] * B[2, j])
            for one in range(2):
                a = c.body[m, one]
                if a < 0:
                    continue
                out, sign, B = A_out[place[a, b]], 1.0 - 2.0 * one, c.B[m, one]
                for i in range(3):
                    for j in range(6):
                        out[i, j] += sign * TJ[i, j]  # (16.10)
                        out[3 + i, j] += B[0, i] * TJ[0, j] + B[1, i] * TJ[1, j] + B[2, i] * TJ[2, j]


@compiled
def left_open(c, h, u, law, pushes):
    """|law - pushes| over the larger of both, without what rounding of gaps and ways may make of it."""
    scale, total = 0.0, 0.0
    for m in range(len(law)):
        way = abs(c.gap[m])
        for i in range(3):
            way += h * abs(u[m, i])
        noise = ROUNDING * c.stiffness[m] * way
        for i in range(3):
            scale += max(abs(law[m, i]), abs(pushes[m, i])) ** 2
            total += max(0.0, abs(law[m, i] - pushes[m, i]) - noise) ** 2
    return np.sqrt(total / scale) if scale > 0.0 else 0.0


@compiled
def solve_rigid(c, M, b, v, h, symmetric, limits, d_out, pushes_out, law_out):
    """Change of velocity d_out (n, 6), forces pushes_out (k, 3) [N] and the law there; iterations, what is left open.

    M (n, 6, 6), b, v (n, 6). limits: most iterations, tolerance. Left is the larger of |law - pushes| and
    |M d - b - h J^T pushes|, relative. Where Newton's way leads uphill, which friction that grows with pressure can
    do, it is taken as if friction did not grow: A is then symmetric and positive, and the way leads down.
    """
    n, k = len(M), len(c.body)
    most, tolerance = limits
    pattern = find_structure(n, c.body)
    A, rhs, d = np.empty((pattern[4], 6, 6)), np.empty((n, 6)), np.zeros((n, 6))
    given, u, reached, wanted = np.empty((k, 3)), np.empty((k, 3)), np.empty((k, 3)), np.empty((k, 3))
    compute_relative(c, v, given)
    u[:] = given
    left = np.inf
    law_at(c, h, u, symmetric, law_out)
    for iteration in range(1, most + 1):
        apply_blocks(law_out.tangent, u, given, law_out.force, wanted)
        if not solve_linearised(c, M, b, h, pattern, law_out.tangent, wanted, A, rhs, d_out):
            return iteration, np.inf
        compute_reached(c, given, law_out.tangent, wanted, d_out, reached, pushes_out)
        law_at(c, h, reached, symmetric, law_out)
        left = left_open(c, h, reached, law_out.force, pushes_out)
        if not left > tolerance:
            return iteration, max(left, imbalance(c, M, b, h, d_out, pushes_out, rhs))
        size = search(c, M, b, h, d, d_out, u, reached)
        if size == 0.0 and not symmetric:
            law_at(c, h, u, True, law_out)
            apply_blocks(law_out.tangent, u, given, law_out.force, wanted)
            if not solve_linearised(c, M, b, h, pattern, law_out.tangent, wanted, A, rhs, d_out):
                return iteration, np.inf
            compute_reached(c, given, law_out.tangent, wanted, d_out, reached, pushes_out)
            size = search(c, M, b, h, d, d_out, u, reached)
        size = 1.0 if size == 0.0 else size
        for m in range(k):
            for i in range(3):
                u[m, i] += size * (reached[m, i] - u[m, i])
        for i in range(n):
            for j in range(6):
                d[i, j] += size * (d_out[i, j] - d[i, j])
        law_at(c, h, u, symmetric, law_out)
    return iteration, left


@compiled
def solve_linearised(c, M, b, h, pattern, T, wanted, A, rhs, d_out):
    """d_out (n, 6) of (M + h J^T T J) d = b + h J^T wanted; A, rhs: room. False: singular."""
    order, start, rows, place, _ = pattern
    A[:] = 0.0
    for i in range(len(M)):
        A[place[i, i]] = M[i]
    add_tangents(c, T, h, place, A)  # (16.10)
    rhs[:] = b
    add_pushed(c, wanted, h, rhs)
    if not factor(order, start, rows, place, A):
        return False
    substitute(order, start, rows, place, A, rhs, d_out)
    return True


@compiled
def compute_reached(c, given, T, wanted, d, reached_out, pushes_out):
    """Relative velocities reached_out (k, 3) = given + J d, and forces pushes_out (k, 3) = wanted - T J d."""
    compute_relative(c, d, reached_out)
    for m in range(len(wanted)):
        x, y, z = reached_out[m, 0], reached_out[m, 1], reached_out[m, 2]
        for i in range(3):
            pushes_out[m, i] = wanted[m, i] - (T[m, i, 0] * x + T[m, i, 1] * y + T[m, i, 2] * z)
            reached_out[m, i] += given[m, i]


@compiled
def imbalance(c, M, b, h, d, pushes, room):
    """|M d - b - h J^T pushes| over |b|."""
    room[:] = b
    add_pushed(c, pushes, h, room)
    off, whole = 0.0, 0.0
    for i in range(len(M)):
        for j in range(6):
            momentum = 0.0
            for k in range(6):
                momentum += M[i, j, k] * d[i, k]
            off += (momentum - room[i, j]) ** 2
            whole += b[i, j] ** 2
    return np.sqrt(off / whole) if whole > 0.0 else np.sqrt(off)


@compiled
def apply_blocks(T, u, given, f, wanted_out):
    """wanted_out (k, 3) = f + T (u - given)."""
    for m in range(len(f)):
        x, y, z = u[m, 0] - given[m, 0], u[m, 1] - given[m, 1], u[m, 2] - given[m, 2]
        for i in range(3):
            wanted_out[m, i] = f[m, i] + T[m, i, 0] * x + T[m, i, 1] * y + T[m, i, 2] * z  # (16.10)
