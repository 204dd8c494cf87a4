"""Elastic laws: one energy density each, with the stress and tangent derived from it.

    psi(F)  [J/m³],   P = dpsi/dF  [Pa],   C = dP/dF  [Pa],   F = dx/dX deformation gradient, lam, mu Lamé's constants

    linear         e = sym F - I          psi = mu e:e + lam/2 tr(e)^2
    corotational   F = R S                psi = mu |F - R|^2 + lam/2 tr(S - I)^2
    stvk           E = (F^T F - I)/2      psi = mu E:E + lam/2 tr(E)^2
    neo-hookean    I = F:F, J = det F     psi = m/2 (I - 3) - m/2 log(I + 1) + l/2 (J - a)^2 + constant
                   m = 4/3 mu, l = lam + 5/6 mu, a = 1 + 3 m / (4 l)          [Smith18], finite at any F, J < 0 too

All four have the same stiffness at rest. The functions take values: a 9-tuple F (row by row) of scalars or of SIMD
lanes, and constants of the same type; the tangents write the 81 entries C[ij, kl] to a buffer, LANES values each.

`definite` asks for a positive semi-definite C. For the corotational law, C = 2 mu I + lam R⊗R + c dR/dF, and dR/dF
has the eigenvalues 2/(s_i + s_j) on the three twists (s: singular values), so that c >= -mu min(s_i + s_j) is
sufficient. The other nonlinear laws clamp the eigenvalues of the 9x9 matrix.
"""

from __future__ import annotations

import math

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.polar_kernels import polar_rotation
from supple.algebra.lanes.lane_type import LANES, load, select_ge, store
from supple.material import Law

LINEAR, COROTATIONAL, STVK = int(Law.LINEAR), int(Law.COROTATIONAL), int(Law.STVK)


@compiled(inline=True)
def polar(F):
    """Rotation R of F = R S as a 9-tuple, and the smallest sum of two singular values."""
    r = polar_rotation(F[0], F[1], F[2], F[3], F[4], F[5], F[6], F[7], F[8])
    return (r[0], r[1], r[2], r[3], r[4], r[5], r[6], r[7], r[8]), r[9]


@compiled(inline=True)
def symmetric_inverse(a, b, c, d, e, f):
    """Inverse of [[a, b, c], [b, d, e], [c, e, f]] as six values in the same order."""
    A, B, C = d * f - e * e, c * e - b * f, b * e - c * d
    s = 1.0 / (a * A + b * B + c * C)
    return A * s, B * s, C * s, (a * f - c * c) * s, (b * c - a * e) * s, (a * d - b * b) * s


@compiled(inline=True)
def contract(A, B):
    """A:B of two matrices as 9-tuples."""
    s = A[0] * B[0] + A[1] * B[1] + A[2] * B[2] + A[3] * B[3] + A[4] * B[4]
    return s + A[5] * B[5] + A[6] * B[6] + A[7] * B[7] + A[8] * B[8]


@compiled(inline=True)
def cofactor(F):
    """dJ/dF, the cofactor matrix."""
    return (
        F[4] * F[8] - F[5] * F[7],
        F[5] * F[6] - F[3] * F[8],
        F[3] * F[7] - F[4] * F[6],
        F[2] * F[7] - F[1] * F[8],
        F[0] * F[8] - F[2] * F[6],
        F[1] * F[6] - F[0] * F[7],
        F[1] * F[5] - F[2] * F[4],
        F[2] * F[3] - F[0] * F[5],
        F[0] * F[4] - F[1] * F[3],
    )


@compiled(inline=True)
def combine(a, A, b, B):
    """a A + b B of two matrices as 9-tuples."""
    return (
        a * A[0] + b * B[0],
        a * A[1] + b * B[1],
        a * A[2] + b * B[2],
        a * A[3] + b * B[3],
        a * A[4] + b * B[4],
        a * A[5] + b * B[5],
        a * A[6] + b * B[6],
        a * A[7] + b * B[7],
        a * A[8] + b * B[8],
    )


@compiled(inline=True)
def second_piola(F, lam, mu):
    """S = lam tr(E) I + 2 mu E of Green's strain E, as (S00, S01, S02, S11, S12, S22)."""
    E00 = 0.5 * (F[0] * F[0] + F[3] * F[3] + F[6] * F[6] - 1.0)
    E11 = 0.5 * (F[1] * F[1] + F[4] * F[4] + F[7] * F[7] - 1.0)
    E22 = 0.5 * (F[2] * F[2] + F[5] * F[5] + F[8] * F[8] - 1.0)
    p = lam * (E00 + E11 + E22)  # (6.7)
    return (
        p + 2.0 * mu * E00,
        mu * (F[0] * F[1] + F[3] * F[4] + F[6] * F[7]),
        mu * (F[0] * F[2] + F[3] * F[5] + F[6] * F[8]),
        p + 2.0 * mu * E11,
        mu * (F[1] * F[2] + F[4] * F[5] + F[7] * F[8]),
        p + 2.0 * mu * E22,
    )


