"""Lanes compute what numpy computes, lane by lane; one formula serves lanes, scalars and Python floats."""

from __future__ import annotations

import math

import numpy as np
import pytest
from numba.core.errors import TypingError

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes import lane_type as lanes
from supple.algebra.lanes.lane_sums import lane_sums, narrowed, widened
from supple.algebra.lanes.lane_type import (
    LANES,
    any_greater,
    copysign,
    fabs,
    gather,
    lane_count,
    lane_shift_in,
    load,
    maximum,
    minimum,
    roundoff,
    select_ge,
    splat,
    sqrt,
    store,
)


@compiled(inline=True)
def every_operation(a, b):
    """Uses all that a formula may use, numbers mixed in on both sides."""
    total = 0.0
    for k in range(3):
        total += a * b - k
    low, high = minimum(a, 2 * b), maximum(-0.5, b)
    chosen = select_ge(a, b, low / 3.0, 1.0 - high)
    extra = splat(7.0, a) if any_greater(fabs(a), -1.0) else splat(0.0, a)
    return chosen + sqrt(fabs(a)) + copysign(2.0, b) - abs(b) + total + extra + roundoff(a)


@compiled
def compute_in_lanes(a, b, y_out):
    for i in range(0, a.size, lane_count(a.dtype)):
        store(y_out, i, every_operation(load(a, i), load(b, i)))


@compiled
def compute_in_scalars(a, b, y_out):
    for i in range(a.size):
        y_out[i] = every_operation(a[i], b[i])


def numpy_every_operation(a, b):
    low, high = np.minimum(a, 2 * b), np.maximum(-0.5, b)
    chosen = np.where(a >= b, low / 3, 1 - high)
    rest = np.sqrt(np.abs(a)) + np.copysign(2, b) - np.abs(b) + 3 * a * b - 3 + 7 + np.finfo(a.dtype).eps
    return chosen + rest


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_formula_on_lanes_and_scalars_equals_numpy(dtype):
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 4 * lane_count(dtype))).astype(dtype)
    b[::5] = a[::5]
    tolerance = 40 * np.finfo(dtype).eps  # a dozen roundings of values below 10
    for compute in (compute_in_lanes, compute_in_scalars):
        y = np.full_like(a, np.nan)
        compute(a, b, y)
        np.testing.assert_allclose(y, numpy_every_operation(a, b), rtol=0, atol=tolerance)


def test_formula_on_python_floats_equals_numpy():
    for a, b in np.random.default_rng(2).normal(size=(20, 2)):
        expected = numpy_every_operation(np.float64(a), np.float64(b))
        assert every_operation.py_func(float(a), float(b)) == pytest.approx(expected, abs=1e-14)


def test_lane_count_follows_the_type():
    assert LANES in (4, 8)
    assert lane_count(np.float64) == LANES
    assert lane_count(np.dtype(np.float32)) == 2 * LANES


@compiled
def compute_moves(a, indices, gathered_out, shifted_out, narrow_out):
    previous = splat(-1.0, load(a, 0, LANES))
    for i in range(0, a.size, LANES):
        current = load(a, i, LANES)
        store(gathered_out, i, gather(a, indices, i, LANES))
        store(shifted_out, i, lane_shift_in(previous, current))
        previous = current
    store(narrow_out, 1, load(a, 3, 2))


def test_gather_shift_and_unaligned_access():
    a = np.random.default_rng(3).normal(size=3 * LANES)
    indices = np.random.default_rng(4).permutation(a.size).astype(np.int32)
    gathered, shifted, narrow = np.full_like(a, np.nan), np.full_like(a, np.nan), np.full(4, np.nan)
    compute_moves(a, indices, gathered, shifted, narrow)
    assert np.array_equal(gathered, a[indices])
    assert np.array_equal(shifted, np.concatenate([[-1.0], a[:-1]]))
    assert np.array_equal(narrow, [np.nan, a[3], a[4], np.nan], equal_nan=True)


@compiled
def answer_any_greater(a, b):
    return any_greater(load(a, 0), load(b, 0)), any_greater(load(a, 0), 3.0)


def test_any_greater_sees_one_lane_and_no_nan():
    a, b = np.zeros(LANES), np.zeros(LANES)
    assert answer_any_greater(a, b) == (False, False)
    for k in range(LANES):
        a[:] = -np.inf
        a[k] = 4.0
        assert answer_any_greater(a, b) == (True, True)
    a[:] = np.nan
    assert answer_any_greater(a, b) == (False, False)


