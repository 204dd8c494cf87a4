"""Points on all domains of a tree, from its coordinates and back, in compiled loops over the domains.

    R_j = R_i T_j,  o_j = o_i + R_i s_i (xh + ah q_i),  T_j: polar rotation of A + sum_l q_l A_l        [BZ11, eq. 11]
    u_j = u_i + R_i (w_i x arm + s_i ah q'_i),          w_j = T_j^T (w_i + Gamma q'_i)
    x = o + R s (X + U q),     v = u + R (w x s (X + U q) + s U q')

The way back of forces is the transpose, leaves to root. Parents come before their children. How interfaces turn in
their parents does not depend on these, and is found for lanes of them at once.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.polar_kernels import polar_rate_by, polar_rotation, polar_solver, polar_stretch
from supple.algebra.dense.rotation_kernels import quaternion_matrix
from supple.algebra.lanes.lane_type import LANES, lane_sum, load, store

Array = np.ndarray
FIT = 16
"""Numbers of an interface by a coordinate: A_l (9), ah (3), and zeros."""


class Chain(NamedTuple):
    """Of d domains: parent, fit (which interface), start (d + 1,) of coordinates, scale, first: row of their class.

    places (d + 1,): where the points of a domain begin. Of interfaces, flat, in rows of FIT numbers, A (9), xh (3) and
    zeros: at rest (f,), and by each coordinate, from row mode[f] on. Of points of the classes: X (m, 3) [m], U (m, 3,
    r).
    """

    parent: Array
    fit: Array
    start: Array
    scale: Array
    first: Array
    places: Array
    rest: Array
    mode: Array
    modes: Array
    X: Array
    U: Array


class Frames(NamedTuple):
    """Of d domains: R, T (d, 9): in the world, in the parent; o (d, 3) [m]; arm (d, 3) [m] from the parent's origin.

    solver (d, 9): gives the angular velocity of the interface by the rate of its A, see `polar_solver`.
    """

    R: Array
    T: Array
    o: Array
    arm: Array
    solver: Array

    @classmethod
    def empty(cls, count: int) -> Frames:
        """Scratch for so many domains."""
        return cls(*(np.zeros((count, width)) for width in (9, 9, 3, 3, 9)))


@compiled(inline=True)
def nine(A, k):
    """Row k of nine values."""
    return A[k, 0], A[k, 1], A[k, 2], A[k, 3], A[k, 4], A[k, 5], A[k, 6], A[k, 7], A[k, 8]


@compiled(inline=True)
def times(R, k, a, b, c):
    """Matrix of row k times a vector."""
    return (
        R[k, 0] * a + R[k, 1] * b + R[k, 2] * c,
        R[k, 3] * a + R[k, 4] * b + R[k, 5] * c,
        R[k, 6] * a + R[k, 7] * b + R[k, 8] * c,
    )


@compiled(inline=True)
def back(R, k, a, b, c):
    """Its transpose times a vector."""
    return (
        R[k, 0] * a + R[k, 3] * b + R[k, 6] * c,
        R[k, 1] * a + R[k, 4] * b + R[k, 7] * c,
        R[k, 2] * a + R[k, 5] * b + R[k, 8] * c,
    )


@compiled(inline=True)
def add_fit(chain, k, values, out, factor):
    """out (FIT) = factor times what the interface of domain k is at rest, plus what its parent's values (n,) give."""
    i, interface = chain.parent[k], chain.fit[k]
    at, r, first = chain.start[i], chain.start[i + 1] - chain.start[i], chain.mode[interface]
    for c in range(0, FIT, LANES):
        row = factor * load(chain.rest, FIT * interface + c)
        for l in range(r):
            row += values[at + l] * load(chain.modes, FIT * (first + l) + c)  # (13.12), (13.13)
        store(out, c, row)


@compiled(borrows=True)
def fit_lanes(A, T_out):
    """T_out (18 LANES): rotations and `polar_solver` of lanes of matrices A (9 LANES)."""
    A0, A1, A2 = load(A, 0), load(A, LANES), load(A, 2 * LANES)
    A3, A4, A5 = load(A, 3 * LANES), load(A, 4 * LANES), load(A, 5 * LANES)
    A6, A7, A8 = load(A, 6 * LANES), load(A, 7 * LANES), load(A, 8 * LANES)
    t0, t1, t2, t3, t4, t5, t6, t7, t8, _ = polar_rotation(A0, A1, A2, A3, A4, A5, A6, A7, A8)  # (13.13)
    T = (t0, t1, t2, t3, t4, t5, t6, t7, t8)
    solver = polar_solver(T, polar_stretch(T, (A0, A1, A2, A3, A4, A5, A6, A7, A8)))  # (13.14)
    for c in range(9):
        store(T_out, c * LANES, T[c])
        store(T_out, (9 + c) * LANES, solver[c])


