"""Squares of lanes transposed in registers and products in tiles, against numpy."""

from __future__ import annotations

import numpy as np
import pytest

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.step.dense_kernels import add_products, factor_lanes, solve_seven
from supple.bodies.tree.step.transpose_kernels import gather_rows, scatter_rows

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
@pytest.mark.parametrize("shared", [False, True])
def test_products_in_tiles(r: int, whole: bool, shared: bool) -> None:
    """A^T B, whole or its lower triangle, for r that tiles of four fit and do not fit; half of A are constants."""
    random = np.random.default_rng(r)
    A, B, M = (random.normal(size=(n, r, LANES)) for n in (6, 6, r))
    if shared:
        A[3:] = A[3:, :, :1]
    low = A[3:, :, 0].ravel() if shared else A[3:].reshape(-1, LANES)
    work = np.concatenate([A[:3].ravel(), B.ravel(), M.ravel()])
    add_products(work, 0, low, 0, 3 * r * LANES, r, r if whole else 0, 9 * r * LANES)
    asked = np.ones((r, r), dtype=bool) if whole else np.tril(np.ones((r, r), dtype=bool))
    expected = M + np.einsum("kil,kjl->ijl", A, B)
    # sums of six products of order one: a few roundings
    found = work[9 * r * LANES :].reshape(r, r, LANES)
    np.testing.assert_allclose(found[asked], expected[asked], rtol=0, atol=1e-13)


@pytest.mark.parametrize("r", [1, 3, 4, 7, 8, 20])
def test_factors_in_squares_solve(r: int) -> None:
    """Seven right sides, for r that squares of four fit and do not fit; above the diagonal nothing is read."""
    random = np.random.default_rng(r)
    G, b = random.normal(size=(LANES, r, r)), random.normal(size=(LANES, r, 7))
    M = G @ G.transpose(0, 2, 1) + r * np.eye(r)
    a = np.where(np.tril(np.ones((r, r), dtype=bool)), M, np.nan).transpose(1, 2, 0).ravel()
    x = b.transpose(1, 2, 0).ravel()
    assert factor_lanes(a, 0, r) == -1
    solve_seven(a, 0, x, 0, r)
    # condition numbers below 10, solutions of order one
    np.testing.assert_allclose(x.reshape(r, 7, LANES).transpose(2, 0, 1), np.linalg.solve(M, b), rtol=0, atol=1e-13)


@pytest.mark.parametrize("bad", range(6))
def test_a_bad_pivot_is_told(bad: int) -> None:
    M = np.repeat(np.eye(6)[:, :, None], LANES, axis=2)
    M[bad, bad, LANES - 1] = 0.0
    assert factor_lanes(M.ravel(), 0, 6) == bad
