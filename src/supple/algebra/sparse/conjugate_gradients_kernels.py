"""The conjugate-gradient loop on a `BlockSparse` matrix as one compiled call.

Each iteration is three sweeps over the block rows: the product with its dot product (`sweep_product`), the
step with the preconditioner and two dot products (`sweep_step`), and the new direction (`sweep_direction`). A
sweep runs over chunks of `CHUNK` block rows, on threads or not; dot products are sums a chunk, added in the
order of the chunks, so the bits do not depend on the number of threads.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.outer_kernels import add_outer
from supple.algebra.sparse.block_sparse_kernels import CHUNK, multiply_rows
from supple.algebra.sparse.incomplete_cholesky_kernels import apply_factor

# Codes of the outcomes, given their sentences by `CgOutcome`.
CONVERGED, ITERATIONS_DONE, ITERATION_LIMIT, NEGATIVE_CURVATURE = 0, 1, 2, 3
PRECONDITIONER_BREAKDOWN, STAGNATED, NOT_FINITE = 4, 5, 6

# |r|^2 / |b|^2 below which a further step cannot change a double-precision x.
VANISHED = 1e-40
# A restart from the true residual must shrink its square at least this much, or the solve has stagnated.
RESTART_GAIN = 0.25


class CgVectors(NamedTuple):
    """Scratch of a solve: vectors (3 block_row_count) and sums (chunk_count, 2).

    free: 1 where an unknown is free, 0 where it is fixed (the projector C). r residual, z preconditioned
    residual, p direction, q = A p.
    """

    free: np.ndarray
    r: np.ndarray
    z: np.ndarray
    p: np.ndarray
    q: np.ndarray
    sums: np.ndarray


@compiled
def dot(a, b):
    """a . b as four running sums, in one fixed order."""
    s0, s1, s2, s3 = 0.0, 0.0, 0.0, 0.0
    quads = a.size // 4
    for i in range(quads):
        s0 += a[4 * i] * b[4 * i]
        s1 += a[4 * i + 1] * b[4 * i + 1]
        s2 += a[4 * i + 2] * b[4 * i + 2]
        s3 += a[4 * i + 3] * b[4 * i + 3]
    for i in range(4 * quads, a.size):
        s0 += a[i] * b[i]
    return (s0 + s1) + (s2 + s3)


@compiled
def multiply_and_dot_rows(A, p, first, last, q_out):
    """q_out = A p in these block rows; returns their part of p . q."""
    multiply_rows(A, p, first, last, q_out)
    return dot(p[3 * first : 3 * last], q_out[3 * first : 3 * last])


@compiled
def residual_rows(A, b, x, free, first, last, r_out):
    """r_out = C (b - A x) in these block rows; returns their part of r . r."""
    multiply_rows(A, x, first, last, r_out)
    r, b, free = r_out[3 * first : 3 * last], b[3 * first : 3 * last], free[3 * first : 3 * last]
    for i in range(r.size):
        r[i] = free[i] * (b[i] - r[i])  # (4.1)
    return dot(r, r)


@compiled
def step_rows(alpha, inverse_blocks, first, last, x_out, vectors):
    """x += alpha p, r -= alpha C q, z = C M^-1 r in these rows; returns their parts of r . z and r . r."""
    begin, end = 3 * first, 3 * last
    x, free, r = x_out[begin:end], vectors.free[begin:end], vectors.r[begin:end]
    p, q, z = vectors.p[begin:end], vectors.q[begin:end], vectors.z[begin:end]
    inverse = inverse_blocks[first:last].reshape(-1)
    rz0, rz1, rz2, rr0, rr1, rr2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for row in range(last - first):
        i, k = 3 * row, 9 * row
        x[i] += alpha * p[i]  # [HS52]
        x[i + 1] += alpha * p[i + 1]
        x[i + 2] += alpha * p[i + 2]
        r0 = free[i] * (r[i] - alpha * q[i])  # [HS52]
        r1 = free[i + 1] * (r[i + 1] - alpha * q[i + 1])
        r2 = free[i + 2] * (r[i + 2] - alpha * q[i + 2])
        z0, z1, z2 = inverse[k] * r0, inverse[k + 3] * r0, inverse[k + 6] * r0
        z0 += inverse[k + 1] * r1
        z1 += inverse[k + 4] * r1
        z2 += inverse[k + 7] * r1
        z0 = free[i] * (z0 + inverse[k + 2] * r2)
        z1 = free[i + 1] * (z1 + inverse[k + 5] * r2)
        z2 = free[i + 2] * (z2 + inverse[k + 8] * r2)
        r[i], r[i + 1], r[i + 2] = r0, r1, r2
        z[i], z[i + 1], z[i + 2] = z0, z1, z2
        rz0, rz1, rz2 = rz0 + r0 * z0, rz1 + r1 * z1, rz2 + r2 * z2
        rr0, rr1, rr2 = rr0 + r0 * r0, rr1 + r1 * r1, rr2 + r2 * r2
    return (rz0 + rz1) + rz2, (rr0 + rr1) + rr2


@compiled
def direction_rows(z, beta, first, last, p_out):
    """p = z + beta p in these block rows."""
    p, z = p_out[3 * first : 3 * last], z[3 * first : 3 * last]
    for i in range(p.size):
        p[i] = z[i] + beta * p[i]  # [HS52]


@compiled
def sum_chunks(sums, column):
    """Sum of one column of the chunk sums, in order."""
    total = 0.0
    for chunk in range(sums.shape[0]):
        total += sums[chunk, column]
    return total


@compiled(parallel=True)
def sweep_product(A, parallel, vectors):
    """q = A p; returns p . q."""
    row_count, p, q, sums = A.indptr.size - 1, vectors.p, vectors.q, vectors.sums
    if parallel:
        for chunk in numba.prange(sums.shape[0]):
            last = min(chunk * CHUNK + CHUNK, row_count)
            sums[chunk, 0] = multiply_and_dot_rows(A, p, chunk * CHUNK, last, q)
    else:
        for chunk in range(sums.shape[0]):
            last = min(chunk * CHUNK + CHUNK, row_count)
            sums[chunk, 0] = multiply_and_dot_rows(A, p, chunk * CHUNK, last, q)
    return sum_chunks(sums, 0)


@compiled(parallel=True)
def sweep_residual(A, b, x, parallel, vectors):
    """r = C (b - A x); returns r . r."""
    row_count, free, r, sums = A.indptr.size - 1, vectors.free, vectors.r, vectors.sums
    if parallel:
        for chunk in numba.prange(sums.shape[0]):
            last = min(chunk * CHUNK + CHUNK, row_count)
            sums[chunk, 0] = residual_rows(A, b, x, free, chunk * CHUNK, last, r)
    else:
        for chunk in range(sums.shape[0]):
            last = min(chunk * CHUNK + CHUNK, row_count)
            sums[chunk, 0] = residual_rows(A, b, x, free, chunk * CHUNK, last, r)
    return sum_chunks(sums, 0)


@compiled(parallel=True)
def sweep_step(alpha, inverse_blocks, parallel, x_out, vectors):
    """x += alpha p, r -= alpha C q, z = C M^-1 r; returns r . z and r . r. With alpha = 0 only z is new."""
    row_count, sums = inverse_blocks.shape[0], vectors.sums
    if parallel:
        for chunk in numba.prange(sums.shape[0]):
            last = min(chunk * CHUNK + CHUNK, row_count)
            rz, rr = step_rows(alpha, inverse_blocks, chunk * CHUNK, last, x_out, vectors)
            sums[chunk, 0] = rz
            sums[chunk, 1] = rr
    else:
        for chunk in range(sums.shape[0]):
            last = min(chunk * CHUNK + CHUNK, row_count)
            rz, rr = step_rows(alpha, inverse_blocks, chunk * CHUNK, last, x_out, vectors)
            sums[chunk, 0] = rz
            sums[chunk, 1] = rr
    return sum_chunks(sums, 0), sum_chunks(sums, 1)


@compiled(parallel=True)
def sweep_direction(beta, parallel, vectors):
    """p = z + beta p."""
    z, p = vectors.z, vectors.p
    row_count = p.size // 3
    if parallel:
        for chunk in numba.prange(vectors.sums.shape[0]):
            direction_rows(z, beta, chunk * CHUNK, min(chunk * CHUNK + CHUNK, row_count), p)
    else:
        direction_rows(z, beta, 0, row_count, p)


@compiled
def step(alpha, inverse_blocks, factor, parallel, x_out, vectors):
    """`sweep_step`, then z = C M^-1 r by the incomplete factor if there is one; returns r . z and r . r."""
    rz, rr = sweep_step(alpha, inverse_blocks, parallel, x_out, vectors)
    if factor is not None:
        apply_factor(factor, vectors.r, vectors.z)
        for i in range(vectors.z.size):
            vectors.z[i] *= vectors.free[i]
        rz = dot(vectors.r, vectors.z)
    return rz, rr


@compiled
def multiply(A, outer, parallel, vectors):
    """q = (A + J^T F J) p; returns p . q."""
    pq = sweep_product(A, parallel, vectors)
    if outer is not None:
        pq += add_outer(outer, vectors.p, 1.0, vectors.q)
    return pq


@compiled
def find_residual(A, outer, b, x, parallel, vectors):
    """r = C (b - (A + J^T F J) x); returns r . r."""
    rr = sweep_residual(A, b, x, parallel, vectors)
    if outer is not None:
        free, r = vectors.free, vectors.r
        add_outer(outer, x, -1.0, r)
        for i in range(r.size):
            r[i] *= free[i]
        rr = dot(r, r)
    return rr


@compiled
def start(A, outer, b, is_warm, parallel, x_out, vectors):
    """First residual, from C x0 or from zero; p = q = 0. Returns |C b|^2."""
    free, r = vectors.free, vectors.r
    for i in range(r.size):
        r[i] = free[i] * b[i]
    bb = dot(r, r)
    vectors.p.fill(0.0)
    vectors.q.fill(0.0)
    if bb == 0.0 or not is_warm:
        x_out.fill(0.0)
    else:
        for i in range(r.size):
            x_out[i] *= free[i]
        find_residual(A, outer, b, x_out, parallel, vectors)
    return bb


@compiled
def descend(A, outer, inverse_blocks, factor, bb, target, limit, parallel, iterations, history_out, x_out, vectors):
    """Iterate from the residual `vectors.r` to |r|^2 <= target; returns a code and the iterations so far."""
    rz, rr = step(0.0, inverse_blocks, factor, parallel, x_out, vectors)
    beta = 0.0
    if iterations == 0 and history_out.size > 0:
        history_out[0] = rr / bb
    while rr > target and iterations < limit:
        if not rz > 0.0:
            return PRECONDITIONER_BREAKDOWN if np.isfinite(rz) else NOT_FINITE, iterations
        sweep_direction(beta, parallel, vectors)
        pq = multiply(A, outer, parallel, vectors)
        if not np.isfinite(pq):
            return NOT_FINITE, iterations
        if pq <= 0.0:
            return NEGATIVE_CURVATURE, iterations
        previous_rz = rz
        rz, rr = step(rz / pq, inverse_blocks, factor, parallel, x_out, vectors)  # [HS52]
        beta = rz / previous_rz  # [HS52]
        iterations += 1
        if history_out.size > iterations:
            history_out[iterations] = rr / bb
    return CONVERGED if np.isfinite(rr) else NOT_FINITE, iterations


@compiled
def run_conjugate_gradients(
    A, outer, b, inverse_blocks, factor, tolerance, limit, is_warm, parallel, history_out, x_out, vectors
):
    """Solve C (A + J^T F J) C x = C b; returns the outcome's code, the iterations and the true relative residual.

    outer: an `OuterTerm` with J and F, or None. b, x_out: (3 block_row_count).
    inverse_blocks: (block_row_count, 3, 3), the block-diagonal preconditioner; factor: an `IncompleteFactor` used
    instead of it, or None. history_out: |r|^2 / |C b|^2 at the start and after each iteration, or empty.
    """
    bb = start(A, outer, b, is_warm, parallel, x_out, vectors)
    if bb == 0.0:
        return CONVERGED, 0, 0.0
    if not np.isfinite(bb):
        return NOT_FINITE, 0, np.nan
    target = tolerance * tolerance * bb
    iterations, previous_rr = np.int64(0), np.inf  # not a literal, for which callees would be compiled once more
    while True:
        stop = max(target, VANISHED * bb)
        code, iterations = descend(
            A, outer, inverse_blocks, factor, bb, stop, limit, parallel, iterations, history_out, x_out, vectors
        )
        rr = find_residual(A, outer, b, x_out, parallel, vectors)
        residual = np.sqrt(rr / bb)
        if rr <= target:
            return CONVERGED, iterations, residual
        if code != CONVERGED:
            return code, iterations, residual
        if not np.isfinite(rr):
            return NOT_FINITE, iterations, residual
        if tolerance == 0.0:
            return ITERATIONS_DONE, iterations, residual
        if iterations >= limit:
            return ITERATION_LIMIT, iterations, residual
        if not rr < RESTART_GAIN * previous_rr:
            return STAGNATED, iterations, residual
        previous_rr = rr
