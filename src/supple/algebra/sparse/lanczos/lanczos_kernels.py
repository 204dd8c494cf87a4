"""Lanczos iteration with a polynomial of block-sparse matrices, several steps in one call.

A = B + 2 (I - prod_k (I - p_k C))         B, C: symmetric; A = B where there are no shares p_k

w = A v_k,  d_k = w v_k,  w <- w - d_k v_k - e_(k-1) v_(k-1),  e_k = |w|,  v_(k+1) = w / e_k
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.sparse.block_sparse_kernels import multiply_rows


@compiled
def extend_lanczos(B, C, shares, first, count, least, left, moved, vectors, diagonal_out, beside_out):
    """Steps first to count, or to one at which e_k is at most `least` times d_k; returns how many there are now.

    vectors (m, n): v_0 to v_first on entry; left, moved (n,): scratch.
    """
    rows = len(left) // 3
    for k in range(first, count):
        v, w = vectors[k], vectors[k + 1]
        multiply_rows(B, v, 0, rows, w)
        if len(shares) > 0:
            left[:] = v
            for share in shares:
                multiply_rows(C, left, 0, rows, moved)
                for i in range(len(left)):
                    left[i] -= share * moved[i]
            for i in range(len(left)):
                w[i] += 2.0 * (v[i] - left[i])
        d = np.dot(w, v)
        for i in range(len(left)):
            w[i] -= d * v[i]
        if k > 0:
            for i in range(len(left)):
                w[i] -= beside_out[k - 1] * vectors[k - 1, i]
        e = np.sqrt(np.dot(w, w))
        diagonal_out[k], beside_out[k] = d, e
        if e <= least * abs(d):
            return k + 1
        for i in range(len(left)):
            w[i] /= e
    return count
