"""J^T F J as an operator: few rows J in 3x3 blocks, coupled by a dense F; too many blocks to be stored in a matrix."""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling import compiled


class OuterTerm(NamedTuple):
    """J by block rows: ptr (k + 1,), cols (e,), blocks (e, 3, 3); F (3 k, 3 k), symmetric; t, s (3 k,): scratch."""

    ptr: np.ndarray
    cols: np.ndarray
    blocks: np.ndarray
    F: np.ndarray
    t: np.ndarray
    s: np.ndarray

    @classmethod
    def of(cls, ptr: np.ndarray, cols: np.ndarray, blocks: np.ndarray, F: np.ndarray) -> OuterTerm:
        """With scratch, and arrays of the types that kernels take."""
        room = np.zeros((2, len(F)))
        return cls(
            np.ascontiguousarray(ptr, dtype=np.int64),
            np.ascontiguousarray(cols, dtype=np.int64),
            np.ascontiguousarray(blocks),
            np.ascontiguousarray(F),
            room[0],
            room[1],
        )


@compiled
def add_outer(outer, x, factor, y_out):
    """y_out += factor J^T F J x; returns factor x . J^T F J x. x, y_out: (n)."""
    t, s, blocks, cols = outer.t, outer.s, outer.blocks, outer.cols
    for k in range(outer.ptr.size - 1):
        a, b, c = 0.0, 0.0, 0.0
        for e in range(outer.ptr[k], outer.ptr[k + 1]):
            at = 3 * cols[e]
            u, v, w = x[at], x[at + 1], x[at + 2]
            a += blocks[e, 0, 0] * u + blocks[e, 0, 1] * v + blocks[e, 0, 2] * w
            b += blocks[e, 1, 0] * u + blocks[e, 1, 1] * v + blocks[e, 1, 2] * w
            c += blocks[e, 2, 0] * u + blocks[e, 2, 1] * v + blocks[e, 2, 2] * w
        t[3 * k], t[3 * k + 1], t[3 * k + 2] = a, b, c
    total = 0.0
    for i in range(t.size):
        value = 0.0
        for j in range(t.size):
            value += outer.F[i, j] * t[j]
        s[i] = factor * value
        total += t[i] * s[i]
    for k in range(outer.ptr.size - 1):
        a, b, c = s[3 * k], s[3 * k + 1], s[3 * k + 2]
        for e in range(outer.ptr[k], outer.ptr[k + 1]):
            at = 3 * cols[e]
            y_out[at] += blocks[e, 0, 0] * a + blocks[e, 1, 0] * b + blocks[e, 2, 0] * c
            y_out[at + 1] += blocks[e, 0, 1] * a + blocks[e, 1, 1] * b + blocks[e, 2, 1] * c
            y_out[at + 2] += blocks[e, 0, 2] * a + blocks[e, 1, 2] * b + blocks[e, 2, 2] * c
    return total
