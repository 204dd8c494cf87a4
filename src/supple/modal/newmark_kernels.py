"""Implicit Newmark steps of many instances of one reduced class, each with a few Newton iterations.

    M q" + (alpha M + beta K(q)) q' + f(q) = f_ext

    q"_1 = a1 (q_1 - q) - a2 q' - a3 q",  q'_1 = a4 (q_1 - q) + a5 q' + a6 q"
    a1 = 1 / (b h²), a2 = 1 / (b h), a3 = (1 - 2b) / 2b, a4 = g / (b h), a5 = 1 - g / b, a6 = (1 - g / 2b) h
    (a1 M + a4 D + K) dq = f_ext - f - M q"_1 - D q'_1                       from q_1 = q

h: step, b and g: Newmark's beta and gamma. Iterations end where the squared residual falls below epsilon² of the first.
One iteration is the semi-implicit step [BJ05].
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling import compiled
from supple.algebra.ldlt import ldlt_factor, ldlt_solve
from supple.modal.force_kernels import compute_force


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
def compute_residual(mass, numbers, f, K, v, acceleration, f_ext, D_out, residual_out):
    """residual_out = f_ext - f - M q" - D q' of one instance, D_out = alpha M + beta K. Returns its squared norm."""
    r = len(f)
    square = 0.0
    for i in range(r):
        total = f_ext[i] - f[i]
        for j in range(r):
            D_out[i, j] = numbers.mass_damping * mass[i, j] + numbers.stiffness_damping * K[i, j]
            total -= mass[i, j] * acceleration[j] + D_out[i, j] * v[j]
        residual_out[i] = total
        square += total * total
    return square


@compiled
def advance(arrays, mass, numbers, steps, f_ext, q, v, acceleration):
    """`steps` steps of n instances, in place; q, v, acceleration, f_ext (n, r). BLAS should be on one thread.

    Returns (failed, iterations, ratio): failed is -1 or 2 * instance (a matrix could not be solved) or 2 * instance + 1
    (more iterations than allowed); iterations of all steps; the largest last ratio of residual to first residual.
    """
    n, r = q.shape
    f, K, D, A = np.empty((n, r)), np.empty((n, r, r)), np.empty((r, r)), np.empty((r, r))
    q0, v0, acceleration0 = np.empty((n, r)), np.empty((n, r)), np.empty((n, r))
    residual, first, done = np.empty(r), np.empty(n), np.empty(n, dtype=np.bool_)
    iterations, largest = 0, 0.0
    for _ in range(steps):
        q0[:], v0[:], acceleration0[:] = q, v, acceleration
        v[:] = numbers.a5 * v0 + numbers.a6 * acceleration0
        acceleration[:] = -numbers.a2 * v0 - numbers.a3 * acceleration0
        done[:] = False
        for iteration in range(numbers.max_iterations + 1):
            if iteration == numbers.max_iterations and numbers.max_iterations == 1:
                break  # the semi-implicit step takes what one iteration gives
            compute_force(arrays, q, f, K)
            for a in range(n):
                if done[a]:
                    continue
                square = compute_residual(mass, numbers, f[a], K[a], v[a], acceleration[a], f_ext[a], D, residual)
                if iteration == 0:
                    first[a] = square
                elif square <= numbers.epsilon**2 * first[a]:
                    done[a] = True
                    largest = max(largest, np.sqrt(square / first[a]) if first[a] > 0.0 else 0.0)
                    continue
                if iteration == numbers.max_iterations:
                    return 2 * a + 1, iterations, np.sqrt(square / first[a])
                for i in range(r):
                    for j in range(i + 1):
                        A[i, j] = numbers.a1 * mass[i, j] + numbers.a4 * D[i, j] + K[a, i, j]
                if ldlt_factor(A) >= 0:
                    return 2 * a, iterations, np.inf
                ldlt_solve(A, residual)
                for i in range(r):
                    q[a, i] += residual[i]
                    v[a, i] += numbers.a4 * residual[i]
                    acceleration[a, i] += numbers.a1 * residual[i]
                iterations += 1
            if done.all():
                break
    return -1, iterations, largest
