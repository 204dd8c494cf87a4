"""Strain features of bricks, 63 a brick, whose products are the integral of the St. Venant-Kirchhoff energy, exactly.

In a brick dU/dx is bilinear in y and z, and so on. With Legendre polynomials that are orthonormal in the mean over the
brick, p0 = 1, p1 = sqrt(3) xi, p2 = sqrt(5) (3 xi² - 1) / 2, of the reference coordinates of [-1, 1]³,

    dU/dx = sum X_bc p_b(eta) p_c(zeta),   b, c = 0, 1;      p1² = p0 + C p2,   C = 2 / sqrt(5)

a strain E_xx has the 9 terms p_b(eta) p_c(zeta), b, c = 0, 1, 2, and E_xy the 12 terms p_a(xi) p_b(eta) p_c(zeta),
a, b = 0, 1, c = 0, 1, 2. Different terms do not meet in the integral of W = 1/2 E : C : E. Of one term, as many
of the three stretches meet as do not depend on its coordinates:

    2 W = (lam + 2 mu) x²                                          one
    2 W = (lam + mu) (x + y)² + mu (x - y)²                        two
    2 W = (lam + 2 mu / 3) tr² + 2 mu |dev|²                       three, the constant term
    2 W = mu (2 E_xy)²                                             shears

27 points with 6 numbers each, as `gram_kernels` take for other hexes, give the same sums.
"""

# mypy: ignore-errors
from __future__ import annotations

from math import sqrt

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, store

FEATURES = 63
"""Features of a brick: 27 of stretches, 36 of shears."""
C = 2.0 / sqrt(5.0)
HALF = sqrt(0.5)
SIXTH = sqrt(1.0 / 6.0)


@compiled
def compute_brick_features(G, r, volume, lam, mu, features_out):
    """features_out (63 bricks, >= r + r (r + 1) / 2 + LANES) from G (bricks, 3, 4, 3, >= r + LANES).

    G[e, j, m, k]: coefficient m of dU_k/dX_j of all columns; m = 2 b + c of the degrees b, c in the other two
    coordinates. volume, lam, mu (bricks,). What lies beyond the last feature is overwritten.
    """
    count, width, stride = G.shape[0], G.shape[4], features_out.shape[1]
    terms, flat = np.empty(FEATURES * LANES), features_out.ravel()
    for e in range(count):
        g, at = G[e].ravel(), e * FEATURES * stride
        for l in range(0, r, LANES):
            fill_linear(g, width, l, terms)
            store_features(terms, volume[e], lam[e], mu[e], at + l, stride, flat)
        for i in range(r):
            column = r + i * r - (i * (i + 1)) // 2
            for l in range(i, r, LANES):
                fill_stretches(g, width, i, l, terms)
                fill_shears(g, width, i, l, terms)
                store_features(terms, volume[e], lam[e], mu[e], at + column + l, stride, flat)
            for m in range(FEATURES):  # b_ii = 1/2 sym(G_i^T G_i), (13.3)
                flat[at + m * stride + column + i] *= 0.5


@compiled(inline=True)
def coefficient(j, m, k):
    """Where the coefficient m of dU_k/dX_j lies, in widths."""
    return (j * 4 + m) * 3 + k


@compiled(inline=True)
def spacing(j, axis):
    """What a degree in `axis` counts in the number m of a coefficient of d/dX_j: 2 for the first of the others."""
    return 1 if axis == 2 or (axis == 1 and j == 2) else 2


@compiled(borrows=True)
def fill_linear(g, width, l, terms_out):
    """Terms of sym G_l for LANES columns from l: stretches E_jj, then shears 2 E_jk."""
    nothing = 0.0 * load(g, l)
    for m in range(FEATURES):
        store(terms_out, m * LANES, nothing)
    for j in range(3):
        for b in range(2):
            for c in range(2):
                x = load(g, coefficient(j, 2 * b + c, j) * width + l)
                store(terms_out, (9 * j + 3 * b + c) * LANES, x)
    for t in range(3):
        j, k = (1, 2) if t == 0 else ((0, 2) if t == 1 else (0, 1))
        for d in range(2):
            for c in range(2):
                x = load(g, coefficient(j, spacing(j, k) * d + spacing(j, t) * c, k) * width + l)
                y = load(g, coefficient(k, spacing(k, j) * d + spacing(k, t) * c, j) * width + l)
                if d == 0:
                    store(terms_out, (27 + 12 * t + c) * LANES, x + y)
                else:
                    store(terms_out, (27 + 12 * t + 3 + c) * LANES, x)
                    store(terms_out, (27 + 12 * t + 6 + c) * LANES, y)