@compiled
def fit_interfaces(chain, q, out):
    """How the interfaces of all domains are turned and placed in their parents: T, arm and solver of Frames."""
    fitted, A, T = np.empty(FIT), np.zeros(9 * LANES), np.empty(18 * LANES)
    for b in range(LANES):
        A[b], A[4 * LANES + b], A[8 * LANES + b] = 1.0, 1.0, 1.0
    for first in range(1, len(chain.parent), LANES):
        count = min(LANES, len(chain.parent) - first)
        for b in range(count):
            add_fit(chain, first + b, q, fitted, 1.0)
            s = chain.scale[chain.parent[first + b]]
            for c in range(9):
                A[c * LANES + b] = fitted[c]
            for c in range(3):
                out.arm[first + b, c] = s * fitted[9 + c]
        fit_lanes(A, T)
        for b in range(count):
            for c in range(9):
                out.T[first + b, c] = T[c * LANES + b]
                out.solver[first + b, c] = T[(9 + c) * LANES + b]


@compiled
def compute_frames(chain, q, frame, out):
    """Frames at coordinates q (n,) and the root's frame (7,)."""
    fit_interfaces(chain, q, out)
    R = quaternion_matrix((frame[3], frame[4], frame[5], frame[6]))
    for i in range(9):
        out.R[0, i] = R[i]
    out.o[0, :] = frame[:3]
    for k in range(1, len(chain.parent)):
        i = chain.parent[k]
        d0, d1, d2 = times(out.R, i, out.arm[k, 0], out.arm[k, 1], out.arm[k, 2])
        out.o[k, 0], out.o[k, 1], out.o[k, 2] = out.o[i, 0] + d0, out.o[i, 1] + d1, out.o[i, 2] + d2  # (12.1)
        for c in range(3):
            r0, r1, r2 = times(out.R, i, out.T[k, c], out.T[k, 3 + c], out.T[k, 6 + c])  # (12.1)
            out.R[k, c], out.R[k, 3 + c], out.R[k, 6 + c] = r0, r1, r2


@compiled
def compute_rates(chain, frames, v, velocity, u_out, w_out):
    """Velocities of the origins in world axes, and spins in own axes, (d, 3) each, of rates v (n,), velocity (6,)."""
    fitted = np.empty(FIT)
    u_out[0, :], w_out[0, :] = velocity[:3], velocity[3:6]
    for k in range(1, len(chain.parent)):
        i = chain.parent[k]
        s, a0, a1, a2 = chain.scale[i], w_out[i, 0], w_out[i, 1], w_out[i, 2]
        x, y, z = frames.arm[k, 0], frames.arm[k, 1], frames.arm[k, 2]
        add_fit(chain, k, v, fitted, 0.0)
        A_dot = (
            fitted[0], fitted[1], fitted[2], fitted[3], fitted[4], fitted[5], fitted[6], fitted[7], fitted[8]
        )  # fmt: skip
        g0, g1, g2 = polar_rate_by(nine(frames.solver, k), nine(frames.T, k), A_dot)  # (13.14)
        b0 = a1 * z - a2 * y + s * fitted[9]  # (12.2)
        b1 = a2 * x - a0 * z + s * fitted[10]
        b2 = a0 * y - a1 * x + s * fitted[11]
        b0, b1, b2 = times(frames.R, i, b0, b1, b2)
        u_out[k, 0], u_out[k, 1], u_out[k, 2] = u_out[i, 0] + b0, u_out[i, 1] + b1, u_out[i, 2] + b2
        w_out[k, 0], w_out[k, 1], w_out[k, 2] = back(frames.T, k, a0 + g0, a1 + g1, a2 + g2)  # (12.2)


