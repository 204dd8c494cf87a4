"""Stabilised biconjugate gradients [Vor92] on a `BlockSparse` matrix that is not symmetric, as one compiled call.

Preconditioned from the right by 3x3 blocks. When the residual of the recurrence says done, b - A x is computed anew and
the iteration goes on from it; so the residual that is returned is the true one.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.outer_kernels import add_outer
from supple.algebra.sparse.block_diagonal_kernels import apply_blocks
from supple.algebra.sparse.block_sparse_kernels import compute_product
from supple.algebra.sparse.conjugate_gradients_kernels import dot

RESTARTS = 8


@compiled
def multiply(A, outer, parallel, x, y_out):
    """y_out = (A + J^T F J) x."""
    compute_product(A, x, parallel, y_out)
    if outer is not None:
        add_outer(outer, x, 1.0, y_out)


@compiled
def run_bicgstab(A, outer, b, inverse_blocks, tolerance, limit, parallel, x_out):
    """Solve (A + J^T F J) x = b from x_out; returns the iterations, of two products each, and the true residual.

    outer: an `OuterTerm` with J and F, or None. inverse_blocks: (block_row_count, 3, 3), the preconditioner.
    """
    n, bb = b.size, dot(b, b)
    r, shadow, p, v = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    t, y, z = np.empty(n), np.empty(n), np.empty(n)
    if bb == 0.0:
        x_out[:] = 0.0
        return 0, 0.0
    target, iterations, rr = tolerance * tolerance * bb, 0, np.inf
    for _ in range(RESTARTS):
        multiply(A, outer, parallel, x_out, r)
        for i in range(n):
            r[i] = b[i] - r[i]
            shadow[i], p[i], v[i] = r[i], 0.0, 0.0
        rr = dot(r, r)
        if rr <= target or not np.isfinite(rr) or iterations >= limit:
            break
        rho, alpha, omega = 1.0, 1.0, 1.0
        while iterations < limit:
            iterations += 1
            now = dot(shadow, r)
            if now == 0.0 or omega == 0.0:
                break
            beta = now / rho * (alpha / omega)  # [Vor92]
            rho = now
            for i in range(n):
                p[i] = r[i] + beta * (p[i] - omega * v[i])  # [Vor92]
            apply_blocks(inverse_blocks, p, y)
            multiply(A, outer, parallel, y, v)
            across = dot(shadow, v)
            if across == 0.0:
                break
            alpha = rho / across  # [Vor92]
            for i in range(n):
                r[i] -= alpha * v[i]
                x_out[i] += alpha * y[i]
            if dot(r, r) <= 0.5 * target:
                break
            apply_blocks(inverse_blocks, r, z)
            multiply(A, outer, parallel, z, t)
            tt = dot(t, t)
            if tt == 0.0:
                break
            omega = dot(t, r) / tt  # [Vor92]
            for i in range(n):
                x_out[i] += omega * z[i]
                r[i] -= omega * t[i]
            if not dot(r, r) > 0.5 * target:
                break
    return iterations, np.sqrt(rr / bb)
