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
from supple.algebra.sparse.block_sparse_kernels import compute_product, multiply_rows
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

    outer: an `OuterTerm` with J and F, or None. inverse_blocks: (block_row_count, 3, 3), the preconditioner. Ranges of
    rows that nothing connects are solved one after another: one that rests does not wait for one that moves.
    """
    n, bb = b.size, dot(b, b)
    if bb == 0.0:
        x_out[:] = 0.0
        return 0, 0.0
    work = np.empty((7, n))
    target, iterations, rr, first = (
        tolerance * tolerance * bb,
        0,
        0.0,
        np.int64(0),
    )  # not a literal, for which callees would be compiled once more
    while first < n // 3:
        last = n // 3 if outer is not None or parallel else _end_of_range(A, first)
        own = target * (last - first) / (n // 3)
        more, left = _solve_range(A, outer, b, inverse_blocks, own, limit, parallel, first, last, work, x_out)
        iterations, rr, first = max(iterations, more), rr + left, last
    return iterations, np.sqrt(rr / bb)


@compiled
def _end_of_range(A, first):
    """The end of the smallest range of rows from the first that no block connects to later ones."""
    reach, row = first, first
    while row <= reach:
        reach = max(reach, np.int64(A.indices[A.indptr[row + 1] - 1]))
        row += 1
    return row


@compiled
def _multiply_range(A, outer, parallel, first, last, x, y_out):
    """y_out = (A + J^T F J) x in a range of rows that nothing connects to others."""
    if outer is None and not parallel:
        multiply_rows(A, x, first, last, y_out)
    else:
        multiply(A, outer, parallel, x, y_out)


@compiled
def _solve_range(A, outer, b, inverse_blocks, target, limit, parallel, first, last, work, x_out):
    """The same of a range of rows, to a squared residual; returns the iterations and that residual. work (7, n)."""
    low, high = 3 * first, 3 * last
    inverse, y_all, z_all = inverse_blocks[first:last], work[5], work[6]
    b, x = b[low:high], x_out[low:high]
    r_all, v_all, t_all = work[0], work[1], work[2]
    r, v, t, p, shadow = r_all[low:high], v_all[low:high], t_all[low:high], work[3][low:high], work[4][low:high]
    y, z, n = y_all[low:high], z_all[low:high], high - low
    iterations, rr = 0, np.inf
    for _ in range(RESTARTS):
        _multiply_range(A, outer, parallel, first, last, x_out, r_all)
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
            apply_blocks(inverse, p, y)
            _multiply_range(A, outer, parallel, first, last, y_all, v_all)
            across = dot(shadow, v)
            if across == 0.0:
                break
            alpha = rho / across  # [Vor92]
            for i in range(n):
                r[i] -= alpha * v[i]
                x[i] += alpha * y[i]
            if dot(r, r) <= 0.5 * target:
                break
            apply_blocks(inverse, r, z)
            _multiply_range(A, outer, parallel, first, last, z_all, t_all)
            tt = dot(t, t)
            if tt == 0.0:
                break
            omega = dot(t, r) / tt  # [Vor92]
            for i in range(n):
                x[i] += omega * z[i]
                r[i] -= omega * t[i]
            if not dot(r, r) > 0.5 * target:
                break
    return iterations, rr
