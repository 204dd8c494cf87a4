"""Kernels of bodies of points that turn as a whole within a step; sums are in the order of the points.

M: a mass (n, n) [kg] in rows, of one number each where it is lumped; m (n,): its row sums.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import (
    matrix_rotate,
    matrix_rotate_inverse,
    quaternion_exp,
    quaternion_matrix,
    turn,
)
from supple.algebra.sparse.threefold_kernels import multiply_points

ROUNDS = 12
"""In which the mean spin settles where a body turns by less than a radian."""


class MassRows(NamedTuple):
    """M in rows and their sums."""

    indptr: np.ndarray
    indices: np.ndarray
    data: np.ndarray
    m: np.ndarray


@compiled
def find_mean(m, x, c_out):
    """c_out (3,): sum m x / sum m of points (n, 3)."""
    total, a, b, c = 0.0, 0.0, 0.0, 0.0
    for k in range(len(m)):
        total += m[k]
        a += m[k] * x[k, 0]
        b += m[k] * x[k, 1]
        c += m[k] * x[k, 2]
    c_out[0], c_out[1], c_out[2] = a / total, b / total, c / total


@compiled
def add_moment(r, p, l_out):
    """l_out (3,) += sum r × p."""
    a, b, c = 0.0, 0.0, 0.0
    for k in range(len(r)):
        a += r[k, 1] * p[k, 2] - r[k, 2] * p[k, 1]
        b += r[k, 2] * p[k, 0] - r[k, 0] * p[k, 2]
        c += r[k, 0] * p[k, 1] - r[k, 1] * p[k, 0]
    l_out[0] += a
    l_out[1] += b
    l_out[2] += c


@compiled
def invert_inertia(r, y, J_out):
    """J_out (3, 3): the inverse of the moments of inertia of points at r (n, 3), y = M r; zero where they lie in a
    line."""
    xx, yy, zz, xy, xz, yz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(r)):
        xx += r[k, 0] * y[k, 0]
        yy += r[k, 1] * y[k, 1]
        zz += r[k, 2] * y[k, 2]
        xy += r[k, 0] * y[k, 1]
        xz += r[k, 0] * y[k, 2]
        yz += r[k, 1] * y[k, 2]
    p0, p1, p2 = yy + zz, xx + zz, xx + yy
    c0, c1, c2 = p1 * p2 - yz * yz, xy * p2 + yz * xz, xy * yz + p1 * xz
    d0, d1, d2 = p0 * p2 - xz * xz, p0 * yz + xy * xz, p0 * p1 - xy * xy
    det = p0 * c0 - xy * c1 - xz * c2
    J_out[:] = 0.0
    if det > 1e-12 * p0 * p1 * p2:
        J_out[0, 0], J_out[0, 1], J_out[0, 2] = c0 / det, c1 / det, c2 / det
        J_out[1, 0], J_out[1, 1], J_out[1, 2] = c1 / det, d0 / det, d1 / det
        J_out[2, 0], J_out[2, 1], J_out[2, 2] = c2 / det, d1 / det, d2 / det


@compiled
def rotation_over(w, h):
    """exp(h w)."""
    return quaternion_matrix(quaternion_exp((h * w[0], h * w[1], h * w[2])))


@compiled
def find_spin(r, y, l, w_out):
    """w_out (3,): the spin [rad/s] of points at r (n, 3), y = M r, whose moment of momentum is l."""
    J = np.empty((3, 3))
    invert_inertia(r, y, J)
    w_out[0], w_out[1], w_out[2] = turn(J, (l[0], l[1], l[2]))


@compiled
def find_mean_spin(r, y, l, h, w_out):
    """The same in the middle of a step of h [s] in which l is kept and a rigid body turns by h w: w = R J l' with
    l' = R^T l, R = exp(h w / 2)."""
    J = np.empty((3, 3))
    invert_inertia(r, y, J)
    w_out[0], w_out[1], w_out[2] = turn(J, (l[0], l[1], l[2]))
    for _ in range(ROUNDS):
        R = rotation_over(w_out, 0.5 * h)
        own = turn(J, matrix_rotate_inverse(R, (l[0], l[1], l[2])))
        w_out[0], w_out[1], w_out[2] = matrix_rotate(R, own)


@compiled
def add_turned(w, r, v_out):
    """v_out += w × r."""
    for k in range(len(r)):
        a, b, c = r[k, 0], r[k, 1], r[k, 2]
        v_out[k, 0] += w[1] * c - w[2] * b
        v_out[k, 1] += w[2] * a - w[0] * c
        v_out[k, 2] += w[0] * b - w[1] * a


