"""Implicit Newmark steps of many instances of one reduced class, each with a few Newton iterations.

    M q" + (alpha M + beta K(q)) q' + f(q) = f_ext

    q"_1 = a1 (q_1 - q) - a2 q' - a3 q",  q'_1 = a4 (q_1 - q) + a5 q' + a6 q"
    a1 = 1 / (b h²), a2 = 1 / (b h), a3 = (1 - 2b) / 2b, a4 = g / (b h), a5 = 1 - g / b, a6 = (1 - g / 2b) h
    (a1 M + a4 D + K) dq = f_ext - f - M q"_1 - D q'_1,  D = alpha M + beta K               from q_1 = q

h: step, b and g: Newmark's beta and gamma. Iterations end where the residual falls below epsilon of the first. One
iteration is the semi-implicit step [BJ05]. A block of instances makes all its steps before the next one starts; its
matrices are factored in SIMD lanes, one instance a lane.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.ldlt import ldlt_factor_lanes, ldlt_solve_lanes
from supple.algebra.lanes.lane_type import LANES
from supple.modal.forces.force_kernels import block_width, compute_force_block, gather_block, make_work, scatter_block

FINE, SINGULAR, NOT_CONVERGED = 0, 1, 2


class NewmarkNumbers(NamedTuple):
    """a1 ... a6 of the module, damping coefficients alpha [1/s] and beta [s], and the iterations' ends."""

    a1: float
    a2: float
    a3: float
    a4: float
    a5: float
    a6: float
    mass_damping: float
    stiffness_damping: float
    max_iterations: int
    epsilon: float


@compiled
def compute_residual(mass, numbers, K, v, a, f_ext, f, residual_out, square_out):
    """residual_out = f_ext - f - M q" - D q' of a block, (r, width); square_out (width,): its squared norms."""
    r, width = f.shape
    for i in range(r):
        for b in range(width):
            residual_out[i, b] = f_ext[i, b] - f[i, b]  # (13.18)
        for j in range(r):
            m = mass[i, j]
            for b in range(width):
                residual_out[i, b] -= m * (a[j, b] + numbers.mass_damping * v[j, b])  # (13.18)
    k = 0
    for i in range(r):
        for j in range(i, r):
            share = numbers.stiffness_damping * (0.5 if i == j else 1.0)  # the diagonal is subtracted twice
            for b in range(width):
                part = share * K[k, b]
                residual_out[i, b] -= part * v[j, b]  # (13.18)
                residual_out[j, b] -= part * v[i, b]
            k += 1
    square_out[:] = 0.0
    for i in range(r):
        for b in range(width):
            square_out[b] += residual_out[i, b] * residual_out[i, b]


@compiled
def solve_block(mass, numbers, K, residual):
    """residual (r, width) <- (a1 M + a4 D + K)^-1 residual. Returns the first instance of a bad group, or -1."""
    r, width = residual.shape
    m_factor = numbers.a1 + numbers.a4 * numbers.mass_damping
    k_factor = 1.0 + numbers.a4 * numbers.stiffness_damping
    A, x = np.empty((r, r, LANES)), np.empty((r, 1, LANES))
    for start in range(0, width, LANES):
        k = 0
        for i in range(r):
            for j in range(i, r):
                for b in range(LANES):
                    A[j, i, b] = m_factor * mass[i, j] + k_factor * K[k, start + b]  # (13.18)
                k += 1
        for i in range(r):
            for b in range(LANES):
                x[i, 0, b] = residual[i, start + b]
        if ldlt_factor_lanes(A) >= 0:
            return start
        ldlt_solve_lanes(A, x)
        for i in range(r):
            for b in range(LANES):
                residual[i, start + b] = x[i, 0, b]
    return -1


@compiled
def step_block(arrays, mass, numbers, work, workspace, count, q, v, a, f_ext):
    """One step of a block with `count` instances, in place.

    workspace: f, residual (r, width), K (pairs, width), squared residuals and first ones (width,).
    Returns (outcome, instance within the block, iterations).
    """
    f, residual, K, square, first = workspace
    r, width = q.shape
    for i in range(r):
        for b in range(width):
            v0, a0 = v[i, b], a[i, b]
            v[i, b] = numbers.a5 * v0 + numbers.a6 * a0  # (13.17)
            a[i, b] = -numbers.a2 * v0 - numbers.a3 * a0  # (13.16)
    for iteration in range(numbers.max_iterations + 1):
        if iteration == 1 and numbers.max_iterations == 1:
            break  # the semi-implicit step takes what one iteration gives, [BJ05]
        compute_force_block(arrays, work, count, q, f, K)
        compute_residual(mass, numbers, K, v, a, f_ext, f, residual, square)
        if iteration == 0:
            first[:] = square
        else:
            worst = -1
            for b in range(width):
                if square[b] <= numbers.epsilon**2 * first[b]:
                    residual[:, b] = 0.0  # a settled instance rests while its neighbours go on
                elif worst < 0:
                    worst = b
            if worst < 0:
                return FINE, 0, iteration
            if iteration == numbers.max_iterations:
                return NOT_CONVERGED, worst, iteration
        bad = solve_block(mass, numbers, K, residual)
        if bad >= 0:
            return SINGULAR, bad, iteration
        for i in range(r):
            for b in range(width):
                q[i, b] += residual[i, b]
                v[i, b] += numbers.a4 * residual[i, b]  # (13.17)
                a[i, b] += numbers.a1 * residual[i, b]  # (13.16)
    return FINE, 0, numbers.max_iterations


@compiled
def advance(arrays, mass, numbers, steps, f_ext, q, v, a):
    """`steps` steps of n instances, in place; q, v, a, f_ext (n, r). BLAS should be on one thread.

    Returns (outcome, instance it concerns, most iterations of a step).
    """
    n, r = q.shape
    width = block_width(n)
    work = make_work(r, width)
    workspace = (
        np.empty((r, width)),
        np.empty((r, width)),
        np.empty((r * (r + 1) // 2, width)),
        np.empty(width),
        np.empty(width),
    )
    q1, v1, a1, load = np.empty((r, width)), np.empty((r, width)), np.empty((r, width)), np.empty((r, width))
    largest = 0
    for start in range(0, n, width):
        gather_block(q, start, q1)
        gather_block(v, start, v1)
        gather_block(a, start, a1)
        gather_block(f_ext, start, load)
        count = min(width, n - start)
        for _ in range(steps):
            outcome, instance, iterations = step_block(arrays, mass, numbers, work, workspace, count, q1, v1, a1, load)
            largest = max(largest, iterations)
            if outcome != FINE:
                return outcome, start + instance, largest
        scatter_block(q1, start, q)
        scatter_block(v1, start, v)
        scatter_block(a1, start, a)
    return FINE, 0, largest
