"""Inertia of a deformed domain in its frame, from N_l(q) = W5_l + sum_p q_p W7_lp = int rho U_l x^T, x = X + U q.

    S = int rho x = S0 + Ub q
    P = int rho x x^T = P0 + sum_l q_l (W5_l^T + N_l),    J = tr(P) I - P
    H_l = int rho x x U_l = 2 skew(N_l)
    h = (int rho x x g, int rho g),   h_l = int rho U_l . g,   g = w x (w x x) + 2 w x U q'
      = (w x J w + 2 (tr(N') I - N') w,  w x (w x S) + 2 w x Ub q'),   N' = sum_l q'_l N_l
    h_l = w . N_l w - |w|² tr N_l + 2 w . 2 skew(sum_p q'_p W7_lp)
    f_sys = -(h_l + H_l . alpha + Ub_l . a)                                    [BZ11, eqs. 13, 14]

w, alpha, a: angular velocity, angular acceleration and origin's acceleration of the frame, in its own axes. Six-vectors
are (angular, linear). N and N' of all instances are one matrix product with W7.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.compiling.compiled import compiled
from supple.errors import InputError
from supple.modal.integrals import MassIntegrals

Array = np.ndarray


class DomainInertia(NamedTuple):
    """Of n instances: S (n, 3) [kg m]; J (n, 3, 3) [kg m²]; H (n, 3, r) [kg m]; h (n, 6); h_modes (n, r).

    The mass and int rho U are constant and stay in `MassIntegrals`.
    """

    S: Array
    J: Array
    H: Array
    h: Array
    h_modes: Array

    @classmethod
    def empty(cls, count: int, r: int) -> DomainInertia:
        """Workspace for `count` instances."""
        return cls(*(np.empty((count, *shape)) for shape in ((3,), (3, 3), (3, r), (6,), (r,))))


@compiled(inline=True)
def cross(a0, a1, a2, b0, b1, b2):
    """a x b."""
    return a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0


@compiled
def compute_inertia(S0, P0, U_bar, W5, W7, q, q_dot, omega, inertia_out):
    """inertia_out of n instances; q, q_dot (n, r), omega (n, 3) [rad/s]; W7 (r, 9 r), row p, column (l, i, j)."""
    n, r = q.shape
    N, rate = np.empty((n, 9 * r)), np.empty((n, 9 * r))
    np.dot(q, W7, N)  # (11.4)
    np.dot(q_dot, W7, rate)
    P, turned = np.empty((3, 3)), np.empty((3, 3))
    for a in range(n):
        w0, w1, w2 = omega[a, 0], omega[a, 1], omega[a, 2]
        square = w0 * w0 + w1 * w1 + w2 * w2
        P[:], turned[:] = P0, 0.0
        for l in range(r):
            at = 9 * l
            for i in range(3):
                for j in range(3):
                    N[a, at + 3 * i + j] += W5[l, i, j]  # (11.4)
            for i in range(3):
                for j in range(3):
                    value = N[a, at + 3 * i + j]
                    P[i, j] += q[a, l] * (value + W5[l, j, i])  # (11.5)
                    turned[i, j] += q_dot[a, l] * value  # (11.7)
            v = N[a, at : at + 9]
            d = rate[a, at : at + 9]
            inertia_out.H[a, 0, l], inertia_out.H[a, 1, l], inertia_out.H[a, 2, l] = (  # (11.5)
                v[7] - v[5],
                v[2] - v[6],
                v[3] - v[1],
            )
            spin = w0 * (d[7] - d[5]) + w1 * (d[2] - d[6]) + w2 * (d[3] - d[1])  # (11.8)
            centrifugal = (
                w0 * (v[0] * w0 + v[1] * w1 + v[2] * w2)
                + w1 * (v[3] * w0 + v[4] * w1 + v[5] * w2)
                + w2 * (v[6] * w0 + v[7] * w1 + v[8] * w2)
            )
            inertia_out.h_modes[a, l] = centrifugal - square * (v[0] + v[4] + v[8]) + 2.0 * spin  # (11.8)
        trace, turned_trace = P[0, 0] + P[1, 1] + P[2, 2], turned[0, 0] + turned[1, 1] + turned[2, 2]
        for i in range(3):
            total, flow = S0[i], 0.0
            for l in range(r):
                total += U_bar[i, l] * q[a, l]  # (11.5)
                flow += U_bar[i, l] * q_dot[a, l]
            inertia_out.S[a, i], inertia_out.h[a, 3 + i] = total, 2.0 * flow
            for j in range(3):
                inertia_out.J[a, i, j] = -0.5 * (P[i, j] + P[j, i])  # (11.5)
            inertia_out.J[a, i, i] += trace  # (11.5)
        S, J, h = inertia_out.S[a], inertia_out.J[a], inertia_out.h[a]
        c0, c1, c2 = cross(w0, w1, w2, S[0], S[1], S[2])
        h[3], h[4], h[5] = cross(w0, w1, w2, c0 + h[3], c1 + h[4], c2 + h[5])  # (11.6)
        L0 = J[0, 0] * w0 + J[0, 1] * w1 + J[0, 2] * w2
        L1 = J[1, 0] * w0 + J[1, 1] * w1 + J[1, 2] * w2
        L2 = J[2, 0] * w0 + J[2, 1] * w1 + J[2, 2] * w2
        g0, g1, g2 = cross(w0, w1, w2, L0, L1, L2)  # (11.7)
        h[0] = g0 + 2.0 * (turned_trace * w0 - turned[0, 0] * w0 - turned[0, 1] * w1 - turned[0, 2] * w2)  # (11.7)
        h[1] = g1 + 2.0 * (turned_trace * w1 - turned[1, 0] * w0 - turned[1, 1] * w1 - turned[1, 2] * w2)  # (11.7)
        h[2] = g2 + 2.0 * (turned_trace * w2 - turned[2, 0] * w0 - turned[2, 1] * w1 - turned[2, 2] * w2)  # (11.7)


def mixed_rows(integrals: MassIntegrals) -> Array:
    """W7 as the kernels take it: (r, 9 r), row p, column (l, i, j)."""
    r = integrals.count
    return np.ascontiguousarray(integrals.W7.transpose(1, 0, 2, 3)).reshape(r, 9 * r)


def domain_inertia(integrals: MassIntegrals, q: Array, q_dot: Array, omega: Array) -> DomainInertia:
    """Inertia of n instances; q, q_dot (n, r), omega (n, 3) [rad/s] in the domain's axes."""
    r = integrals.count
    q, q_dot, omega = (np.ascontiguousarray(a, dtype=float) for a in (q, q_dot, omega))
    if q.ndim != 2 or q.shape[1] != r or q_dot.shape != q.shape or omega.shape != (len(q), 3):
        shapes = (q.shape, q_dot.shape, omega.shape)
        raise InputError("the state does not fit the domain", value=shapes, allowed=f"(n, {r}), (n, {r}), (n, 3)")
    out = DomainInertia.empty(len(q), r)
    g = integrals
    with one_blas_thread():
        compute_inertia(g.S0, g.P0, g.U_bar, g.W5, mixed_rows(g), q, q_dot, omega, out)
    return out


def system_force(integrals: MassIntegrals, inertia: DomainInertia, alpha: Array, a: Array) -> Array:
    """f_sys (n, r) [N] for angular and origin's accelerations alpha [rad/s²], a [m/s²] (n, 3) of the frame."""
    coupled = np.einsum("nil,ni->nl", inertia.H, alpha)
    return -(inertia.h_modes + coupled + a @ integrals.U_bar)  # (13.11), [BZ11, eqs. 13, 14]
