"""Arithmetic of a floating body: moments of the deformed shape, velocity terms, mass matrix, momentum.

    x = c + R u,  u = X + U q,  v = (c', w, q')                c' in world axes, w in body axes    [GOMGL07, eq. 8]
    N_l = int rho U_l u^T = W5_l + sum_p q_p W7_lp
    S = int rho u = S0 + Ub q                                  first moment, the paper's S_t
    J = int rho skew(u)^T skew(u) = tr(P) I - P,   P = P0 + sum_l q_l (W5_l^T + N_l)       the paper's I_theta
    H_l = int rho u x U_l = 2 skew(N_l)                        the paper's I_theta_e

        [ m I        -R skew(S)   R Ub ]
    M = [ skew(S) R^T     J        H   ]                       [GOMGL07, eq. 9], signs as in docs/theory.md
        [ Ub^T R^T       H^T       Me  ]

    Q_v = -(R h_c, h_w, h_q),   g = w x (w x u) + 2 w x U q'   [GOMGL07, eq. 13], corrected
    h_c = int rho g = w x (w x S + 2 Ub q')
    h_w = int rho u x g = w x J w + 2 (tr(N') I - N') w,       N' = sum_l q'_l N_l
    h_q = int rho U_l . g = w . N_l w - |w|² tr N_l + 2 w . 2 skew(V_l),   V_l = sum_p q'_p W7_lp

Momentum of the modes, pulled back at another rotation R_a, with F = R_a^T R and <.,.> the sum of products:

    p_l = int rho U_l . R_a^T x' = Ub_l . R_a^T c' + <B_l, F>
    B_l = int rho U_l (w x u + U q')^T = N_l skew(w)^T + V_l

Centrifugal stiffening changes only the symmetric part of the W7 that N is made with (see `stiffening`), never V.
N and V are flat, (9 r,), l outermost.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross, quaternion_matrix, turn, turn_back

Array = np.ndarray


class InertiaNumbers(NamedTuple):
    """mass [kg]; S0 (3,); P0 (3, 3); U_bar (3, r); W5 (9 r,); W7, W7_turning (r, 9 r), row p, column (l, i, j);
    Me (r, r)."""

    mass: float
    S0: Array
    P0: Array
    U_bar: Array
    W5: Array
    W7: Array
    W7_turning: Array
    Me: Array


class Workspace(NamedTuple):
    """Scratch of one state: R, J (3, 3); S (3,); N, V (9 r,); h (6 + r,)."""

    R: Array
    J: Array
    S: Array
    N: Array
    V: Array
    h: Array

    @classmethod
    def empty(cls, r: int) -> Workspace:
        """Workspace for r modes."""
        return cls(*(np.empty(shape) for shape in ((3, 3), (3, 3), 3, 9 * r, 9 * r, 6 + r)))


@compiled(inline=True)
def modes_product(U_bar, q, start):
    """U_bar q of the modes q[start:], a triple."""
    a, b, c = 0.0, 0.0, 0.0
    for l in range(U_bar.shape[1]):
        a += U_bar[0, l] * q[start + l]
        b += U_bar[1, l] * q[start + l]
        c += U_bar[2, l] * q[start + l]
    return a, b, c


@compiled(borrows=True)
def set_rotation(quaternion, R_out):
    """R_out (3, 3) of a quaternion (4,)."""
    m = quaternion_matrix((quaternion[0], quaternion[1], quaternion[2], quaternion[3]))
    R_out[0, 0], R_out[0, 1], R_out[0, 2] = m[0], m[1], m[2]
    R_out[1, 0], R_out[1, 1], R_out[1, 2] = m[3], m[4], m[5]
    R_out[2, 0], R_out[2, 1], R_out[2, 2] = m[6], m[7], m[8]


@compiled(borrows=True)
def add_rows(rows, q, start, out):
    """out += sum_p q[start + p] rows[p]."""
    for p in range(rows.shape[0]):
        value = q[start + p]
        row = rows[p]
        for k in range(out.size):
            out[k] += value * row[k]


@compiled(borrows=True)
def combine(base, rows, q, start, out):
    """out = base + sum_p q[start + p] rows[p]."""
    for k in range(out.size):
        out[k] = base[k]
    add_rows(rows, q, start, out)


@compiled(borrows=True)
def mix(rows, v, out):
    """out = sum_p v[6 + p] rows[p]."""
    for k in range(out.size):
        out[k] = 0.0
    add_rows(rows, v, 6, out)


@compiled(borrows=True)
def compute_moments(numbers, x, workspace):
    """R, N, S and J at x (7 + r,)."""
    set_rotation(x[3:7], workspace.R)
    N, W5, J, S = workspace.N, numbers.W5, workspace.J, workspace.S
    combine(W5, numbers.W7_turning, x, 7, N)  # (11.4)
    flow = modes_product(numbers.U_bar, x, 7)
    S[0], S[1], S[2] = numbers.S0[0] + flow[0], numbers.S0[1] + flow[1], numbers.S0[2] + flow[2]  # (11.5)
    P00, P11, P22 = numbers.P0[0, 0], numbers.P0[1, 1], numbers.P0[2, 2]
    P01, P02, P12 = numbers.P0[0, 1], numbers.P0[0, 2], numbers.P0[1, 2]
    for l in range(numbers.U_bar.shape[1]):
        value, k = x[7 + l], 9 * l
        P00 += value * (N[k] + W5[k])  # (11.5)
        P11 += value * (N[k + 4] + W5[k + 4])
        P22 += value * (N[k + 8] + W5[k + 8])
        P01 += 0.5 * value * (N[k + 1] + W5[k + 1] + N[k + 3] + W5[k + 3])  # (11.5)
        P02 += 0.5 * value * (N[k + 2] + W5[k + 2] + N[k + 6] + W5[k + 6])
        P12 += 0.5 * value * (N[k + 5] + W5[k + 5] + N[k + 7] + W5[k + 7])
    J[0, 0], J[1, 1], J[2, 2] = P11 + P22, P00 + P22, P00 + P11  # (11.5)
    J[0, 1] = J[1, 0] = -P01
    J[0, 2] = J[2, 0] = -P02
    J[1, 2] = J[2, 1] = -P12


@compiled(borrows=True)
def compute_velocity_terms(numbers, v, workspace):
    """V and h = -Q_v at v (6 + r,), after `compute_moments`."""
    N, V, J, h = workspace.N, workspace.V, workspace.J, workspace.h
    w = (v[3], v[4], v[5])
    square = w[0] * w[0] + w[1] * w[1] + w[2] * w[2]
    mix(numbers.W7, v, V)
    flow = modes_product(numbers.U_bar, v, 6)
    a = cross(w, (workspace.S[0], workspace.S[1], workspace.S[2]))
    h_c = turn(workspace.R, cross(w, (a[0] + 2.0 * flow[0], a[1] + 2.0 * flow[1], a[2] + 2.0 * flow[2])))  # (11.6)
    h_w = cross(w, turn(J, w))  # (11.7)
    t0, t1, t2 = 0.0, 0.0, 0.0  # (tr(N') I - N') w
    for l in range(numbers.U_bar.shape[1]):
        k, rate = 9 * l, v[6 + l]
        trace = N[k] + N[k + 4] + N[k + 8]
        n0 = N[k] * w[0] + N[k + 1] * w[1] + N[k + 2] * w[2]
        n1 = N[k + 3] * w[0] + N[k + 4] * w[1] + N[k + 5] * w[2]
        n2 = N[k + 6] * w[0] + N[k + 7] * w[1] + N[k + 8] * w[2]
        t0 += rate * (trace * w[0] - n0)  # (11.7)
        t1 += rate * (trace * w[1] - n1)
        t2 += rate * (trace * w[2] - n2)
        spin = w[0] * (V[k + 7] - V[k + 5]) + w[1] * (V[k + 2] - V[k + 6]) + w[2] * (V[k + 3] - V[k + 1])  # (11.8)
        h[6 + l] = w[0] * n0 + w[1] * n1 + w[2] * n2 - square * trace + 2.0 * spin  # (11.8)
    h[0], h[1], h[2] = h_c
    h[3], h[4], h[5] = h_w[0] + 2.0 * t0, h_w[1] + 2.0 * t1, h_w[2] + 2.0 * t2  # (11.7)


@compiled(borrows=True)
def compute_mass(numbers, workspace, M_out):
    """M_out (6 + r, 6 + r), after `compute_moments`."""
    R, S, J, N, U_bar = workspace.R, workspace.S, workspace.J, workspace.N, numbers.U_bar
    r = U_bar.shape[1]
    for i in range(3):
        for j in range(3):
            M_out[i, j] = 0.0
            M_out[3 + i, 3 + j] = J[i, j]  # (11.1)
        M_out[i, i] = numbers.mass  # (11.1)
        M_out[3, i] = M_out[i, 3] = S[1] * R[i, 2] - S[2] * R[i, 1]  # row (skew(S) R^T)_0i = (S x R_i)_0
        M_out[4, i] = M_out[i, 4] = S[2] * R[i, 0] - S[0] * R[i, 2]  # (11.1)
        M_out[5, i] = M_out[i, 5] = S[0] * R[i, 1] - S[1] * R[i, 0]  # (11.1)
    for l in range(r):
        k = 9 * l
        a = turn(R, (U_bar[0, l], U_bar[1, l], U_bar[2, l]))
        M_out[6 + l, 0], M_out[6 + l, 1], M_out[6 + l, 2] = a  # (11.1)
        M_out[6 + l, 3], M_out[6 + l, 4], M_out[6 + l, 5] = (  # (11.5)
            N[k + 7] - N[k + 5],
            N[k + 2] - N[k + 6],
            N[k + 3] - N[k + 1],
        )
        for i in range(6):
            M_out[i, 6 + l] = M_out[6 + l, i]
        for p in range(r):
            M_out[6 + l, 6 + p] = numbers.Me[l, p]  # (11.1)


@compiled(borrows=True)
def compute_momentum(numbers, v, workspace, p_out):
    """p_out (6 + r,) = M v: linear in world axes, angular about the frame's origin in body axes, of the modes.

    After `compute_moments`.
    """
    R, N, U_bar, Me = workspace.R, workspace.N, numbers.U_bar, numbers.Me
    S, w, m = (workspace.S[0], workspace.S[1], workspace.S[2]), (v[3], v[4], v[5]), numbers.mass
    body = turn_back(R, (v[0], v[1], v[2]))
    flow = modes_product(U_bar, v, 6)
    a = cross(w, S)
    p = turn(R, (m * body[0] + a[0] + flow[0], m * body[1] + a[1] + flow[1], m * body[2] + a[2] + flow[2]))  # (11.1)
    L = cross(S, body)
    b = turn(workspace.J, w)
    l0, l1, l2 = L[0] + b[0], L[1] + b[1], L[2] + b[2]  # (11.1)
    for l in range(U_bar.shape[1]):
        k, rate = 9 * l, v[6 + l]
        h0, h1, h2 = N[k + 7] - N[k + 5], N[k + 2] - N[k + 6], N[k + 3] - N[k + 1]  # (11.5)
        l0 += rate * h0
        l1 += rate * h1
        l2 += rate * h2
        total = U_bar[0, l] * body[0] + U_bar[1, l] * body[1] + U_bar[2, l] * body[2]
        p_out[6 + l] = total + h0 * w[0] + h1 * w[1] + h2 * w[2]  # (11.1)
    p_out[0], p_out[1], p_out[2] = p
    p_out[3], p_out[4], p_out[5] = l0, l1, l2
    for q in range(Me.shape[0]):
        rate = v[6 + q]
        for l in range(Me.shape[0]):
            p_out[6 + l] += Me[q, l] * rate  # (11.1)


@compiled(borrows=True)
def compute_pull(v, workspace):
    """workspace.V <- B_l, from N and V; see the module.

    After `compute_moments`, and `mix` of V.
    """
    N, V = workspace.N, workspace.V
    for k in range(0, N.size, 3):  # row i of U_l u^T becomes w x that row
        a = cross((v[3], v[4], v[5]), (N[k], N[k + 1], N[k + 2]))  # (11.10)
        V[k] += a[0]
        V[k + 1] += a[1]
        V[k + 2] += a[2]


@compiled(borrows=True)
def pull_modes(numbers, v, workspace, R_at, p_out):
    """p_out[6:] = the modes' momentum pulled back at the rotation R_at, after `compute_pull`."""
    R, B, U_bar = workspace.R, workspace.V, numbers.U_bar
    f0 = turn_back(R_at, (R[0, 0], R[1, 0], R[2, 0]))  # columns of F = R_at^T R
    f1 = turn_back(R_at, (R[0, 1], R[1, 1], R[2, 1]))
    f2 = turn_back(R_at, (R[0, 2], R[1, 2], R[2, 2]))
    at = turn_back(R_at, (v[0], v[1], v[2]))
    for l in range(U_bar.shape[1]):
        k = 9 * l
        p_out[6 + l] = (  # (11.10)
            (U_bar[0, l] * at[0] + U_bar[1, l] * at[1] + U_bar[2, l] * at[2])
            + (B[k] * f0[0] + B[k + 1] * f1[0] + B[k + 2] * f2[0])
            + (B[k + 3] * f0[1] + B[k + 4] * f1[1] + B[k + 5] * f2[1])
            + (B[k + 6] * f0[2] + B[k + 7] * f1[2] + B[k + 8] * f2[2])
        )


