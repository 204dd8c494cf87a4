"""J^T F J as an operator: few rows J in 3x3 blocks, coupled by a dense F; too many blocks to be stored in a matrix."""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.sparse.block_rows_kernels import add_transposed, compute_rows


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
        workspace = np.zeros((2, len(F)))
        return cls(
            np.ascontiguousarray(ptr, dtype=np.int64),
            np.ascontiguousarray(cols, dtype=np.int64),
            np.ascontiguousarray(blocks),
            np.ascontiguousarray(F),
            workspace[0],
            workspace[1],
        )


@compiled
def add_outer(outer, x, factor, y_out):
    """y_out += factor J^T F J x; returns factor x . J^T F J x. x, y_out: (n)."""
    t, s = outer.t, outer.s
    compute_rows(outer.ptr, outer.cols, outer.blocks, x, t)  # (3.2)
    total = 0.0
    for i in range(t.size):
        value = 0.0
        for j in range(t.size):
            value += outer.F[i, j] * t[j]
        s[i] = factor * value
        total += t[i] * s[i]
    add_transposed(outer.ptr, outer.cols, outer.blocks, s, y_out)  # (3.2)
    return total