@compiled(inline=True)
def stress(law, F, lam, mu):
    """First Piola-Kirchhoff stress P = dpsi/dF [Pa], 9-tuple."""
    if law == LINEAR:
        p = lam * (F[0] + F[4] + F[8] - 3.0)  # (6.5)
        s01, s02, s12 = mu * (F[1] + F[3]), mu * (F[2] + F[6]), mu * (F[5] + F[7])  # (6.5)
        return (
            p + 2.0 * mu * (F[0] - 1.0),
            s01,
            s02,
            s01,
            p + 2.0 * mu * (F[4] - 1.0),
            s12,
            s02,
            s12,
            p + 2.0 * mu * (F[8] - 1.0),
        )
    if law == COROTATIONAL:
        R, _ = polar(F)
        return combine(2.0 * mu, F, lam * (contract(R, F) - 3.0) - 2.0 * mu, R)  # (6.6)
    if law == STVK:
        S00, S01, S02, S11, S12, S22 = second_piola(F, lam, mu)  # (6.7)
        return (
            F[0] * S00 + F[1] * S01 + F[2] * S02,
            F[0] * S01 + F[1] * S11 + F[2] * S12,
            F[0] * S02 + F[1] * S12 + F[2] * S22,
            F[3] * S00 + F[4] * S01 + F[5] * S02,
            F[3] * S01 + F[4] * S11 + F[5] * S12,
            F[3] * S02 + F[4] * S12 + F[5] * S22,
            F[6] * S00 + F[7] * S01 + F[8] * S02,
            F[6] * S01 + F[7] * S11 + F[8] * S12,
            F[6] * S02 + F[7] * S12 + F[8] * S22,
        )
    m, l = mu * (4.0 / 3.0), lam + mu * (5.0 / 6.0)
    cof = cofactor(F)
    J = F[0] * cof[0] + F[1] * cof[1] + F[2] * cof[2]
    return combine(m - m / (contract(F, F) + 1.0), F, l * (J - 1.0) - 0.75 * m, cof)  # (6.8)


@compiled(inline=True)
def lane_logarithm(value, work):
    """Natural logarithm of each lane; work: LANES numbers."""
    store(work, 0, value)
    for w in range(LANES):
        work[w] = math.log(work[w])
    return load(work, 0, LANES)


@compiled(inline=True)
def energy_density(law, F, lam, mu, work):
    """psi(F) [J/m³], zero at rest; lanes only; work: LANES numbers."""
    if law == LINEAR:
        d0, d1, d2 = F[0] - 1.0, F[4] - 1.0, F[8] - 1.0
        e01, e02, e12 = 0.5 * (F[1] + F[3]), 0.5 * (F[2] + F[6]), 0.5 * (F[5] + F[7])
        trace, ee = d0 + d1 + d2, d0 * d0 + d1 * d1 + d2 * d2 + 2.0 * (e01 * e01 + e02 * e02 + e12 * e12)
        return mu * ee + 0.5 * lam * trace * trace  # (6.1)
    if law == COROTATIONAL:
        R, _ = polar(F)
        D = combine(1.0, F, -1.0, R)
        trace = contract(R, F) - 3.0
        return mu * contract(D, D) + 0.5 * lam * trace * trace  # (6.2)
    if law == STVK:
        S00, S01, S02, S11, S12, S22 = second_piola(F, lam * 0.0, lam * 0.0 + 0.5)
        trace = S00 + S11 + S22
        ee = S00 * S00 + S11 * S11 + S22 * S22 + 2.0 * (S01 * S01 + S02 * S02 + S12 * S12)
        return mu * ee + 0.5 * lam * trace * trace  # (6.3)
    m, l = mu * (4.0 / 3.0), lam + mu * (5.0 / 6.0)
    alpha = 1.0 + 0.75 * m / l
    cof = cofactor(F)
    J = F[0] * cof[0] + F[1] * cof[1] + F[2] * cof[2]
    I = contract(F, F)
    volumetric = 0.5 * l * ((J - alpha) * (J - alpha) - (1.0 - alpha) * (1.0 - alpha))  # (6.4)
    return 0.5 * m * (I - 3.0) - 0.5 * m * lane_logarithm((I + 1.0) * 0.25, work) + volumetric  # (6.4)


