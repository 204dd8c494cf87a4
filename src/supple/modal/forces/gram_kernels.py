"""Strain features of a basis at quadrature points: the rows whose products are the reduced St. Venant-Kirchhoff energy.

    E = sum_i e_i q_i + sum_{i<=j} b_ij q_i q_j,   e_i = sym G_i,   b_ij = c sym(G_i^T G_j), c = 1/2 for i = j, else 1
    W = 1/2 E : C : E = 1/2 |sqrt(K) tr E|² + 1/2 |sqrt(2 mu) dev E|²,   K = lam + 2 mu / 3

A symmetric matrix becomes six numbers, (tr, and five of the deviator in an orthonormal basis), scaled by
sqrt(weight K) and sqrt(2 weight mu): then W integrates to half the square of a vector.
"""

# mypy: ignore-errors
from __future__ import annotations

from math import sqrt

import numpy as np

from supple.algebra.compiling.compiled import compiled

Array = np.ndarray
HALF = sqrt(0.5)
SIXTH = sqrt(1.0 / 6.0)


@compiled
def compute_features(G, weight, lam, mu, features_out):
    """features_out (6 points, r + r (r + 1) / 2) from G[p, j, i, l] = dU_i/dX_j; weight, lam, mu (points,)."""
    points, r = G.shape[0], G.shape[3]
    xx, yy, zz = np.empty(r), np.empty(r), np.empty(r)
    yz, xz, xy = np.empty(r), np.empty(r), np.empty(r)
    for p in range(points):
        volume = sqrt(weight[p] * (lam[p] + 2.0 * mu[p] / 3.0))  # (13.4)
        shear = sqrt(2.0 * weight[p] * mu[p])  # (13.4)
        g = G[p]
        for first in range(r + 1):  # the linear strains, then the pairs (i, i), (i, i + 1), ...
            if first == 0:
                column, start = 0, 0
                for l in range(r):
                    xx[l], yy[l], zz[l] = g[0, 0, l], g[1, 1, l], g[2, 2, l]  # (13.3)
                    yz[l] = 0.5 * (g[1, 2, l] + g[2, 1, l])
                    xz[l] = 0.5 * (g[0, 2, l] + g[2, 0, l])
                    xy[l] = 0.5 * (g[0, 1, l] + g[1, 0, l])
            else:
                i = first - 1
                start = i
                column = r + i * r - (i * (i + 1)) // 2
                a0, a1, a2 = g[0, 0, i], g[0, 1, i], g[0, 2, i]
                b0, b1, b2 = g[1, 0, i], g[1, 1, i], g[1, 2, i]
                c0, c1, c2 = g[2, 0, i], g[2, 1, i], g[2, 2, i]
                for l in range(i, r):
                    d0, d1, d2 = g[0, 0, l], g[0, 1, l], g[0, 2, l]
                    e0, e1, e2 = g[1, 0, l], g[1, 1, l], g[1, 2, l]
                    f0, f1, f2 = g[2, 0, l], g[2, 1, l], g[2, 2, l]
                    xx[l] = a0 * d0 + a1 * d1 + a2 * d2  # (13.3)
                    yy[l] = b0 * e0 + b1 * e1 + b2 * e2
                    zz[l] = c0 * f0 + c1 * f1 + c2 * f2
                    yz[l] = 0.5 * (b0 * f0 + b1 * f1 + b2 * f2 + c0 * e0 + c1 * e1 + c2 * e2)
                    xz[l] = 0.5 * (a0 * f0 + a1 * f1 + a2 * f2 + c0 * d0 + c1 * d1 + c2 * d2)
                    xy[l] = 0.5 * (a0 * e0 + a1 * e1 + a2 * e2 + b0 * d0 + b1 * d1 + b2 * d2)
                xx[i], yy[i], zz[i] = 0.5 * xx[i], 0.5 * yy[i], 0.5 * zz[i]  # (13.3)
                yz[i], xz[i], xy[i] = 0.5 * yz[i], 0.5 * xz[i], 0.5 * xy[i]
            for l in range(start, r):
                k = column + l
                features_out[6 * p, k] = volume * (xx[l] + yy[l] + zz[l])  # (13.4)
                features_out[6 * p + 1, k] = shear * HALF * (xx[l] - yy[l])  # (13.4)
                features_out[6 * p + 2, k] = shear * SIXTH * (2.0 * zz[l] - xx[l] - yy[l])
                features_out[6 * p + 3, k] = shear * 2.0 * HALF * yz[l]
                features_out[6 * p + 4, k] = shear * 2.0 * HALF * xz[l]
                features_out[6 * p + 5, k] = shear * 2.0 * HALF * xy[l]