@compiled
def compute_choices(a, b, least_out, most_out, chosen_out):
    x, y = load(a, 0), load(b, 0)
    store(least_out, 0, minimum(x, y))
    store(most_out, 0, maximum(x, y))
    store(chosen_out, 0, select_ge(x, y, 1.0, 2.0))


def test_choices_treat_special_values_alike_in_lanes_and_python():
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0, 1e300]
    for x in special:
        for y in special:
            outputs = np.full((3, LANES), np.nan)
            compute_choices(np.full(LANES, x), np.full(LANES, y), *outputs)
            expected = [minimum(x, y), maximum(x, y), select_ge(x, y, 1.0, 2.0)]
            np.testing.assert_array_equal(outputs, np.tile(np.array(expected)[:, None], LANES))


def test_functions_on_python_floats():
    assert lanes.minimum(1.0, 2.0) == 1.0
    assert lanes.maximum(1.0, 2.0) == 2.0
    assert lanes.select_ge(1.0, 1.0, 3.0, 4.0) == 3.0
    assert lanes.any_greater(2.0, 1.0) is True
    assert lanes.splat(3.0, 1.0) == 3.0
    assert lanes.roundoff(1.0) == np.finfo(float).eps
    assert (lanes.sqrt, lanes.fabs, lanes.copysign) == (math.sqrt, math.fabs, math.copysign)


@compiled
def load_first(a):
    store(a, 0, load(a, 0))


@compiled
def load_n(a, n):
    store(a, 0, load(a, 0, n))


@compiled
def store_other(a, b):
    store(b, 0, load(a, 0))


@compiled
def gather_first(a, indices):
    store(a, 0, gather(a, indices, 0))


@compiled
def shift_mixed(a, b):
    store(a, 0, lane_shift_in(load(a, 0), load(b, 0)))


@pytest.mark.parametrize(
    ("kernel", "arguments", "message"),
    [
        (load_first, (np.zeros(64)[::2],), "contiguous one-dimensional"),
        (load_first, (np.zeros((4, 16)),), "contiguous one-dimensional"),
        (load_first, (np.zeros(64, dtype=np.int64),), "float32 or float64"),
        (load_n, (np.zeros(64), 4), "known when compiling"),
        (store_other, (np.zeros(64), np.zeros(64, dtype=np.float32)), "lanes of the array's type"),
        (gather_first, (np.zeros(64), np.zeros(64)), "integer indices"),
        (shift_mixed, (np.zeros(64), np.zeros(64, dtype=np.float32)), "two lanes of one type"),
    ],
)
def test_wrong_arguments_are_named_when_compiling(kernel, arguments, message):
    with pytest.raises(TypingError, match=message):
        kernel(*arguments)


@compiled
def add_all(a, out_two, out_four, out_short):
    """Sums of rows of lanes, two and four at once, and of four in the other width."""
    w = load(a, 0), load(a, LANES), load(a, 2 * LANES), load(a, 3 * LANES)
    store(out_two, 0, lane_sums((w[0], w[1])))
    store(out_four, 0, lane_sums(w))
    store(out_short, 0, lane_sums((narrowed(w[0]), narrowed(w[1]), narrowed(w[2]), narrowed(w[3]))))
    store(a, 0, widened(narrowed(w[0])))


def test_sums_of_several_rows_of_lanes() -> None:
    rows = np.random.default_rng(3).normal(size=(4, LANES))
    a, two, four, short = rows.ravel().copy(), np.full(2, np.nan), np.full(4, np.nan), np.full(4, np.nan, np.float32)
    add_all(a, two, four, short)
    np.testing.assert_allclose(two, rows[:2].sum(axis=1), rtol=0, atol=1e-15 * LANES)
    np.testing.assert_allclose(four, rows.sum(axis=1), rtol=0, atol=1e-15 * LANES)
    np.testing.assert_allclose(short, rows.sum(axis=1), rtol=0, atol=3e-7 * LANES)
    np.testing.assert_array_equal(a[:LANES], rows[0].astype(np.float32))


def test_sums_of_other_things_are_refused() -> None:
    with pytest.raises(TypingError):
        compiled(lambda a: lane_sums((a, a)))(1.0)
