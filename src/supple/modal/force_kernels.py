"""Reduced elastic force and tangent of many instances of one class, in two matrix products.

    K(q) = K0 + K1(q) + K2(q, q),     f(q) = K0 q + K1(q) q / 2 + K2(q, q) q / 3

K1 and K2 are linear in q_k and in the products q_i q_j, i <= j; f follows from K, as each part is homogeneous. Only the
upper triangle of K is multiplied, row (l, m) with l <= m.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling import compiled

Array = np.ndarray


class ForceArrays(NamedTuple):
    """linear: K0 (r, r); by_q (r, pairs): K1; by_pairs (pairs, pairs): K2; pairs = r (r + 1) / 2."""

    linear: Array
    by_q: Array
    by_pairs: Array


@compiled
def compute_monomials(q, w_out):
    """w_out[n, (i, j)] = q_i q_j for i <= j; q (n, r)."""
    for n in range(q.shape[0]):
        k = 0
        for i in range(q.shape[1]):
            for j in range(i, q.shape[1]):
                w_out[n, k] = q[n, i] * q[n, j]
                k += 1


@compiled
def compute_force(arrays, q, f_out, K_out):
    """f_out (n, r) and K_out (n, r, r) of n instances at q (n, r), contiguous. BLAS should be on one thread."""
    n, r = q.shape
    pairs = r * (r + 1) // 2
    w, first, second = np.empty((n, pairs)), np.empty((n, pairs)), np.empty((n, pairs))
    compute_monomials(q, w)
    np.dot(q, arrays.by_q, first)
    np.dot(w, arrays.by_pairs, second)
    linear = arrays.linear
    for a in range(n):
        for i in range(r):
            total = 0.0
            for j in range(r):
                total += linear[i, j] * q[a, j]
            f_out[a, i] = total
        k = 0
        for i in range(r):
            K_out[a, i, i] = linear[i, i] + first[a, k] + second[a, k]
            total = (0.5 * first[a, k] + second[a, k] / 3.0) * q[a, i]
            k += 1
            for j in range(i + 1, r):
                value = linear[i, j] + first[a, k] + second[a, k]
                K_out[a, i, j], K_out[a, j, i] = value, value
                part = 0.5 * first[a, k] + second[a, k] * (1.0 / 3.0)
                total += part * q[a, j]
                f_out[a, j] += part * q[a, i]
                k += 1
            f_out[a, i] += total
