"""The motion of a fitted interface frame at q and q', for one interface or a batch of instances [BZ11, eqs. 1-9].

    x = xh + ah q        v = ah q'        w = Gamma q'        alpha = Gamma q" + alpha0        a = ah q"

w, alpha0 and Gamma are in the domain's axes (the parent's of the frame); R maps the child's axes to them.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.polar_kernels import (
    polar_acceleration,
    polar_rate_by,
    polar_rotation,
    polar_solver,
    polar_stretch,
)
from supple.algebra.lanes.lane_type import LANES, load, splat, store, value_at
from supple.elements.laws import store_nine
from supple.errors import InputError
from supple.modal.forces.force_kernels import gather_block
from supple.modal.interfaces.interface import InterfaceFit

Array = np.ndarray


class FitArrays(NamedTuple):
    """Fits of many interfaces: x_hat (3 each), A_rest (9 each), a_hat (3, r) and A_modes (r, 9) of each, all flat.

    With lanes of their own, arrays (rows, LANES) take the place of flat ones.
    """

    x_hat: Array
    A_rest: Array
    a_hat: Array
    A_modes: Array


class InterfaceMotion(NamedTuple):
    """Of n instances: x [m], v [m/s], omega [rad/s], alpha0 [rad/s²] (n, 3); R (n, 3, 3); Gamma (n, 3, r).

    margin (n,): the sum of the two smaller singular values of A, 1 or 2 at rest; near 0 the frame is lost.
    """

    x: Array
    v: Array
    R: Array
    omega: Array
    Gamma: Array
    alpha0: Array
    margin: Array

    @classmethod
    def empty(cls, count: int, r: int) -> InterfaceMotion:
        """Workspace for `count` instances."""
        shapes = ((3,), (3,), (3, 3), (3,), (3, r), (3,), ())
        return cls(*(np.empty((count, *shape)) for shape in shapes))


@compiled(inline=True)
def add_nine(A, factor, B, at):
    """A + factor B; A nine values, B nine from `at` on."""
    return (
        A[0] + factor * value_at(B, at), A[1] + factor * value_at(B, at + 1), A[2] + factor * value_at(B, at + 2),
        A[3] + factor * value_at(B, at + 3), A[4] + factor * value_at(B, at + 4), A[5] + factor * value_at(B, at + 5),
        A[6] + factor * value_at(B, at + 6), A[7] + factor * value_at(B, at + 7), A[8] + factor * value_at(B, at + 8),
    )  # fmt: skip


@compiled(inline=True)
def nine_at(B, at):
    """Nine values of B from `at` on."""
    return (
        value_at(B, at), value_at(B, at + 1), value_at(B, at + 2), value_at(B, at + 3), value_at(B, at + 4),
        value_at(B, at + 5), value_at(B, at + 6), value_at(B, at + 7), value_at(B, at + 8),
    )  # fmt: skip


@compiled(inline=True)
def fit_group(fits, number, first, r, q, q_dot, at_q, out, at):
    """The frames of LANES instances, of the interface `number` of fits, whose modes begin at `first`.

    q, q_dot: rows of LANES numbers from at_q on; out: rows x, v, R, omega, alpha0 from `at` on. fits: `FitArrays`,
    flat, or with lanes of their own. Returns R, S, the `polar_solver`, which gives Gamma with R and A_modes, and the
    margin.
    """
    none = splat(0.0, load(out, at, LANES))
    zero = (none, none, none, none, none, none, none, none, none)
    one = none + 1.0
    A, A_dot = add_nine(zero, one, fits.A_rest, 9 * number), zero
    for l in range(r):
        A = add_nine(A, load(q, at_q + l * LANES, LANES), fits.A_modes, 9 * (first + l))  # (13.13), [BZ11, eq. 2]
        A_dot = add_nine(A_dot, load(q_dot, at_q + l * LANES, LANES), fits.A_modes, 9 * (first + l))  # (13.13)
    r00, r01, r02, r10, r11, r12, r20, r21, r22, margin = polar_rotation(*A)  # (13.13), [BZ11, eq. 5]
    R = (r00, r01, r02, r10, r11, r12, r20, r21, r22)
    S = polar_stretch(R, A)
    solver = polar_solver(R, S)
    omega = polar_rate_by(solver, R, A_dot)  # (13.14), [BZ11, eq. 7]
    alpha0 = polar_acceleration(R, S, A_dot, zero, omega)  # (13.15), [BZ11, eq. 9]
    for i in range(3):
        x, v = none + value_at(fits.x_hat, 3 * number + i), none
        for l in range(r):
            a = value_at(fits.a_hat, 3 * first + i * r + l)
            x = x + a * load(q, at_q + l * LANES, LANES)  # (13.12), [BZ11, eq. 1]
            v = v + a * load(q_dot, at_q + l * LANES, LANES)  # (13.12)
        store(out, at + i * LANES, x)
        store(out, at + (3 + i) * LANES, v)
    store_nine(R, out, at + 6 * LANES, LANES)
    for i in range(3):
        store(out, at + (15 + i) * LANES, omega[i])
        store(out, at + (18 + i) * LANES, alpha0[i])
    return R, S, solver, margin


@compiled(inline=True)
def store_turning(A_modes, first, r, R, solver, out, at):
    """Rows Gamma (3, r) from `at` on; A_modes from `first` on."""
    for l in range(r):
        g0, g1, g2 = polar_rate_by(solver, R, nine_at(A_modes, 9 * (first + l)))  # (13.14)
        store(out, at + l * LANES, g0)
        store(out, at + (r + l) * LANES, g1)
        store(out, at + (2 * r + l) * LANES, g2)


@compiled
def scatter_group(group, count, start, motion_out):
    """`count` rows of motion_out from group (22 + 3 r, LANES): x, v, R, omega, alpha0, Gamma, margin."""
    r = motion_out.Gamma.shape[2]
    for b in range(count):
        k = start + b
        for i in range(3):
            motion_out.x[k, i], motion_out.v[k, i] = group[i, b], group[3 + i, b]
            motion_out.omega[k, i], motion_out.alpha0[k, i] = group[15 + i, b], group[18 + i, b]
            for j in range(3):
                motion_out.R[k, i, j] = group[6 + 3 * i + j, b]
            for l in range(r):
                motion_out.Gamma[k, i, l] = group[21 + i * r + l, b]
        motion_out.margin[k] = group[21 + 3 * r, b]


@compiled
def compute_interfaces(x_hat, a_hat, A_rest, A_modes, q, q_dot, motion_out):
    """The same interface of n instances, LANES at a time; q, q_dot (n, r)."""
    n, r = q.shape
    fits = FitArrays(x_hat, A_rest.ravel(), a_hat.ravel(), A_modes.ravel())
    q1, v1, group = np.zeros((r, LANES)), np.zeros((r, LANES)), np.zeros((22 + 3 * r, LANES))
    for start in range(0, n, LANES):
        gather_block(q, start, q1)
        gather_block(q_dot, start, v1)
        R, _, solver, margin = fit_group(fits, 0, 0, r, q1.ravel(), v1.ravel(), 0, group.ravel(), 0)
        store_turning(fits.A_modes, 0, r, R, solver, group.ravel(), 21 * LANES)
        store(group.ravel(), LANES * (21 + 3 * r), margin)
        scatter_group(group, min(LANES, n - start), start, motion_out)


def interface_motion(fit: InterfaceFit, q: Array, q_dot: Array) -> InterfaceMotion:
    """The frames of n instances; q, q_dot (n, r)."""
    r = fit.a_hat.shape[1]
    q, q_dot = np.ascontiguousarray(q, dtype=float), np.ascontiguousarray(q_dot, dtype=float)
    if q.ndim != 2 or q.shape[1] != r or q_dot.shape != q.shape:
        raise InputError("the coordinates do not fit the interface", value=(q.shape, q_dot.shape), allowed=f"(n, {r})")
    motion = InterfaceMotion.empty(len(q), r)
    compute_interfaces(fit.x_hat, fit.a_hat, fit.A_rest, fit.A_modes, q, q_dot, motion)
    return motion