@compiled(inline=True)
def corotational_parts(F, lam, mu, definite):
    """R, the inverse of K = tr(S) I - S (six values), and the factor c of dR/dF; see the module's docstring."""
    R, s_min = polar(F)
    S00 = R[0] * F[0] + R[3] * F[3] + R[6] * F[6]
    S01 = R[0] * F[1] + R[3] * F[4] + R[6] * F[7]
    S02 = R[0] * F[2] + R[3] * F[5] + R[6] * F[8]
    S11 = R[1] * F[1] + R[4] * F[4] + R[7] * F[7]
    S12 = R[1] * F[2] + R[4] * F[5] + R[7] * F[8]
    S22 = R[2] * F[2] + R[5] * F[5] + R[8] * F[8]
    c = lam * (S00 + S11 + S22 - 3.0) - 2.0 * mu  # (6.13)
    if definite:
        floor = -(mu * s_min)  # (6.24)
        c = select_ge(c, floor, c, floor)
        c = select_ge(s_min, 0.01, c, c * 0.0)  # an element that is almost inverted: keep the positive rest
    return R, symmetric_inverse(S11 + S22, -S01, -S02, S00 + S22, -S12, S00 + S11), c  # (6.14)


@compiled(inline=True)
def store_nine(A, buffer, start, width):
    """Write a 9-tuple to buffer[start:], one group of `width` lanes an entry."""
    store(buffer, start, A[0])
    store(buffer, start + width, A[1])
    store(buffer, start + 2 * width, A[2])
    store(buffer, start + 3 * width, A[3])
    store(buffer, start + 4 * width, A[4])
    store(buffer, start + 5 * width, A[5])
    store(buffer, start + 6 * width, A[6])
    store(buffer, start + 7 * width, A[7])
    store(buffer, start + 8 * width, A[8])


@compiled(inline=True)
def add_at(buffer, entry, value):
    """buffer[entry] += value, in lanes of LANES."""
    store(buffer, entry * LANES, load(buffer, entry * LANES, LANES) + value)


@compiled
def compute_corotational_tangent(F, lam, mu, definite, work, C_out):
    """C = 2 mu I + lam R⊗R + c sum_mn Q_mn T_m⊗T_n, T_m = R [e_m]x, Q = K^-1; work: R at 0, T_m at 9, 18, 27."""
    R, Q, c = corotational_parts(F, lam, mu, definite)
    z = lam * 0.0
    store_nine(R, work, 0, LANES)
    store_nine((z, R[2], -R[1], z, R[5], -R[4], z, R[8], -R[7]), work, 9 * LANES, LANES)  # (6.14)
    store_nine((-R[2], z, R[0], -R[5], z, R[3], -R[8], z, R[6]), work, 18 * LANES, LANES)
    store_nine((R[1], -R[0], z, R[4], -R[3], z, R[7], -R[6], z), work, 27 * LANES, LANES)
    for s in range(9):
        t0 = load(work, (9 + s) * LANES, LANES)
        t1 = load(work, (18 + s) * LANES, LANES)
        t2 = load(work, (27 + s) * LANES, LANES)
        u0 = c * (Q[0] * t0 + Q[1] * t1 + Q[2] * t2)  # (6.14)
        u1 = c * (Q[1] * t0 + Q[3] * t1 + Q[4] * t2)
        u2 = c * (Q[2] * t0 + Q[4] * t1 + Q[5] * t2)
        r = lam * load(work, s * LANES, LANES)
        for k in range(s, 9):
            v = u0 * load(work, (9 + k) * LANES, LANES) + u1 * load(work, (18 + k) * LANES, LANES)
            v = v + u2 * load(work, (27 + k) * LANES, LANES) + r * load(work, k * LANES, LANES)  # (6.13)
            store(C_out, (9 * s + k) * LANES, v)
        add_at(C_out, 10 * s, 2.0 * mu)  # (6.13)


@compiled
def compute_linear_tangent(lam, mu, C_out):
    """C_ijkl = lam d_ij d_kl + mu (d_ik d_jl + d_il d_jk)."""
    for s in range(81):
        store(C_out, s * LANES, lam * 0.0)
    for i in range(3):
        for j in range(3):
            s, k = 3 * i + j, 3 * j + i
            add_at(C_out, 10 * s, mu)  # (6.12)
            if k >= s:
                add_at(C_out, 9 * s + k, mu)
            if j >= i:
                add_at(C_out, 36 * i + 4 * j, lam)  # (6.12)


