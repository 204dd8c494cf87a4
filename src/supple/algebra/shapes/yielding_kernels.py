"""Steps of which a part yields by few shapes, by stabilised biconjugate gradients [Vor92], as one compiled call.

    A d + U Y g = b,    V d + (I + N Y) g = w,    U = h J^T T W,  V = W^T T J,  N = W^T T W

Preconditioned from the right by D, the 3x3 blocks of A, in the place of A: g is eliminated by the factors of
I + N' Y, N' = N - V D^-1 U. The second rows of both are the same, so that their residual stays zero once it is, and the
iteration is one on d. Where D is A, it ends after its start.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.shapes.shape_kernels import Pieces, add_pulled, multiply_pieces
from supple.algebra.sparse.block_diagonal_kernels import apply_blocks
from supple.algebra.sparse.block_rows_kernels import add_transposed, compute_rows
from supple.algebra.sparse.block_sparse_kernels import compute_product
from supple.algebra.sparse.conjugate_gradients_kernels import dot

RESTARTS = 8


class YieldingStep(NamedTuple):
    """J (ptr, cols, blocks) of k laws, their T (k, 3, 3), W, Y (R, R), symmetric, and N (R, R); inverse (n, 3, 3): of
    the blocks D; factors (R, R), pivots (R,): of I + N' Y by LAPACK, transposed. h [s]."""

    ptr: np.ndarray
    cols: np.ndarray
    blocks: np.ndarray
    T: np.ndarray
    pieces: Pieces
    Y: np.ndarray
    N: np.ndarray
    inverse: np.ndarray
    factors: np.ndarray
    pivots: np.ndarray
    h: float


@compiled
def by_rows(M, x, y_out):
    """y_out = M^T x, row by row of M."""
    y_out[:] = 0.0
    for j in range(len(x)):
        value = x[j]
        if value != 0.0:
            for i in range(len(y_out)):
                y_out[i] += value * M[j, i]


@compiled
def substitute(factors, pivots, x):
    """x <- the solution of the factored system, in place."""
    R = len(x)
    for i in range(R):
        at = pivots[i]
        if at != i:
            x[i], x[at] = x[at], x[i]
    for j in range(R):
        value = x[j]
        if value != 0.0:
            for i in range(j + 1, R):
                x[i] -= value * factors[j, i]
    for j in range(R - 1, -1, -1):
        x[j] /= factors[j, j]
        value = x[j]
        for i in range(j):
            x[i] -= value * factors[j, i]


@compiled
def times_blocks(T, u, f_out):
    """f_out = T u, block by block."""
    for k in range(len(T)):
        a, b, c = u[3 * k], u[3 * k + 1], u[3 * k + 2]
        for i in range(3):
            f_out[3 * k + i] = T[k, i, 0] * a + T[k, i, 1] * b + T[k, i, 2] * c


@compiled
def press(step, d, g_out, u, f):
    """g_out = V d. u, f (3 k,): scratch."""
    compute_rows(step.ptr, step.cols, step.blocks, d, u)
    times_blocks(step.T, u, f)
    g_out[:] = 0.0
    add_pulled(step.pieces, f, 1.0, g_out)


@compiled
def add_moved(step, y, factor, b_out, u, f):
    """b_out += factor U y, y (R,): motions of the shapes. u, f (3 k,): scratch."""
    multiply_pieces(step.pieces, y, u)
    times_blocks(step.T, u, f)
    for i in range(len(f)):
        f[i] *= factor * step.h
    add_transposed(step.ptr, step.cols, step.blocks, f, b_out)


@compiled
def precondition(step, r, s, d_out, g_out, y_out, u, f, scratch):
    """d_out, g_out: of the right sides r (n,), s (R,), with D for A; y_out = Y g_out. scratch (n,)."""
    apply_blocks(step.inverse, r, d_out)
    press(step, d_out, g_out, u, f)
    for i in range(len(g_out)):
        g_out[i] = s[i] - g_out[i]
    substitute(step.factors, step.pivots, g_out)
    by_rows(step.Y, g_out, y_out)
    scratch[:] = 0.0
    add_moved(step, y_out, -1.0, scratch, u, f)
    apply_blocks(step.inverse, scratch, scratch)
    for i in range(len(d_out)):
        d_out[i] += scratch[i]


@compiled
def run_yielding(A, step, b, w, tolerance, limit, parallel, d_out, g_out, r_out):
    """Solve for d from d_out, and g; returns the iterations, of two products each, and the true relative residual.

    r_out (n,): b - A d - U Y g.
    """
    n, R, k = b.size, len(w), len(step.T)
    u, f, scratch, none = np.empty(3 * k), np.empty(3 * k), np.empty(n), np.zeros(R)
    r, shadow, p, v = r_out, np.empty(n), np.empty(n), np.empty(n)
    t, y, z = np.empty(n), np.empty(n), np.empty(n)
    g, moved = np.empty(R), np.empty(R)
    compute_product(A, d_out, parallel, r)
    for i in range(n):
        r[i] = b[i] - r[i]
    press(step, d_out, g, u, f)
    precondition(step, r, w - g, y, g_out, moved, u, f, scratch)  # which brings the second rows to zero
    d_out += y
    iterations, left, size = 0, np.inf, 0.0
    for restart in range(RESTARTS):
        compute_product(A, d_out, parallel, r)
        if restart == 0:
            size = np.sqrt(max(dot(b, b), dot(r, r)))
        by_rows(step.Y, g_out, moved)
        add_moved(step, moved, 1.0, r, u, f)
        for i in range(n):
            r[i] = b[i] - r[i]
        left = np.sqrt(dot(r, r))
        if left <= tolerance * size or not np.isfinite(left) or iterations >= limit:
            break
        shadow[:], p[:], v[:] = r, 0.0, 0.0
        rho, alpha, omega = 1.0, 1.0, 1.0
        target = (0.5 * tolerance * size) ** 2
        while iterations < limit:
            iterations += 1
            now = dot(shadow, r)
            if now == 0.0 or omega == 0.0:
                break
            beta = now / rho * (alpha / omega)
            rho = now
            for i in range(n):
                p[i] = r[i] + beta * (p[i] - omega * v[i])
            precondition(step, p, none, y, g, moved, u, f, scratch)
            compute_product(A, y, parallel, v)
            add_moved(step, moved, 1.0, v, u, f)
            across = dot(shadow, v)
            if across == 0.0:
                break
            alpha = rho / across
            for i in range(n):
                r[i] -= alpha * v[i]
                d_out[i] += alpha * y[i]
            for i in range(R):
                g_out[i] += alpha * g[i]
            if dot(r, r) <= target:
                break
            precondition(step, r, none, z, g, moved, u, f, scratch)
            compute_product(A, z, parallel, t)
            add_moved(step, moved, 1.0, t, u, f)
            tt = dot(t, t)
            if tt == 0.0:
                break
            omega = dot(t, r) / tt
            for i in range(n):
                d_out[i] += omega * z[i]
                r[i] -= omega * t[i]
            for i in range(R):
                g_out[i] += omega * g[i]
            if not dot(r, r) > target:
                break
    return iterations, left / size if size > 0.0 else 0.0
