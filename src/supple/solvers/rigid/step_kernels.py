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

BISECTIONS = 40  # of the way of a step of Newton's method on which friction turns round


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
                    u_out[m, i] += sign * d[a, i] + turning


@compiled
def add_pushed(c, f, h, b_out):
    """b_out (n, 6) += h J^T f of forces f (k, 3)."""
    for m in range(len(c.body)):
        for side in range(2):
            a, sign, B = c.body[m, side], 1.0 - 2.0 * side, c.B[m, side]
            if a >= 0:
                for i in range(3):
                    b_out[a, i] += h * sign * f[m, i]
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
                        out[i, j] += sign * TJ[i, j]
                        out[3 + i, j] += B[0, i] * TJ[0, j] + B[1, i] * TJ[1, j] + B[2, i] * TJ[2, j]


@compiled
def distance_between(a, b):
    """|a - b| of arrays (k, 3)."""
    total = 0.0
    for m in range(len(a)):
        for i in range(3):
            total += (a[m, i] - b[m, i]) ** 2
    return np.sqrt(total)


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
def solve_rigid(c, M, b, v, h, symmetric, limits, trial, d_out, pushes_out, law_out):
    """Change of velocity d_out (n, 6), forces pushes_out (k, 3) [N] and the law there; iterations, what is left open.

    M (n, 6, 6), b, v (n, 6). limits: most iterations, tolerance, halvings, and the part of a promise that a step has to
    keep. trial: a `Law` as room. Left is the larger of |law - pushes| and |M d - b - h J^T pushes|, relative.
    """
    n, k = len(M), len(c.body)
    most, tolerance, halvings, enough = limits
    order, start, rows, place, blocks = find_structure(n, c.body)
    A, rhs, d = np.empty((blocks, 6, 6)), np.empty((n, 6)), np.zeros((n, 6))
    given, u, reached, wanted = np.empty((k, 3)), np.empty((k, 3)), np.empty((k, 3)), np.empty((k, 3))
    l, way = np.zeros((k, 3)), np.empty((k, 3))
    compute_relative(c, v, given)
    u[:] = given
    law_at(c, h, u, symmetric, law_out)
    left = np.inf
    for iteration in range(1, most + 1):
        f, T = law_out.force.copy(), law_out.tangent
        apply_blocks(T, u, given, f, wanted)
        A[:] = 0.0
        for i in range(n):
            A[place[i, i]] = M[i]
        add_tangents(c, T, h, place, A)
        rhs[:] = b
        add_pushed(c, wanted, h, rhs)
        if not factor(order, start, rows, place, A):
            return iteration, np.inf
        substitute(order, start, rows, place, A, rhs, d_out)
        compute_relative(c, d_out, way)
        for m in range(k):
            for i in range(3):
                pushes_out[m, i] = wanted[m, i] - (
                    T[m, i, 0] * way[m, 0] + T[m, i, 1] * way[m, 1] + T[m, i, 2] * way[m, 2]
                )
                reached[m, i] = given[m, i] + way[m, i]
        law_at(c, h, reached, symmetric, law_out)
        left = left_open(c, h, reached, law_out.force, pushes_out)
        if not left > tolerance:
            return iteration, max(left, imbalance(c, M, b, h, d_out, pushes_out, rhs))
        size = search(c, h, symmetric, halvings, enough, f, u, l, reached, pushes_out, trial, law_out)
        for m in range(k):
            for i in range(3):
                u[m, i] += size * (reached[m, i] - u[m, i])
                l[m, i] += size * (pushes_out[m, i] - l[m, i])
        d += size * (d_out - d)
    return iteration, left


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
            wanted_out[m, i] = f[m, i] + T[m, i, 0] * x + T[m, i, 1] * y + T[m, i, 2] * z


@compiled
def search(c, h, symmetric, halvings, enough, f, u, l, reached, pushes, trial, law_out):
    """How much of Newton's way to go from (u, l) to (reached, pushes); law_out becomes the law there. See
    `ContactStep._search`."""
    before, best, size = distance_between(f, l), np.inf, 1.0
    s = turning_point(c, h, symmetric, enough, f, u, l, reached, pushes, trial, law_out)
    if s > 0.0:
        return s
    kept = (law_out.force.copy(), law_out.tangent.copy(), law_out.slip.copy(), law_out.mode.copy())
    for halving in range(halvings):
        s = 0.5**halving
        if halving > 0:
            law_at(c, h, u + s * (reached - u), symmetric, trial)
        else:
            copy_law(law_out, trial)
        off = distance_between(trial.force - l, s * (pushes - l))
        if off < best:
            best, size = off, s
            kept[0][:], kept[1][:], kept[2][:], kept[3][:] = trial.force, trial.tangent, trial.slip, trial.mode
        if off <= (1.0 - enough * s) * before:
            copy_law(trial, law_out)
            return s
    law_out.force[:], law_out.tangent[:], law_out.slip[:], law_out.mode[:] = kept
    return size


@compiled
def turning_point(c, h, symmetric, enough, f, u, l, reached, pushes, trial, law_out):
    """See `ContactStep._turning_point`: the part of the way, law_out becomes the law there; 0: none, as it was."""
    before, low, high = distance_between(f, l), 0.0, 1.0
    first = f - l
    if np.sum((law_out.force - pushes) * first) >= 0.0:
        return 0.0
    if distance_between(law_out.force, pushes) <= (1.0 - enough) * before:
        return 0.0
    for _ in range(BISECTIONS):
        s = 0.5 * (low + high)
        law_at(c, h, u + s * (reached - u), symmetric, trial)
        left = trial.force - l - s * (pushes - l)
        if np.sqrt(np.sum(left * left)) <= (1.0 - enough) * before:
            copy_law(trial, law_out)
            return s
        if np.sum(left * first) > 0.0:
            low = s
        else:
            high = s
    return 0.0


@compiled
def copy_law(law, law_out):
    """Copy all of a law."""
    law_out.force[:], law_out.tangent[:] = law.force, law.tangent
    law_out.slip[:], law_out.mode[:] = law.slip, law.mode