@compiled
def compute_stvk_tangent(F, lam, mu, work, C_out):
    """dP = dF S + F (lam tr(F^T dF) I + mu (dF^T F + F^T dF)); work: F at 0, S at 9."""
    S00, S01, S02, S11, S12, S22 = second_piola(F, lam, mu)
    store_nine(F, work, 0, LANES)
    store_nine((S00, S01, S02, S01, S11, S12, S02, S12, S22), work, 9 * LANES, LANES)
    for i in range(3):
        for j in range(3):
            Fij = load(work, (3 * i + j) * LANES, LANES)
            for k in range(i, 3):
                Fkj = load(work, (3 * k + j) * LANES, LANES)
                b = load(work, 3 * i * LANES, LANES) * load(work, 3 * k * LANES, LANES)
                b = b + load(work, (3 * i + 1) * LANES, LANES) * load(work, (3 * k + 1) * LANES, LANES)
                b = b + load(work, (3 * i + 2) * LANES, LANES) * load(work, (3 * k + 2) * LANES, LANES)
                for l in range(3):
                    Fkl, Fil = load(work, (3 * k + l) * LANES, LANES), load(work, (3 * i + l) * LANES, LANES)
                    v = lam * Fij * Fkl + mu * Fil * Fkj  # (6.15)
                    if j == l:
                        v = v + mu * b
                    if i == k:
                        v = v + load(work, (9 + 3 * j + l) * LANES, LANES)
                    store(C_out, (9 * (3 * i + j) + 3 * k + l) * LANES, v)


@compiled
def compute_neo_hookean_tangent(F, lam, mu, work, C_out):
    """Derivative of P = m (1 - 1/(I + 1)) F + l (J - a) cof F; work: F at 0, cof F at 9."""
    m, l = mu * (4.0 / 3.0), lam + mu * (5.0 / 6.0)
    cof = cofactor(F)
    J = F[0] * cof[0] + F[1] * cof[1] + F[2] * cof[2]
    n = 1.0 / (contract(F, F) + 1.0)
    p = l * (J - 1.0) - 0.75 * m  # (6.16)
    store_nine(F, work, 0, LANES)
    store_nine(cof, work, 9 * LANES, LANES)
    for s in range(9):
        f = 2.0 * m * n * n * load(work, s * LANES, LANES)
        g = l * load(work, (9 + s) * LANES, LANES)
        for k in range(s, 9):
            v = f * load(work, k * LANES, LANES) + g * load(work, (9 + k) * LANES, LANES)  # (6.16)
            i, j, a, b = s // 3, s % 3, k // 3, k % 3
            if i != a and j != b:  # d cof_ij / dF_ab = e_iap e_jbq F_pq, (6.17)
                q = p * load(work, (3 * (3 - i - a) + 3 - j - b) * LANES, LANES)
                if ((a - i) % 3 == 1) == ((b - j) % 3 == 1):
                    v = v + q
                else:
                    v = v - q
            store(C_out, (9 * s + k) * LANES, v)
        add_at(C_out, 10 * s, m - m * n)  # (6.16)


@compiled
def compute_tangent(law, F, lam, mu, definite, work, C_out):
    """C[ij, kl] = dP_ij/dF_kl [Pa] into C_out (81 * LANES,); of the 9x9 the upper triangle is written."""
    if law == COROTATIONAL:
        compute_corotational_tangent(F, lam, mu, definite, work, C_out)
    elif law == LINEAR:
        compute_linear_tangent(lam, mu, C_out)
    elif law == STVK:
        compute_stvk_tangent(F, lam, mu, work, C_out)
    else:
        compute_neo_hookean_tangent(F, lam, mu, work, C_out)
    if definite and law != LINEAR and law != COROTATIONAL:
        project_definite(C_out)


@compiled
def is_semidefinite(A, factor):
    """Whether the 9x9 matrix A has no eigenvalue below -1e-12 of its size, by Cholesky's factors of a shifted A."""
    shift = 0.0
    for i in range(9):
        shift += 1e-12 * abs(A[i, i])
    for i in range(9):
        for j in range(i + 1):
            total = A[i, j]
            for k in range(j):
                total -= factor[i, k] * factor[j, k]
            if i == j:
                total += shift
                if not total > 0.0:
                    return False
                factor[i, i] = math.sqrt(total)
            else:
                factor[i, j] = total / factor[j, j]
    return True


@compiled
def project_definite(C):
    """Clamp the negative eigenvalues of each lane's 9x9 matrix to zero, in place (upper triangle)."""
    A, factor = np.empty((9, 9)), np.empty((9, 9))
    for w in range(LANES):
        for s in range(9):
            for k in range(s, 9):
                A[s, k] = C[(9 * s + k) * LANES + w]
                A[k, s] = A[s, k]
        if is_semidefinite(A, factor):
            continue
        values, vectors = np.linalg.eigh(A)
        if not np.isfinite(values[0]):
            continue
        for s in range(9):
            for k in range(s, 9):
                total = 0.0
                for e in range(9):
                    if values[e] > 0.0:
                        total += values[e] * vectors[s, e] * vectors[k, e]
                C[(9 * s + k) * LANES + w] = total