@compiled
def mass_matrix(numbers, x, workspace, M_out):
    """M_out at x (7 + r,)."""
    compute_moments(numbers, x, workspace)
    compute_mass(numbers, workspace, M_out)


@compiled
def mass_product(numbers, x, v, workspace, p_out):
    """p_out (6 + r,) = M v at x (7 + r,)."""
    compute_moments(numbers, x, workspace)
    compute_momentum(numbers, v, workspace, p_out)


@compiled
def velocity_terms(numbers, x, v, workspace):
    """-Q_v in workspace.h at x (7 + r,), v (6 + r,)."""
    compute_moments(numbers, x, workspace)
    compute_velocity_terms(numbers, v, workspace)


@compiled
def momentum(numbers, x, v, R_at, workspace, p_out):
    """p_out (6 + r,): linear and angular momentum about the frame's origin, both in world axes, and the modes' pulled
    back at the rotation R_at, of x (7 + r,) and v (6 + r,)."""
    compute_moments(numbers, x, workspace)
    compute_momentum(numbers, v, workspace, p_out)
    mix(numbers.W7, v, workspace.V)
    compute_pull(v, workspace)
    pull_modes(numbers, v, workspace, R_at, p_out)
    p_out[3], p_out[4], p_out[5] = turn(workspace.R, (p_out[3], p_out[4], p_out[5]))
