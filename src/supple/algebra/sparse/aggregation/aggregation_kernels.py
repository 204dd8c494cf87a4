"""Kernels of `Aggregation`: between points and rigid motions of their aggregates, and sweeps over blocks of these.

A motion of an aggregate is (t, w): its points move by t + w x d, d their place from its centre. Forces on points have
the sum (sum f, sum d x f). Blocks of aggregates are 6x6, row-major in (k, 6, 6). Sweeps take them column by column,
each a vector of eight lanes, of which six are used: flat arrays have two numbers more behind their end.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_sums import widened
from supple.algebra.lanes.lane_type import load, store


class Level(NamedTuple):
    """A matrix of 6x6 blocks, full rows; places of its diagonal blocks (n,). columns: the blocks in single precision,
    and inverse: those of the diagonal blocks, both column by column and flat."""

    indptr: np.ndarray
    indices: np.ndarray
    diagonal: np.ndarray
    columns: np.ndarray
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
def _wide_product(B, k, z, i):
    """Lanes of B[k] z[i]; B: columns in single precision, z flat."""
    b, c = 36 * np.int64(k), 6 * np.int64(i)
    y = widened(load(B, b, 8)) * z[c]
    y = y + widened(load(B, b + 6, 8)) * z[c + 1]
    y = y + widened(load(B, b + 12, 8)) * z[c + 2]
    y = y + widened(load(B, b + 18, 8)) * z[c + 3]
    y = y + widened(load(B, b + 24, 8)) * z[c + 4]
    return y + widened(load(B, b + 30, 8)) * z[c + 5]


@compiled(inline=True)
def _product(B, k, z):
    """Lanes of B[k] z; B: columns, z (6)."""
    b = 36 * np.int64(k)
    y = load(B, b, 8) * z[0] + load(B, b + 6, 8) * z[1]
    y = y + load(B, b + 12, 8) * z[2] + load(B, b + 18, 8) * z[3]
    return y + load(B, b + 24, 8) * z[4] + load(B, b + 30, 8) * z[5]


@compiled(borrows=True)
def sweep_down(level, r, d, part, s, z_out, coarse_out):
    """(D + L) z = r by Gauss-Seidel; what is left of r, -U z, summed over the parts of the next level. r, z_out,
    coarse_out: flat; s (8): scratch."""
    n = level.diagonal.size
    for i in range(n):
        y = load(r, 6 * i, 8)
        for k in range(level.indptr[i], level.diagonal[i]):
            y = y - _wide_product(level.columns, k, z_out, level.indices[k])
        store(s, 0, y)
        store(z_out, 6 * i, _product(level.inverse, i, s))  # the next row takes the place of the last two lanes
    coarse_out[:] = 0.0
    for i in range(n):
        s[:] = 0.0
        y = load(s, 0, 8)
        for k in range(level.diagonal[i] + 1, level.indptr[i + 1]):
            y = y - _wide_product(level.columns, k, z_out, level.indices[k])
        store(s, 0, y)
        p, d0, d1, d2 = 6 * np.int64(part[i]), d[i, 0], d[i, 1], d[i, 2]
        coarse_out[p] += s[0]
        coarse_out[p + 1] += s[1]
        coarse_out[p + 2] += s[2]
        coarse_out[p + 3] += s[3] + (d1 * s[2] - d2 * s[1])
        coarse_out[p + 4] += s[4] + (d2 * s[0] - d0 * s[2])
        coarse_out[p + 5] += s[5] + (d0 * s[1] - d1 * s[0])


@compiled(borrows=True)
def sweep_up(level, r, d, part, coarse, s, z_out):
    """z += the motion of each part, then Gauss-Seidel backwards for A z = r. r, coarse, z_out: flat; s (8): scratch."""
    n = level.diagonal.size
    for i in range(n):
        p, at, d0, d1, d2 = 6 * np.int64(part[i]), 6 * i, d[i, 0], d[i, 1], d[i, 2]
        w0, w1, w2 = coarse[p + 3], coarse[p + 4], coarse[p + 5]
        z_out[at] += coarse[p] + (w1 * d2 - w2 * d1)
        z_out[at + 1] += coarse[p + 1] + (w2 * d0 - w0 * d2)
        z_out[at + 2] += coarse[p + 2] + (w0 * d1 - w1 * d0)
        z_out[at + 3] += w0
        z_out[at + 4] += w1
        z_out[at + 5] += w2
    for i in range(n - 1, -1, -1):
        y = load(r, 6 * i, 8)
        for k in range(level.indptr[i], level.diagonal[i]):
            y = y - _wide_product(level.columns, k, z_out, level.indices[k])
        for k in range(level.diagonal[i] + 1, level.indptr[i + 1]):
            y = y - _wide_product(level.columns, k, z_out, level.indices[k])
        store(s, 0, y)
        store(s, 0, _product(level.inverse, i, s))
        for a in range(6):
            z_out[6 * i + a] = s[a]
