"""Sparse matrices over points: as ones over their coordinates, and products that scipy takes long for where they are
small."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse

Array = np.ndarray


def threefold(W: sparse.csr_array) -> sparse.csr_array:
    """The Kronecker product of W (k, p) and the unit matrix, (3 k, 3 p)."""
    return threefold_rows(W.indptr, W.indices, W.data, W.shape[1])


def threefold_rows(ptr: Array, cols: Array, data: Array, width: int) -> sparse.csr_array:
    """The same of rows: those of k are ptr[k] to ptr[k + 1] - 1; width: p."""
    length = ptr[1:] - ptr[:-1]
    start, shift = 3 * ptr[:-1], np.arange(3)[:, None]
    starts = np.append((start + shift * length).T.ravel(), 3 * len(cols))
    at = np.repeat(start - ptr[:-1], length) + np.arange(len(cols)) + shift * np.repeat(length, length)
    indices, values = np.empty(3 * len(cols), dtype=np.asarray(cols).dtype), np.empty(3 * len(cols))
    indices[at], values[at] = 3 * cols + shift, data
    return sparse.csr_array((values, indices, starts), shape=(3 * len(length), 3 * width))


def composed(A: sparse.csr_array, B: sparse.csr_array) -> sparse.csr_array:
    """A B, in which entries of one place follow each other and are not added up."""
    own = (B.indptr[1:] - B.indptr[:-1])[A.indices]
    ends = np.append(0, np.cumsum(own))
    at = np.repeat(B.indptr[A.indices] - ends[:-1], own) + np.arange(ends[-1])
    data = np.repeat(A.data, own) * B.data[at]
    return sparse.csr_array((data, B.indices[at], ends[A.indptr]), shape=(A.shape[0], B.shape[1]))


def pulled(W: sparse.csr_array, f: Array) -> Array:
    """W^T f of f (k,) or (k, m), without the transpose of W (k, p)."""
    row = np.repeat(np.arange(W.shape[0]), W.indptr[1:] - W.indptr[:-1])
    if f.ndim == 1:
        return np.bincount(W.indices, W.data * f[row], minlength=W.shape[1])
    each = W.data[:, None] * f[row]
    return np.stack([np.bincount(W.indices, part, minlength=W.shape[1]) for part in each.T], axis=1)
