"""A matrix over points as one over their coordinates."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse


def threefold(W: sparse.csr_array) -> sparse.csr_array:
    """The Kronecker product of W (k, p) and the unit matrix, (3 k, 3 p)."""
    length = np.diff(W.indptr)
    ptr = np.concatenate([[0], np.cumsum(np.repeat(length, 3))])
    row = np.repeat(np.arange(len(length)), length)
    indices, data = np.empty(ptr[-1], dtype=W.indices.dtype), np.empty(ptr[-1])
    for i in range(3):
        at = ptr[3 * row + i] + np.arange(len(row)) - W.indptr[row]
        indices[at], data[at] = 3 * W.indices + i, W.data
    return sparse.csr_array((data, indices, ptr), shape=(3 * W.shape[0], 3 * W.shape[1]))
