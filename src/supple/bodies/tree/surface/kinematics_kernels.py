"""Points on all domains of a tree, from its coordinates and back, in compiled loops over the domains.

    R_j = R_i T_j,  o_j = o_i + R_i s_i (xh + ah q_i),  T_j: polar rotation of A + sum_l q_l A_l        [BZ11, eq. 11]
    u_j = u_i + R_i (w_i x arm + s_i ah q'_i),          w_j = T_j^T (w_i + Gamma q'_i)
    x = o + R s (X + U q),     v = u + R (w x s (X + U q) + s U q')

The way back of forces is the transpose, leaves to root. Parents come before their children.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.polar_kernels import polar_rate, polar_rotation, polar_stretch
from supple.algebra.dense.rotation_kernels import quaternion_matrix

Array = np.ndarray


class Chain(NamedTuple):
    """Of d domains: parent, fit (which interface), start (d + 1,) of coordinates, scale, first: row of their class.

    places (d + 1,): where the points of a domain begin. Of interfaces: xh (f, 3), ah (f, 3, r), A (f, 9), A_l (f, r,
    9). Of points of the classes: X (m, 3) [m], U (m, 3, r).
    """

    parent: Array
    fit: Array
    start: Array
    scale: Array
    first: Array
    places: Array
    x_hat: Array
    a_hat: Array
    A: Array
    A_modes: Array
    X: Array
    U: Array


class Frames(NamedTuple):
    """Of d domains: R, T (d, 9): in the world, in the parent; o (d, 3) [m]; arm (d, 3) [m] from the parent's origin.

    gamma (d, 3, r): angular velocity of the interface by the parent's q'.
    """

    R: Array
    T: Array
    o: Array
    arm: Array
    gamma: Array

    @classmethod
    def empty(cls, count: int, largest: int) -> Frames:
        """Scratch for so many domains of at most so many coordinates."""
        shapes = ((9,), (9,), (3,), (3,), (3, largest))
        return cls(*(np.zeros((count, *shape)) for shape in shapes))


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


@compiled
def compute_frames(chain, q, frame, out):
    """Frames at coordinates q (n,) and the root's frame (7,)."""
    R = quaternion_matrix((frame[3], frame[4], frame[5], frame[6]))
    for i in range(9):
        out.R[0, i] = R[i]
    out.o[0, :] = frame[:3]
    for k in range(1, len(chain.parent)):
        i, interface = chain.parent[k], chain.fit[k]
        at, r, s = chain.start[i], chain.start[i + 1] - chain.start[i], chain.scale[i]
        A = nine(chain.A, interface)
        x, y, z = chain.x_hat[interface, 0], chain.x_hat[interface, 1], chain.x_hat[interface, 2]
        for l in range(r):
            c = q[at + l]
            B = nine(chain.A_modes[interface], l)
            A = (
                A[0] + c * B[0], A[1] + c * B[1], A[2] + c * B[2], A[3] + c * B[3], A[4] + c * B[4],  # (13.13)
                A[5] + c * B[5], A[6] + c * B[6], A[7] + c * B[7], A[8] + c * B[8],
            )  # fmt: skip
            x += c * chain.a_hat[interface, 0, l]  # (13.12)
            y += c * chain.a_hat[interface, 1, l]
            z += c * chain.a_hat[interface, 2, l]
        t0, t1, t2, t3, t4, t5, t6, t7, t8, _ = polar_rotation(*A)  # (13.13)
        T = (t0, t1, t2, t3, t4, t5, t6, t7, t8)
        S = polar_stretch(T, A)
        for l in range(r):
            g0, g1, g2 = polar_rate(T, S, nine(chain.A_modes[interface], l))  # (13.14)
            out.gamma[k, 0, l], out.gamma[k, 1, l], out.gamma[k, 2, l] = g0, g1, g2
        for c in range(9):
            out.T[k, c] = T[c]
        out.arm[k, 0], out.arm[k, 1], out.arm[k, 2] = s * x, s * y, s * z
        d0, d1, d2 = times(out.R, i, s * x, s * y, s * z)
        out.o[k, 0], out.o[k, 1], out.o[k, 2] = out.o[i, 0] + d0, out.o[i, 1] + d1, out.o[i, 2] + d2  # (12.1)
        for c in range(3):
            r0, r1, r2 = times(out.R, i, T[c], T[3 + c], T[6 + c])  # (12.1)
            out.R[k, c], out.R[k, 3 + c], out.R[k, 6 + c] = r0, r1, r2


