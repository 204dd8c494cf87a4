"""Kernel of `compliance`."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled


@compiled
def compute_weighted(ptr, point, weight, A, out):
    """out = W A W^T: contact i sees the points point[ptr[i]:ptr[i + 1]] with these weights; A (3 p, 3 p)."""
    rows, width = np.empty((3, A.shape[1])), A.shape[1]
    for i in range(ptr.size - 1):
        rows[:] = 0.0
        for e in range(ptr[i], ptr[i + 1]):
            for a in range(3):
                for c in range(width):
                    rows[a, c] += weight[e] * A[3 * point[e] + a, c]
        for j in range(ptr.size - 1):
            for a in range(3):
                for b in range(3):
                    total = 0.0
                    for e in range(ptr[j], ptr[j + 1]):
                        total += weight[e] * rows[a, 3 * point[e] + b]
                    out[3 * i + a, 3 * j + b] = total
