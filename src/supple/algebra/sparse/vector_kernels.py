"""Sums of long vectors in one pass: numpy takes two, and memory between them."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled


@compiled
def advance(alpha, p, q, x_out, r_out):
    """x += alpha p, r -= alpha q."""
    for i in range(p.size):
        x_out[i] += alpha * p[i]  # [HS52]
        r_out[i] -= alpha * q[i]  # [HS52]


@compiled
def turn(beta, z, p_out):
    """p = z + beta p."""
    for i in range(z.size):
        p_out[i] = z[i] + beta * p_out[i]  # [HS52]