@compiled
def compute_rates(chain, frames, v, velocity, u_out, w_out):
    """Velocities of the origins in world axes, and spins in own axes, (d, 3) each, of rates v (n,), velocity (6,)."""
    u_out[0, :], w_out[0, :] = velocity[:3], velocity[3:6]
    for k in range(1, len(chain.parent)):
        i, interface = chain.parent[k], chain.fit[k]
        at, r, s = chain.start[i], chain.start[i + 1] - chain.start[i], chain.scale[i]
        a0, a1, a2 = w_out[i, 0], w_out[i, 1], w_out[i, 2]
        x, y, z = frames.arm[k, 0], frames.arm[k, 1], frames.arm[k, 2]
        b0, b1, b2 = a1 * z - a2 * y, a2 * x - a0 * z, a0 * y - a1 * x  # (12.2)
        for l in range(r):
            c = v[at + l]
            b0 += s * c * chain.a_hat[interface, 0, l]  # (12.2)
            b1 += s * c * chain.a_hat[interface, 1, l]
            b2 += s * c * chain.a_hat[interface, 2, l]
            a0 += c * frames.gamma[k, 0, l]  # (12.2)
            a1 += c * frames.gamma[k, 1, l]
            a2 += c * frames.gamma[k, 2, l]
        b0, b1, b2 = times(frames.R, i, b0, b1, b2)
        u_out[k, 0], u_out[k, 1], u_out[k, 2] = u_out[i, 0] + b0, u_out[i, 1] + b1, u_out[i, 2] + b2
        w_out[k, 0], w_out[k, 1], w_out[k, 2] = back(frames.T, k, a0, a1, a2)  # (12.2)


@compiled
def compute_local(chain, q, y_out):
    """s (X + U q) of all points in their domains' axes, (p, 3)."""
    for k in range(len(chain.parent)):
        at, r, s = chain.start[k], chain.start[k + 1] - chain.start[k], chain.scale[k]
        for p in range(chain.places[k], chain.places[k + 1]):
            row = chain.first[k] + p - chain.places[k]
            for c in range(3):
                value = chain.X[row, c]
                for l in range(r):
                    value += chain.U[row, c, l] * q[at + l]  # (12.3)
                y_out[p, c] = s * value  # (12.3)


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
    for k in range(len(chain.parent)):
        at, r, s = chain.start[k], chain.start[k + 1] - chain.start[k], chain.scale[k]
        for p in range(chain.places[k], chain.places[k + 1]):
            row = chain.first[k] + p - chain.places[k]
            a = w[k, 1] * y[p, 2] - w[k, 2] * y[p, 1]  # (12.3)
            b = w[k, 2] * y[p, 0] - w[k, 0] * y[p, 2]
            c = w[k, 0] * y[p, 1] - w[k, 1] * y[p, 0]
            for l in range(r):
                a += s * chain.U[row, 0, l] * v[at + l]  # (12.3)
                b += s * chain.U[row, 1, l] * v[at + l]
                c += s * chain.U[row, 2, l] * v[at + l]
            a, b, c = times(frames.R, k, a, b, c)
            v_out[p, 0], v_out[p, 1], v_out[p, 2] = u[k, 0] + a, u[k, 1] + b, u[k, 2] + c


@compiled
def add_pulled(chain, frames, y, f, Q_out, wrench_out):
    """Forces f (p, 3) on points y brought to the coordinates, (n,), and to torque and force on the domains, (d, 6).

    On return the first row is the root's, which all the others have been brought to.
    """
    for k in range(len(chain.parent) - 1, -1, -1):
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
        if k == 0:
            break
        i, interface = chain.parent[k], chain.fit[k]
        at, r, s = chain.start[i], chain.start[i + 1] - chain.start[i], chain.scale[i]
        t0, t1, t2 = times(frames.T, k, wrench_out[k, 0], wrench_out[k, 1], wrench_out[k, 2])  # (12.5)
        a, b, c = times(frames.T, k, wrench_out[k, 3], wrench_out[k, 4], wrench_out[k, 5])
        for l in range(r):
            Q_out[at + l] += frames.gamma[k, 0, l] * t0 + frames.gamma[k, 1, l] * t1 + frames.gamma[k, 2, l] * t2
            Q_out[at + l] += s * (  # (12.5)
                chain.a_hat[interface, 0, l] * a + chain.a_hat[interface, 1, l] * b + chain.a_hat[interface, 2, l] * c
            )
        x, y_, z = frames.arm[k, 0], frames.arm[k, 1], frames.arm[k, 2]
        wrench_out[i, 0] += t0 + y_ * c - z * b  # (12.5)
        wrench_out[i, 1] += t1 + z * a - x * c
        wrench_out[i, 2] += t2 + x * b - y_ * a
        wrench_out[i, 3] += a  # (12.5)
        wrench_out[i, 4] += b
        wrench_out[i, 5] += c
