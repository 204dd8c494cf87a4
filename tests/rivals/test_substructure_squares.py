"""Squares of lanes transposed in registers and products in tiles, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.compiling import compiled
from supple.algebra.lanes import LANES
from supple.bodies.substructure.dense_kernels import add_products
from supple.bodies.substructure.transpose_kernels import gather_rows, scatter_rows

STEP, COUNT = 5 * 8, 4 * 8


@compiled
def to_rows(numbers, rows_out):
    gather_rows(numbers, 0, STEP, COUNT, rows_out, 0)


@compiled
def to_numbers(rows, numbers_out):
    scatter_rows(rows, 0, numbers_out, 0, STEP, COUNT)


def test_numbers_become_rows_and_numbers_again() -> None:
    numbers = np.random.default_rng(0).normal(size=(LANES, STEP))
    rows, back = np.full((COUNT, LANES), np.nan), np.full((LANES, STEP), np.nan)
    to_rows(numbers.ravel(), rows.reshape(-1))
    assert np.array_equal(rows, numbers[:, :COUNT].T)
    to_numbers(rows.ravel(), back.reshape(-1))
    assert np.array_equal(back[:, :COUNT], numbers[:, :COUNT])
    assert np.isnan(back[:, COUNT:]).all()  # nothing beyond is touched


@pytest.mark.parametrize("r", [1, 3, 4, 6, 20])
@pytest.mark.parametrize("whole", [False, True])
def test_products_in_tiles(r: int, whole: bool) -> None:
    """A^T B, whole or its lower triangle, for r that tiles of four fit and do not fit."""
    random = np.random.default_rng(r)
    A, B, M = (random.normal(size=(n, r, LANES)) for n in (6, 6, r))
    work, size = np.concatenate([A.ravel(), B.ravel(), M.ravel()]), A.size
    add_products(work, 0, size // 2, size, size + size // 2, r, r if whole else 0, 2 * size)
    asked = np.ones((r, r), dtype=bool) if whole else np.tril(np.ones((r, r), dtype=bool))
    expected = M + np.einsum("kil,kjl->ijl", A, B)
    # sums of six products of order one: a few roundings
    np.testing.assert_allclose(work[2 * size :].reshape(r, r, LANES)[asked], expected[asked], rtol=0, atol=1e-13)
