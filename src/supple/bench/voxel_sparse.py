"""voxel/sparse: filled voxels a second of bodies that leave most of their box empty.

A gyroid, |sin x cos y + sin y cos z + sin z cos x| < c, that fills a fifth of a box of 40x40x40 voxels, two periods
along each edge; and a hollow box of 40x40x40 voxels with walls two voxels thick.
"""

from __future__ import annotations

import numpy as np

from supple.bench.row import Row, at_most, threads
from supple.bench.voxel_block import mixed, rate, rate_row, ready

Array = np.ndarray
CASE = "voxel/sparse"
SIDE = 40


def gyroid(side: int, filled: float, periods: float = 2.0) -> Array:
    """Two materials at random in the shell of a gyroid that fills a part of its box."""
    angle = 2 * np.pi * periods * (np.arange(side) + 0.5) / side
    x, y, z = np.meshgrid(angle, angle, angle, indexing="ij")
    height = np.abs(np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x))
    return np.where(height < np.quantile(height, filled), mixed((side, side, side)), 0)


def hollow_box(side: int, wall: int) -> Array:
    """Two materials at random in the walls of a box."""
    numbers = mixed((side, side, side))
    numbers[(slice(wall, -wall),) * 3] = 0
    return numbers


def sparse() -> list[Row]:
    """Filled voxels a second, and memory a filled voxel."""
    rows = []
    for what, numbers, limit in (
        ("gyroid 40x40x40, a fifth filled", gyroid(SIDE, 0.2), 6e6),
        ("hollow 40x40x40", hollow_box(SIDE, 2), 10e6),
    ):
        with threads(1):
            sweep = ready(numbers, np.float64)
            rows.append(rate_row(CASE, what, rate(sweep), limit, dtype="float64", thread_count=1))
        memory = sweep.bytes_per_voxel
        rows.append(at_most(CASE, f"bytes_per_voxel, {what}", memory, 800.0, unit="B", threads=1))
    return rows


CASES = {CASE: sparse}
