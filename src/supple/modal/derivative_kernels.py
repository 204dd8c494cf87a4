"""The second differential of the St. Venant-Kirchhoff force at rest, element by element, columns side by side in lanes.

    P_il = A S_l + B S_i + C : sym(A^T B),   A = grad u_i, B = grad u_l, S = C : sym grad u         [1/m³ of u² in Pa]

Added to nodes a as w P_il g_a, g the gradients of the shape functions.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, store


@compiled
def add_second_differential(elements, gradients, weights, lam, mu, U, r, out):
    """out (nodes, 3, pairs) += (H : u_i) u_l of pairs i <= l of the first r columns of U (nodes, 3, width).

    width: a multiple of LANES. elements (m, k); gradients (m, points, k, 3); weights (m, points); lam, mu (m,).
    """
    m, points, corners, _ = gradients.shape
    width = U.shape[2]
    g, s, local = np.empty(9 * width), np.empty(9 * width), np.empty(corners * 3 * r * width)
    flat = U.ravel()
    for e in range(m):
        local[:] = 0.0
        for p in range(points):
            compute_gradients(flat, elements[e], gradients[e, p], width, g)
            compute_stresses(g, lam[e], mu[e], width, s)
            for i in range(r):
                for l in range(LANES * (i // LANES), width, LANES):
                    add_pairs(g, s, gradients[e, p], weights[e, p], lam[e], mu[e], width, i, l, r, local)
        for a in range(corners):
            for c in range(3):
                row, k = out[elements[e, a], c], 0
                for i in range(r):
                    at = ((a * 3 + c) * r + i) * width
                    for l in range(i, r):
                        row[k] += local[at + l]
                        k += 1


@compiled(borrows=True)
def compute_gradients(U, nodes, gradient, width, g_out):
    """g_out[3 c + j] = du_c/dX_j, `width` columns each."""
    for l in range(0, width, LANES):
        for c in range(3):
            x = load(U, (nodes[0] * 3 + c) * width + l)
            gx, gy, gz = x * gradient[0, 0], x * gradient[0, 1], x * gradient[0, 2]
            for a in range(1, len(nodes)):
                x = load(U, (nodes[a] * 3 + c) * width + l)
                gx += x * gradient[a, 0]
                gy += x * gradient[a, 1]
                gz += x * gradient[a, 2]
            store(g_out, (3 * c) * width + l, gx)
            store(g_out, (3 * c + 1) * width + l, gy)
            store(g_out, (3 * c + 2) * width + l, gz)


@compiled(borrows=True)
def compute_stresses(g, lam, mu, width, s_out):
    """C : sym grad u of all columns."""
    for l in range(0, width, LANES):
        trace = lam * (load(g, l) + load(g, 4 * width + l) + load(g, 8 * width + l))  # (13.10)
        for c in range(3):
            for j in range(3):
                value = mu * (load(g, (3 * c + j) * width + l) + load(g, (3 * j + c) * width + l))
                store(s_out, (3 * c + j) * width + l, value + trace if c == j else value)


@compiled(borrows=True)
def add_pairs(g, s, gradient, weight, lam, mu, width, i, l, r, local_out):
    """Forces of the pairs of column i with columns l ... l + LANES - 1 on the corners, ((corner, 3, r), width)."""
    b0, b1, b2 = load(g, l), load(g, width + l), load(g, 2 * width + l)
    b3, b4, b5 = load(g, 3 * width + l), load(g, 4 * width + l), load(g, 5 * width + l)
    b6, b7, b8 = load(g, 6 * width + l), load(g, 7 * width + l), load(g, 8 * width + l)
    t0, t1, t2 = load(s, l), load(s, width + l), load(s, 2 * width + l)
    t4, t5, t8 = load(s, 4 * width + l), load(s, 5 * width + l), load(s, 8 * width + l)
    a0, a1, a2 = g[i], g[width + i], g[2 * width + i]
    a3, a4, a5 = g[3 * width + i], g[4 * width + i], g[5 * width + i]
    a6, a7, a8 = g[6 * width + i], g[7 * width + i], g[8 * width + i]
    s0, s1, s2 = s[i], s[width + i], s[2 * width + i]
    s4, s5, s8 = s[4 * width + i], s[5 * width + i], s[8 * width + i]
    # C : sym(A^T B), (13.10)
    xx, yy, zz = a0 * b0 + a3 * b3 + a6 * b6, a1 * b1 + a4 * b4 + a7 * b7, a2 * b2 + a5 * b5 + a8 * b8
    xy = mu * (a0 * b1 + a3 * b4 + a6 * b7 + a1 * b0 + a4 * b3 + a7 * b6)
    xz = mu * (a0 * b2 + a3 * b5 + a6 * b8 + a2 * b0 + a5 * b3 + a8 * b6)
    yz = mu * (a1 * b2 + a4 * b5 + a7 * b8 + a2 * b1 + a5 * b4 + a8 * b7)
    trace = lam * (xx + yy + zz)
    xx, yy, zz = 2.0 * mu * xx + trace, 2.0 * mu * yy + trace, 2.0 * mu * zz + trace
    p0 = weight * (a0 * t0 + a1 * t1 + a2 * t2 + b0 * s0 + b1 * s1 + b2 * s2 + xx)  # (13.10)
    p1 = weight * (a0 * t1 + a1 * t4 + a2 * t5 + b0 * s1 + b1 * s4 + b2 * s5 + xy)
    p2 = weight * (a0 * t2 + a1 * t5 + a2 * t8 + b0 * s2 + b1 * s5 + b2 * s8 + xz)
    p3 = weight * (a3 * t0 + a4 * t1 + a5 * t2 + b3 * s0 + b4 * s1 + b5 * s2 + xy)
    p4 = weight * (a3 * t1 + a4 * t4 + a5 * t5 + b3 * s1 + b4 * s4 + b5 * s5 + yy)  # (13.10)
    p5 = weight * (a3 * t2 + a4 * t5 + a5 * t8 + b3 * s2 + b4 * s5 + b5 * s8 + yz)
    p6 = weight * (a6 * t0 + a7 * t1 + a8 * t2 + b6 * s0 + b7 * s1 + b8 * s2 + xz)
    p7 = weight * (a6 * t1 + a7 * t4 + a8 * t5 + b6 * s1 + b7 * s4 + b8 * s5 + yz)
    p8 = weight * (a6 * t2 + a7 * t5 + a8 * t8 + b6 * s2 + b7 * s5 + b8 * s8 + zz)  # (13.10)
    for a in range(gradient.shape[0]):
        x, y, z = gradient[a, 0], gradient[a, 1], gradient[a, 2]
        at, step = (a * 3 * r + i) * width + l, r * width
        store(local_out, at, load(local_out, at) + (p0 * x + p1 * y + p2 * z))
        store(local_out, at + step, load(local_out, at + step) + (p3 * x + p4 * y + p5 * z))
        store(local_out, at + 2 * step, load(local_out, at + 2 * step) + (p6 * x + p7 * y + p8 * z))