@compiled
def subtract(x, c, r_out):
    """r_out = x - c of points (n, 3)."""
    for k in range(len(x)):
        r_out[k, 0], r_out[k, 1], r_out[k, 2] = x[k, 0] - c[0], x[k, 1] - c[1], x[k, 2] - c[2]


@compiled
def give_moment(M, x, lost, scratch, v_out):
    """v_out += w × r, of which M (w × r) has the moment of momenta lost (n, 3) about the centre; scratch (2 n, 3)."""
    n, c, l, w = len(x), np.empty(3), np.zeros(3), np.empty(3)
    r, y = scratch[:n], scratch[n:]
    find_mean(M.m, x, c)
    subtract(x, c, r)
    add_moment(r, lost, l)
    multiply_points(M.indptr, M.indices, M.data, r, y)
    find_spin(r, y, l, w)
    add_turned(w, r, v_out)


@compiled
def begin_flight(M, x, v, h, scratch, r_out, l_out, w_out, turning_out, inertia_out):
    """Places r from the centre, angular momentum l and spin w in the middle of the step; turning_out = w × r,
    inertia_out = M (R^T - 1) v' of velocities v' from that of the centre, R = exp(h w); scratch (2 n, 3)."""
    n, c = len(x), np.empty(3)
    relative, y = scratch[:n], scratch[n:]
    find_mean(M.m, x, c)
    subtract(x, c, r_out)
    find_mean(M.m, v, c)
    subtract(v, c, relative)
    multiply_points(M.indptr, M.indices, M.data, relative, y)
    l_out[:] = 0.0
    add_moment(r_out, y, l_out)
    multiply_points(M.indptr, M.indices, M.data, r_out, y)
    find_mean_spin(r_out, y, l_out, h, w_out)
    turning_out[:] = 0.0
    add_turned(w_out, r_out, turning_out)
    R = rotation_over(w_out, h)
    for k in range(n):
        a, b, d = relative[k, 0], relative[k, 1], relative[k, 2]
        s, t, u = matrix_rotate_inverse(R, (a, b, d))
        relative[k, 0], relative[k, 1], relative[k, 2] = s - a, t - b, u - d
    multiply_points(M.indptr, M.indices, M.data, relative, inertia_out)  # (7.1)


@compiled
def end_flight(M, r, w, l, h, scratch, x_out, v_out):
    """Turn a body by R = exp(h w): x = c + h v_c + R (r + h u), v = v_c + R v', where u is v' without its spin, from
    x_out and v_out, which hold x_0 and the velocities of the solution; then give it the angular momentum l; scratch
    (2 n, 3)."""
    n, c, along, lacking, own = len(r), np.empty(3), np.empty(3), np.zeros(3), np.empty(3)
    relative, y = scratch[:n], scratch[n:]
    find_mean(M.m, x_out, c)
    find_mean(M.m, v_out, along)
    subtract(v_out, along, relative)
    multiply_points(M.indptr, M.indices, M.data, relative, y)
    add_moment(r, y, lacking)
    multiply_points(M.indptr, M.indices, M.data, r, y)
    find_spin(r, y, lacking, own)
    R = rotation_over(w, h)
    for k in range(n):
        a, b, d = relative[k, 0], relative[k, 1], relative[k, 2]
        s, t, u = matrix_rotate(R, (a, b, d))
        relative[k, 0], relative[k, 1], relative[k, 2] = s, t, u
        v_out[k, 0], v_out[k, 1], v_out[k, 2] = along[0] + s, along[1] + t, along[2] + u
        a -= own[1] * r[k, 2] - own[2] * r[k, 1]
        b -= own[2] * r[k, 0] - own[0] * r[k, 2]
        d -= own[0] * r[k, 1] - own[1] * r[k, 0]
        s, t, u = matrix_rotate(R, (r[k, 0] + h * a, r[k, 1] + h * b, r[k, 2] + h * d))
        x_out[k, 0] = c[0] + h * along[0] + s
        x_out[k, 1] = c[1] + h * along[1] + t
        x_out[k, 2] = c[2] + h * along[2] + u
    multiply_points(M.indptr, M.indices, M.data, relative, y)
    find_mean(M.m, x_out, c)
    subtract(x_out, c, relative)
    for i in range(3):
        lacking[i] = -l[i]
    add_moment(relative, y, lacking)
    for i in range(3):
        lacking[i] = -lacking[i]
    multiply_points(M.indptr, M.indices, M.data, relative, y)
    find_spin(relative, y, lacking, along)
    add_turned(along, relative, v_out)
