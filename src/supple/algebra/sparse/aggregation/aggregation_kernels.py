"""Kernels of `Aggregation`: between points and rigid motions of their aggregates, and sweeps over blocks of these.

A motion of an aggregate is (t, w): its points move by t + w x d, d their place from its centre. Forces on points have
the sum (sum f, sum d x f). Blocks of aggregates are 6x6, row-major in (k, 6, 6).
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled


class Level(NamedTuple):
    """A matrix of 6x6 blocks, full rows; places of its diagonal blocks (n,), and their inverses (n, 6, 6)."""

    indptr: np.ndarray
    indices: np.ndarray
    diagonal: np.ndarray
    data: np.ndarray
    inverse: np.ndarray


@compiled
def sum_forces(r, d, part, sums_out):
    """Sums (m, 6) of forces r (3 n) on the members of each part; part (n,), negative of points that are left out."""
    sums_out[:] = 0.0
    for i in range(part.size):
        a = part[i]
        if a >= 0:
            f0, f1, f2 = r[3 * i], r[3 * i + 1], r[3 * i + 2]
            d0, d1, d2 = d[i, 0], d[i, 1], d[i, 2]
            sums_out[a, 0] += f0
            sums_out[a, 1] += f1
            sums_out[a, 2] += f2
            sums_out[a, 3] += d1 * f2 - d2 * f1
            sums_out[a, 4] += d2 * f0 - d0 * f2
            sums_out[a, 5] += d0 * f1 - d1 * f0


@compiled
def compute_sum(inverse_blocks, r, motions, d, part, z_out):
    """z_out (3 n) = D^-1 r + (t + w x d of the part of each point)."""
    inverse = inverse_blocks.reshape(-1)
    for i in range(part.size):
        k, f0, f1, f2 = 9 * i, r[3 * i], r[3 * i + 1], r[3 * i + 2]
        z0 = inverse[k] * f0 + inverse[k + 1] * f1 + inverse[k + 2] * f2
        z1 = inverse[k + 3] * f0 + inverse[k + 4] * f1 + inverse[k + 5] * f2
        z2 = inverse[k + 6] * f0 + inverse[k + 7] * f1 + inverse[k + 8] * f2
        a = part[i]
        if a >= 0:
            d0, d1, d2 = d[i, 0], d[i, 1], d[i, 2]
            w0, w1, w2 = motions[a, 3], motions[a, 4], motions[a, 5]
            z0 += motions[a, 0] + (w1 * d2 - w2 * d1)
            z1 += motions[a, 1] + (w2 * d0 - w0 * d2)
            z2 += motions[a, 2] + (w0 * d1 - w1 * d0)
        z_out[3 * i], z_out[3 * i + 1], z_out[3 * i + 2] = z0, z1, z2


@compiled
def _add_turned(W, d, k, data_out):
    """data_out[k] += T^T W of a point at d; W (3, 6)."""
    for c in range(6):
        f0, f1, f2 = W[0, c], W[1, c], W[2, c]
        data_out[k, 0, c] += f0
        data_out[k, 1, c] += f1
        data_out[k, 2, c] += f2
        data_out[k, 3, c] += d[1] * f2 - d[2] * f1
        data_out[k, 4, c] += d[2] * f0 - d[0] * f2
        data_out[k, 5, c] += d[0] * f1 - d[1] * f0


@compiled
def compute_point_products(A, source, rows, cols, targets, d, part, W, data_out):
    """data_out[targets[k]] += T_i^T A_ij T_j of the blocks source[k] of A (9 block_count), sorted by rows and targets;
    W (3, 6): scratch."""
    data_out[:] = 0.0
    row, target, has_any = -1, -1, False
    for k in range(source.size):
        if rows[k] != row or targets[k] != target:
            if has_any:
                _add_turned(W, d[row], target, data_out)
            row, target, has_any = rows[k], targets[k], False
            W[:] = 0.0
        j = cols[k]
        if part[row] < 0 or part[j] < 0:
            continue
        has_any = True
        at, d0, d1, d2 = 9 * np.int64(source[k]), d[j, 0], d[j, 1], d[j, 2]
        for a in range(3):
            b0, b1, b2 = A[at + 3 * a], A[at + 3 * a + 1], A[at + 3 * a + 2]
            W[a, 0] += b0
            W[a, 1] += b1
            W[a, 2] += b2
            W[a, 3] += d1 * b2 - d2 * b1
            W[a, 4] += d2 * b0 - d0 * b2
            W[a, 5] += d0 * b1 - d1 * b0
    if has_any:
        _add_turned(W, d[row], target, data_out)


@compiled
def compute_frame_products(A, source, rows, cols, targets, d, data_out):
    """data_out[targets[k]] += T_I^T A_IJ T_J of 6x6 blocks source[k], T = [1, -d x; 0, 1]."""
    data_out[:] = 0.0
    W = np.empty((6, 6))
    for k in range(source.size):
        B, di, dj, t = A[source[k]], d[rows[k]], d[cols[k]], targets[k]
        for a in range(6):
            b0, b1, b2 = B[a, 0], B[a, 1], B[a, 2]
            W[a, 0], W[a, 1], W[a, 2] = b0, b1, b2
            W[a, 3] = B[a, 3] + (dj[1] * b2 - dj[2] * b1)
            W[a, 4] = B[a, 4] + (dj[2] * b0 - dj[0] * b2)
            W[a, 5] = B[a, 5] + (dj[0] * b1 - dj[1] * b0)
        for c in range(6):
            f0, f1, f2 = W[0, c], W[1, c], W[2, c]
            data_out[t, 0, c] += f0
            data_out[t, 1, c] += f1
            data_out[t, 2, c] += f2
            data_out[t, 3, c] += W[3, c] + (di[1] * f2 - di[2] * f1)
            data_out[t, 4, c] += W[4, c] + (di[2] * f0 - di[0] * f2)
            data_out[t, 5, c] += W[5, c] + (di[0] * f1 - di[1] * f0)


@compiled
def mirror(upper, transposed, data_out):
    """Blocks above the diagonal into their transposed places; diagonal blocks symmetric, 1 where they were zero."""
    for k in range(upper.size):
        u, t = upper[k], transposed[k]
        for i in range(6):
            for j in range(i + 1 if u == t else 6):
                if u == t:
                    both = 0.5 * (data_out[u, i, j] + data_out[u, j, i])
                    data_out[u, i, j], data_out[u, j, i] = both, both
                else:
                    data_out[t, j, i] = data_out[u, i, j]
        if u == t:
            for i in range(6):
                own = data_out[u, i, i]
                data_out[u, i, i] = own * (1.0 + 1e-9) if own > 0.0 else 1.0


@compiled(inline=True)
def _product(B, k, z, i):
    """The six numbers B[k] z[i]; B (n, 6, 6), z (m, 6)."""
    y0, y1, y2, y3, y4, y5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for j in range(6):
        own = z[i, j]
        y0 += B[k, 0, j] * own
        y1 += B[k, 1, j] * own
        y2 += B[k, 2, j] * own
        y3 += B[k, 3, j] * own
        y4 += B[k, 4, j] * own
        y5 += B[k, 5, j] * own
    return y0, y1, y2, y3, y4, y5


@compiled(inline=True)
def _row_product(level, z, begin, end):
    """The sum of B_k z over the blocks of a row from `begin` to `end`."""
    s0, s1, s2, s3, s4, s5 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(begin, end):
        y0, y1, y2, y3, y4, y5 = _product(level.data, k, z, level.indices[k])
        s0, s1, s2, s3, s4, s5 = s0 + y0, s1 + y1, s2 + y2, s3 + y3, s4 + y4, s5 + y5
    return s0, s1, s2, s3, s4, s5


@compiled(borrows=True)
def sweep_down(level, r, d, part, s, z_out, coarse_out):
    """(D + L) z = r by Gauss-Seidel; what is left of r, -U z, summed over the parts of the next level; s (1, 6):
    scratch."""
    n = level.inverse.shape[0]
    for i in range(n):
        y0, y1, y2, y3, y4, y5 = _row_product(level, z_out, level.indptr[i], level.diagonal[i])
        s[0, 0], s[0, 1], s[0, 2] = r[i, 0] - y0, r[i, 1] - y1, r[i, 2] - y2
        s[0, 3], s[0, 4], s[0, 5] = r[i, 3] - y3, r[i, 4] - y4, r[i, 5] - y5
        z0, z1, z2, z3, z4, z5 = _product(level.inverse, i, s, 0)
        z_out[i, 0], z_out[i, 1], z_out[i, 2], z_out[i, 3], z_out[i, 4], z_out[i, 5] = z0, z1, z2, z3, z4, z5
    for p in range(coarse_out.shape[0]):
        for a in range(6):
            coarse_out[p, a] = 0.0
    for i in range(n):
        y0, y1, y2, y3, y4, y5 = _row_product(level, z_out, level.diagonal[i] + 1, level.indptr[i + 1])
        p, d0, d1, d2 = part[i], d[i, 0], d[i, 1], d[i, 2]
        coarse_out[p, 0] -= y0
        coarse_out[p, 1] -= y1
        coarse_out[p, 2] -= y2
        coarse_out[p, 3] -= y3 + (d1 * y2 - d2 * y1)
        coarse_out[p, 4] -= y4 + (d2 * y0 - d0 * y2)
        coarse_out[p, 5] -= y5 + (d0 * y1 - d1 * y0)


@compiled(borrows=True)
def sweep_up(level, r, d, part, coarse, s, z_out):
    """z += the motion of each part, then Gauss-Seidel backwards for A z = r; s (1, 6): scratch."""
    n = level.inverse.shape[0]
    for i in range(n):
        p, d0, d1, d2 = part[i], d[i, 0], d[i, 1], d[i, 2]
        w0, w1, w2 = coarse[p, 3], coarse[p, 4], coarse[p, 5]
        z_out[i, 0] += coarse[p, 0] + (w1 * d2 - w2 * d1)
        z_out[i, 1] += coarse[p, 1] + (w2 * d0 - w0 * d2)
        z_out[i, 2] += coarse[p, 2] + (w0 * d1 - w1 * d0)
        z_out[i, 3] += w0
        z_out[i, 4] += w1
        z_out[i, 5] += w2
    for i in range(n - 1, -1, -1):
        x0, x1, x2, x3, x4, x5 = _row_product(level, z_out, level.indptr[i], level.diagonal[i])
        y0, y1, y2, y3, y4, y5 = _row_product(level, z_out, level.diagonal[i] + 1, level.indptr[i + 1])
        s[0, 0], s[0, 1], s[0, 2] = r[i, 0] - (x0 + y0), r[i, 1] - (x1 + y1), r[i, 2] - (x2 + y2)
        s[0, 3], s[0, 4], s[0, 5] = r[i, 3] - (x3 + y3), r[i, 4] - (x4 + y4), r[i, 5] - (x5 + y5)
        z0, z1, z2, z3, z4, z5 = _product(level.inverse, i, s, 0)
        z_out[i, 0], z_out[i, 1], z_out[i, 2], z_out[i, 3], z_out[i, 4], z_out[i, 5] = z0, z1, z2, z3, z4, z5