@compiled(inline=True)
def gather_own(values, at, r, out):
    """A domain's values[at : at + r], filled up by zeros to whole lanes."""
    for l in range(r):
        out[l] = values[at + l]
    for l in range(r, (r + LANES - 1) // LANES * LANES):
        out[l] = 0.0


@compiled(inline=True)
def row_sum(U, first, r, own):
    """U[first : first + r] . own, of `gather_own`; U flat."""
    if first + r + LANES > len(U):  # lanes would read beyond its end
        value = 0.0
        for l in range(r):
            value += U[first + l] * own[l]
        return value
    lanes = 0.0 * load(own, 0)
    for l in range(0, r, LANES):
        lanes += load(U, first + l) * load(own, l)
    return lane_sum(lanes)


@compiled
def compute_local(chain, q, y_out):
    """s (X + U q) of all points in their domains' axes, (p, 3)."""
    U, width = chain.U.reshape(-1), chain.U.shape[2]
    own = np.zeros(width + LANES)
    for k in range(len(chain.parent)):
        at, r, s = chain.start[k], chain.start[k + 1] - chain.start[k], chain.scale[k]
        if chain.places[k] < chain.places[k + 1]:
            gather_own(q, at, r, own)
        for p in range(chain.places[k], chain.places[k + 1]):
            row = chain.first[k] + p - chain.places[k]
            for c in range(3):
                y_out[p, c] = s * (chain.X[row, c] + row_sum(U, (3 * row + c) * width, r, own))  # (12.3)


@compiled
def compute_positions(chain, frames, y, x_out):
    """World positions (p, 3) of points y in their domains' axes."""
    for k in range(len(chain.parent)):
        for p in range(chain.places[k], chain.places[k + 1]):
            a, b, c = times(frames.R, k, y[p, 0], y[p, 1], y[p, 2])  # (12.3)
            x_out[p, 0], x_out[p, 1], x_out[p, 2] = frames.o[k, 0] + a, frames.o[k, 1] + b, frames.o[k, 2] + c


@compiled
def compute_velocities(chain, frames, y, v, u, w, v_out):
    """World velocities (p, 3) of points y, of rates v (n,), with u, w of `compute_rates`."""
    U, width = chain.U.reshape(-1), chain.U.shape[2]
    own = np.zeros(width + LANES)
    for k in range(len(chain.parent)):
        at, r, s = chain.start[k], chain.start[k + 1] - chain.start[k], chain.scale[k]
        if chain.places[k] < chain.places[k + 1]:
            gather_own(v, at, r, own)
        for p in range(chain.places[k], chain.places[k + 1]):
            row = chain.first[k] + p - chain.places[k]
            first = 3 * row * width
            a = w[k, 1] * y[p, 2] - w[k, 2] * y[p, 1] + s * row_sum(U, first, r, own)  # (12.3)
            b = w[k, 2] * y[p, 0] - w[k, 0] * y[p, 2] + s * row_sum(U, first + width, r, own)
            c = w[k, 0] * y[p, 1] - w[k, 1] * y[p, 0] + s * row_sum(U, first + 2 * width, r, own)
            a, b, c = times(frames.R, k, a, b, c)
            v_out[p, 0], v_out[p, 1], v_out[p, 2] = u[k, 0] + a, u[k, 1] + b, u[k, 2] + c


@compiled(borrows=True)
def pull_points(chain, frames, k, y, f, Q_out, wrench_out):
    """Forces f (p, 3) on the points of domain k brought to its coordinates, (n,), and to a wrench on it, (d, 6)."""
    at, r, s = chain.start[k], chain.start[k + 1] - chain.start[k], chain.scale[k]
    for p in range(chain.places[k], chain.places[k + 1]):
        row = chain.first[k] + p - chain.places[k]
        a, b, c = back(frames.R, k, f[p, 0], f[p, 1], f[p, 2])  # (12.4)
        for l in range(r):
            Q_out[at + l] += s * (chain.U[row, 0, l] * a + chain.U[row, 1, l] * b + chain.U[row, 2, l] * c)
        wrench_out[k, 0] += y[p, 1] * c - y[p, 2] * b  # (12.4)
        wrench_out[k, 1] += y[p, 2] * a - y[p, 0] * c
        wrench_out[k, 2] += y[p, 0] * b - y[p, 1] * a
        wrench_out[k, 3] += a
        wrench_out[k, 4] += b
        wrench_out[k, 5] += c


@compiled(borrows=True)
def pull_parent(chain, frames, k, pulled, Q_out, wrench_out):
    """The wrench on domain k brought to its parent's coordinates and to a wrench on the parent. pulled (FIT): zeros."""
    i, first = chain.parent[k], chain.mode[chain.fit[k]]
    at, r, s = chain.start[i], chain.start[i + 1] - chain.start[i], chain.scale[i]
    t0, t1, t2 = times(frames.T, k, wrench_out[k, 0], wrench_out[k, 1], wrench_out[k, 2])  # (12.5)
    a, b, c = times(frames.T, k, wrench_out[k, 3], wrench_out[k, 4], wrench_out[k, 5])
    u0, u1, u2 = back(frames.solver, k, t0, t1, t2)  # Gamma_l . t = <T skew(u), A_l>
    for j in range(3):
        x, y, z = frames.T[k, 3 * j], frames.T[k, 3 * j + 1], frames.T[k, 3 * j + 2]
        pulled[3 * j], pulled[3 * j + 1], pulled[3 * j + 2] = y * u2 - z * u1, z * u0 - x * u2, x * u1 - y * u0
    pulled[9], pulled[10], pulled[11] = s * a, s * b, s * c
    for l in range(r):
        row = load(chain.modes, FIT * (first + l)) * load(pulled, 0)
        for j in range(LANES, FIT, LANES):
            row += load(chain.modes, FIT * (first + l) + j) * load(pulled, j)
        Q_out[at + l] += lane_sum(row)  # (12.5)
    x, y, z = frames.arm[k, 0], frames.arm[k, 1], frames.arm[k, 2]
    wrench_out[i, 0] += t0 + y * c - z * b  # (12.5)
    wrench_out[i, 1] += t1 + z * a - x * c
    wrench_out[i, 2] += t2 + x * b - y * a
    wrench_out[i, 3] += a  # (12.5)
    wrench_out[i, 4] += b
    wrench_out[i, 5] += c


@compiled
def add_pulled(chain, frames, y, f, Q_out, wrench_out):
    """Forces f (p, 3) on points y brought to the coordinates, (n,), and to torque and force on the domains, (d, 6).

    On return the first row is the root's, which all the others have been brought to.
    """
    pulled = np.zeros(FIT)
    for k in range(len(chain.parent) - 1, -1, -1):
        pull_points(chain, frames, k, y, f, Q_out, wrench_out)
        if k > 0:
            pull_parent(chain, frames, k, pulled, Q_out, wrench_out)
