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
