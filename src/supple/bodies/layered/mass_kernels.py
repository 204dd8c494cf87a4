"""Sums over the nodes of a layered body: momenta, and the forces that turning asks for. See `mass` for the symbols."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled


@compiled
def compute_momenta(mass, u, g, w, rate, nodes_out):
    """m_a (g + w x u_a + q'_a), (n, 3), of a velocity g and spin w in body axes; returns their sum and moment."""
    p0, p1, p2, h0, h1, h2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(len(mass)):
        x, y, z = u[a, 0], u[a, 1], u[a, 2]
        v0 = mass[a] * (g[0] + w[1] * z - w[2] * y + rate[3 * a])  # (11.16)
        v1 = mass[a] * (g[1] + w[2] * x - w[0] * z + rate[3 * a + 1])
        v2 = mass[a] * (g[2] + w[0] * y - w[1] * x + rate[3 * a + 2])
        nodes_out[a, 0], nodes_out[a, 1], nodes_out[a, 2] = v0, v1, v2
        p0, p1, p2 = p0 + v0, p1 + v1, p2 + v2  # (11.18)
        h0, h1, h2 = h0 + y * v2 - z * v1, h1 + z * v0 - x * v2, h2 + x * v1 - y * v0
    return (p0, p1, p2), (h0, h1, h2)


@compiled
def compute_turning(mass, u, w, rate, nodes_out):
    """m_a b_a, (n, 3), b_a = w x (w x u_a) + 2 w x q'_a; returns their sum and moment."""
    p0, p1, p2, h0, h1, h2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for a in range(len(mass)):
        x, y, z = u[a, 0], u[a, 1], u[a, 2]
        c0 = w[1] * z - w[2] * y + 2 * rate[3 * a]
        c1 = w[2] * x - w[0] * z + 2 * rate[3 * a + 1]
        c2 = w[0] * y - w[1] * x + 2 * rate[3 * a + 2]
        v0, v1, v2 = w[1] * c2 - w[2] * c1, w[2] * c0 - w[0] * c2, w[0] * c1 - w[1] * c0
        v0, v1, v2 = mass[a] * v0, mass[a] * v1, mass[a] * v2  # (11.14)
        nodes_out[a, 0], nodes_out[a, 1], nodes_out[a, 2] = v0, v1, v2
        p0, p1, p2 = p0 + v0, p1 + v1, p2 + v2
        h0, h1, h2 = h0 + y * v2 - z * v1, h1 + z * v0 - x * v2, h2 + x * v1 - y * v0
    return (p0, p1, p2), (h0, h1, h2)


@compiled
def add_node_blocks(mass, u, R, factor, positions, data_out):
    """factor (m_a R, m_a [u_a], m_a R^T, -m_a [u_a], m_a I) of all nodes, one kind after another, at positions."""
    n = len(mass)
    for a in range(n):
        m, x, y, z = factor * mass[a], u[a, 0], u[a, 1], u[a, 2]
        first, second = data_out[positions[a]], data_out[positions[2 * n + a]]
        for i in range(3):
            for j in range(3):
                first[i, j] += m * R[i, j]  # (11.14)
                second[j, i] += m * R[i, j]
            data_out[positions[4 * n + a], i, i] += m
        for k, sign in ((n + a, m), (3 * n + a, -m)):
            block = data_out[positions[k]]
            block[0, 1] -= sign * z
            block[0, 2] += sign * y
            block[1, 0] += sign * z
            block[1, 2] -= sign * x
            block[2, 0] -= sign * y
            block[2, 1] += sign * x


@compiled
def compute_linear_loss(mass, X, S, start, end, spins, R, h, loss_out):
    """loss_out (3,) [kg m/s]: R_0 (w_1 x S_0 + Q_1 + h (w_0 x (w_0 x S_0) + 2 w_0 x Q_0)) - R_1 (w_1 x S_1 + Q_1).

    S (3,): first moment of the rigid part, to which that of the nodes at X + q is added; Q: momentum of the nodes in
    body axes. start, end: q (3 n,) and q' (3 n,) of both; spins, R: of both, (2, 3) and (2, 3, 3).
    """
    (q, rate), (q_1, rate_1) = start, end
    a, b, c, d, e, f = S[0], S[1], S[2], S[0], S[1], S[2]
    p, r, s, t, y, z = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(mass)):
        m, i = mass[k], 3 * k
        a, b, c = a + m * (X[k, 0] + q[i]), b + m * (X[k, 1] + q[i + 1]), c + m * (X[k, 2] + q[i + 2])
        d, e, f = d + m * (X[k, 0] + q_1[i]), e + m * (X[k, 1] + q_1[i + 1]), f + m * (X[k, 2] + q_1[i + 2])
        p, r, s = p + m * rate[i], r + m * rate[i + 1], s + m * rate[i + 2]
        t, y, z = t + m * rate_1[i], y + m * rate_1[i + 1], z + m * rate_1[i + 2]
    w0, w1, w2 = spins[0, 0], spins[0, 1], spins[0, 2]
    v0, v1, v2 = spins[1, 0], spins[1, 1], spins[1, 2]
    c0, c1, c2 = w1 * c - w2 * b + 2.0 * p, w2 * a - w0 * c + 2.0 * r, w0 * b - w1 * a + 2.0 * s
    g0 = v1 * c - v2 * b + t + h * (w1 * c2 - w2 * c1)
    g1 = v2 * a - v0 * c + y + h * (w2 * c0 - w0 * c2)
    g2 = v0 * b - v1 * a + z + h * (w0 * c1 - w1 * c0)
    k0, k1, k2 = v1 * f - v2 * e + t, v2 * d - v0 * f + y, v0 * e - v1 * d + z
    for i in range(3):
        before = R[0, i, 0] * g0 + R[0, i, 1] * g1 + R[0, i, 2] * g2
        loss_out[i] = before - (R[1, i, 0] * k0 + R[1, i, 1] * k1 + R[1, i, 2] * k2)
