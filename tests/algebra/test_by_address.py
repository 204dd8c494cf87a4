"""Named tuples handed to kernels by their address: fields, tuples in tuples, threads, copies, owners of arrays."""

from __future__ import annotations

import copy
import pickle
import sys
from typing import NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.by_address import ByAddress
from supple.algebra.compiling.compiled import compiled

Array = np.ndarray


class Inner(NamedTuple):
    """Two arrays of one type: a tuple that Numba holds as an array of arrays."""

    x: Array
    y: Array


class Outer(NamedTuple):
    """Arrays of several types, a number, and a tuple."""

    rows: Array
    counts: Array
    inner: Inner
    factor: float


def outer() -> Outer:
    """Some values."""
    inner = Inner(np.arange(5.0), np.full(5, 10.0))
    return Outer(np.arange(6.0).reshape(2, 3), np.array([4, 5, 6]), inner, 0.5)


@compiled(borrows=True)
def add_inner(inner, by):
    """y += by x of a tuple; the sum of y."""
    total = 0.0
    for i in range(len(inner.x)):
        inner.y[i] += by * inner.x[i]
        total += inner.y[i]
    return total


@compiled
def add_all(given, by):
    """All fields in one sum; the inner tuple handed on. It counts references, as kernels that allocate do."""
    kept = given.rows[1]
    kept[0] += by
    return given.factor * add_inner(given.inner, by) + given.rows.sum() + given.counts[2] + len(np.zeros(3))


@compiled(parallel=True)
def add_together(given, out):
    """The sum of x by several threads."""
    for k in numba.prange(len(out)):
        out[k] = add_inner(given.inner, 0.0) + k


def test_kernels_read_and_write_the_fields() -> None:
    value = outer()
    given = ByAddress(value)
    assert add_all(given, 2.0) == 0.5 * (50 + 2 * 10) + (15 + 2) + 6 + 3
    np.testing.assert_array_equal(value.inner.y, 10 + 2 * value.inner.x)
    assert value.rows[1, 0] == 5.0
    value.inner.y[:] = 0.0  # what arrays hold may change
    assert add_inner(ByAddress(value.inner), 1.0) == 10.0


def test_threads_take_it() -> None:
    out = np.zeros(6)
    add_together(ByAddress(outer()), out)
    np.testing.assert_array_equal(out, 50 + np.arange(6))


def test_it_keeps_the_arrays_and_kernels_leave_them_alone() -> None:
    value = outer()
    given, before = ByAddress(value), sys.getrefcount(value.rows)
    for _ in range(1000):
        add_all(given, 0.0)
    after = sys.getrefcount(value.rows)
    assert after == before
    del value
    assert add_all(given, 0.0) == 0.5 * 50 + 15 + 6 + 3


def test_copies_have_arrays_of_their_own() -> None:
    value = outer()
    given = ByAddress(value)
    for other in (copy.deepcopy(given), pickle.loads(pickle.dumps(given))):
        add_inner(ByAddress(other.value.inner), 1.0)
        add_all(other, 1.0)
        assert other.value.inner.y[4] == 18.0
    np.testing.assert_array_equal(value.inner.y, 10.0)
    pair = {"value": value, "given": given}
    both = copy.deepcopy(pair)
    add_all(both["given"], 1.0)
    assert both["value"].inner.y[4] == 14.0  # copied together they stay together