@compiled(borrows=True)
def fill_stretches(g, width, i, l, terms_out):
    """Terms of (G_i^T G_l)_jj of column i and LANES columns from l, 9 for each j."""
    for j in range(3):
        at = coefficient(j, 0, 0) * width
        r00 = r01 = r02 = r10 = r11 = r12 = r20 = r21 = r22 = 0.0 * load(g, at + l)
        for k in range(3):
            x0, x1, x2, x3 = at + k * width, at + (3 + k) * width, at + (6 + k) * width, at + (9 + k) * width
            a00, a01, a10, a11 = g[x0 + i], g[x1 + i], g[x2 + i], g[x3 + i]
            b00, b01, b10, b11 = load(g, x0 + l), load(g, x1 + l), load(g, x2 + l), load(g, x3 + l)
            low, high, both = a01 * b01, a10 * b10, a11 * b11
            r00 += a00 * b00 + low + high + both  # (13.5)
            r01 += a00 * b01 + a01 * b00 + a10 * b11 + a11 * b10
            r10 += a00 * b10 + a10 * b00 + a01 * b11 + a11 * b01
            r11 += a00 * b11 + a11 * b00 + a01 * b10 + a10 * b01
            r02 += low + both
            r20 += high + both
            r12 += a01 * b11 + a11 * b01
            r21 += a10 * b11 + a11 * b10
            r22 += both
        start = 9 * j * LANES
        store(terms_out, start, r00)
        store(terms_out, start + LANES, r01)
        store(terms_out, start + 2 * LANES, C * r02)  # (13.5)
        store(terms_out, start + 3 * LANES, r10)
        store(terms_out, start + 4 * LANES, r11)
        store(terms_out, start + 5 * LANES, C * r12)
        store(terms_out, start + 6 * LANES, C * r20)
        store(terms_out, start + 7 * LANES, C * r21)
        store(terms_out, start + 8 * LANES, C * C * r22)


@compiled(borrows=True)
def fill_shears(g, width, i, l, terms_out):
    """Terms of (G_i^T G_l)_jk + (G_l^T G_i)_jk, 12 for each third axis t: by degrees in k, j (0, 1) and t (0, 1, 2)."""
    for t in range(3):
        j, k = (1, 2) if t == 0 else ((0, 2) if t == 1 else (0, 1))
        for dk in range(2):
            for dj in range(2):
                x = coefficient(j, spacing(j, k) * dk, 0) * width
                y = coefficient(k, spacing(k, j) * dj, 0) * width
                to_x, to_y = 3 * spacing(j, t) * width, 3 * spacing(k, t) * width
                r0 = r1 = r2 = 0.0 * load(g, x + l)
                for c in range(3):
                    x0, y0 = x + c * width, y + c * width
                    x1, y1 = x0 + to_x, y0 + to_y
                    a0, a1, b0, b1 = g[x0 + i], g[x1 + i], g[y0 + i], g[y1 + i]
                    p0, p1, q0, q1 = load(g, x0 + l), load(g, x1 + l), load(g, y0 + l), load(g, y1 + l)
                    high = a1 * q1 + b1 * p1
                    r0 += a0 * q0 + b0 * p0 + high
                    r1 += a0 * q1 + a1 * q0 + b0 * p1 + b1 * p0
                    r2 += high
                start = (27 + 12 * t + 6 * dj + 3 * dk) * LANES
                store(terms_out, start, r0)
                store(terms_out, start + LANES, r1)
                store(terms_out, start + 2 * LANES, C * r2)  # (13.5)


@compiled(borrows=True)
def store_features(terms, volume, lam, mu, at, stride, features_out):
    """63 rows at `at`, `stride` apart, from the terms of stretches and shears."""
    alone, shear = sqrt(volume * (lam + 2.0 * mu)), sqrt(volume * mu)
    mean, spread = sqrt(volume * (lam + 2.0 * mu / 3.0)), sqrt(2.0 * volume * mu)
    both = sqrt(volume * (lam + mu))
    x, y, z = load(terms, 0), load(terms, 9 * LANES), load(terms, 18 * LANES)
    store(features_out, at, mean * (x + y + z))  # (13.8)
    store(features_out, at + stride, spread * HALF * (x - y))  # (13.8)
    store(features_out, at + 2 * stride, spread * SIXTH * (2.0 * z - x - y))  # (13.8)
    at += 3 * stride
    for d in range(1, 3):  # terms in x alone, in y alone, in z alone
        for axis in range(3):
            first = 9 + 3 * d if axis == 0 else (3 * d if axis == 1 else d)
            second = 18 + 3 * d if axis == 0 else (18 + d if axis == 1 else 9 + d)
            x, y = load(terms, first * LANES), load(terms, second * LANES)
            store(features_out, at, both * (x + y))  # (13.7)
            store(features_out, at + stride, shear * (x - y))  # (13.7)
            at += 2 * stride
    for j in range(3):
        for b in range(1, 3):
            for c in range(1, 3):
                store(features_out, at, alone * load(terms, (9 * j + 3 * b + c) * LANES))  # (13.6)
                at += stride
    for m in range(27, FEATURES):
        store(features_out, at, shear * load(terms, m * LANES))  # (13.9)
        at += stride
