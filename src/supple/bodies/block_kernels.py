"""Blocks of one matrix added to another, in compiled loops."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled

Array = np.ndarray
PARALLEL_BLOCKS = 100_000


@compiled
def add_scaled_serial(blocks: Any, factor: float, positions: Any, data_out: Any) -> None:
    """data_out[positions[k]] += factor blocks[k]; positions are distinct."""
    for k in range(len(positions)):
        at = positions[k]
        for i in range(3):
            for j in range(3):
                data_out[at, i, j] += factor * blocks[k, i, j]


@compiled(parallel=True)
def add_scaled_parallel(blocks: Any, factor: float, positions: Any, data_out: Any) -> None:
    """`add_scaled_serial` on all threads."""
    for k in numba.prange(len(positions)):
        at = positions[k]
        for i in range(3):
            for j in range(3):
                data_out[at, i, j] += factor * blocks[k, i, j]


def add_scaled(blocks: Array, factor: float, positions: Array, data_out: Array) -> None:
    """data_out[positions[k]] += factor blocks[k] for distinct positions, blocks (n, 3, 3)."""
    many = len(positions) >= PARALLEL_BLOCKS and numba.get_num_threads() > 1
    (add_scaled_parallel if many else add_scaled_serial)(blocks, factor, positions, data_out)
