"""3x3 blocks in lanes, added to those of a matrix."""

from __future__ import annotations

import numpy as np
import pytest
from numba.core.errors import TypingError

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_blocks import add_blocks_of_lanes, add_transposed_blocks_of_lanes
from supple.algebra.lanes.lane_type import LANES


@compiled
def add_both(blocks, positions, plain_out, transposed_out):
    plain, transposed = plain_out.ravel(), transposed_out.ravel()
    for k in range(positions.size // LANES):
        add_blocks_of_lanes(blocks, 9 * LANES * k, positions, LANES * k, plain)
        add_transposed_blocks_of_lanes(blocks, 9 * LANES * k, positions, LANES * k, transposed)


def test_blocks_of_lanes_are_added_where_they_belong_one_after_the_other():
    """Some lanes have the same position; the sums have the bits of a loop over the lanes."""
    rng, groups = np.random.default_rng(5), 6
    blocks = rng.normal(size=(groups, 9, LANES))
    positions = rng.integers(0, 5, size=groups * LANES).astype(np.int32)
    start = rng.normal(size=(7, 3, 3))
    plain, transposed = start.copy(), start.copy()
    add_both(blocks.ravel(), positions, plain, transposed)
    expected, turned = start.copy(), start.copy()
    for position, block in zip(positions, np.moveaxis(blocks, 1, 2).reshape(-1, 3, 3)):
        expected[position] += block
        turned[position] += block.T
    assert np.array_equal(plain, expected)
    assert np.array_equal(transposed, turned)


@pytest.mark.parametrize("wrong", ["blocks", "positions", "matrix"])
def test_other_arrays_are_refused(wrong: str) -> None:
    blocks = np.zeros(9 * LANES, np.float32 if wrong == "blocks" else float)
    positions = np.zeros(LANES, float if wrong == "positions" else np.int32)
    data = np.zeros((1, 9) if wrong == "matrix" else 9)
    with pytest.raises(TypingError, match="add_blocks_of_lanes"):
        compiled(lambda b, p, d: add_blocks_of_lanes(b, 0, p, 0, d))(blocks, positions, data)
