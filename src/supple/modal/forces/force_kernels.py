"""Reduced elastic force and tangent of many instances of one class, in two matrix products a block of instances.

    K(q) = K0 + K1(q) + K2(q, q),     f(q) = K0 q + K1(q) q / 2 + K2(q, q) q / 3

K1 and K2 are linear in q_k and in the products q_i q_j, i <= j; f follows from K, as each part is homogeneous. Only the
upper triangle of K is multiplied, row (i, j) with i <= j. Within a block the instance is the last index, so that every
loop runs over instances side by side, in SIMD lanes; unused places of a block hold zeros.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES

Array = np.ndarray
BLOCK = 64
"""Most instances a block; a multiple of LANES that keeps the products of r = 20 in the cache."""


class ForceArrays(NamedTuple):
    """linear: K0 (r, r); by_q (pairs, r): K1; by_pairs (pairs, pairs): K2; pairs = r (r + 1) / 2."""

    linear: Array
    by_q: Array
    by_pairs: Array


class ForceWork(NamedTuple):
    """Scratch for a block: products, K1 and K2, (pairs, width) each; column_in, column_out (pairs,) for one
    instance."""

    products: Array
    first: Array
    second: Array
    column_in: Array
    column_out: Array


@compiled
def block_width(count):
    """Instances a block for `count` instances in all: a multiple of LANES, at most BLOCK."""
    return min(BLOCK, LANES * ((count + LANES - 1) // LANES))


@compiled
def make_work(r, width):
    """Scratch for blocks of `width` instances."""
    shape = (r * (r + 1) // 2, width)
    return ForceWork(np.empty(shape), np.empty(shape), np.empty(shape), np.empty(shape[0]), np.empty(shape[0]))


@compiled
def multiply_block(A, x, count, work, out):
    """out = A x for the first `count` columns of x, by one matrix product, or matrix times vector where count = 1."""
    if count > 1:
        np.dot(A, x, out)
        return
    rows, columns = A.shape
    for k in range(columns):
        work.column_in[k] = x[k, 0]
    np.dot(A, work.column_in[:columns], work.column_out)
    out[:] = 0.0
    for k in range(rows):
        out[k, 0] = work.column_out[k]


@compiled
def compute_force_block(arrays, work, count, q, f_out, K_out):
    """f_out (r, width) and the upper triangle K_out (pairs, width) of a block at q (r, width), all contiguous.

    count: how many places of the block are used.
    """
    r, width = q.shape
    products, first, second = work.products, work.first, work.second
    k = 0
    for i in range(r):
        for j in range(i, r):
            for b in range(width):
                products[k, b] = q[i, b] * q[j, b]
            k += 1
    multiply_block(arrays.by_q, q, count, work, first)
    multiply_block(arrays.by_pairs, products, count, work, second)
    f_out[:] = 0.0
    k = 0
    for i in range(r):
        for j in range(i, r):
            rest = arrays.linear[i, j]
            share = 0.5 if i == j else 1.0  # the diagonal is added twice below
            for b in range(width):
                K_out[k, b] = rest + first[k, b] + second[k, b]  # (13.1)
                part = share * (rest + 0.5 * first[k, b] + (1.0 / 3.0) * second[k, b])  # (13.1)
                f_out[i, b] += part * q[j, b]  # (13.1)
                f_out[j, b] += part * q[i, b]
            k += 1


@compiled
def gather_block(values, start, block_out):
    """block_out (r, width) from rows start, start + 1, ... of values (n, r), zero where there are none."""
    r, width = block_out.shape
    for b in range(width):
        for i in range(r):
            block_out[i, b] = values[start + b, i] if start + b < values.shape[0] else 0.0


@compiled
def scatter_block(block, start, values_out):
    """Rows start, start + 1, ... of values_out (n, r) from block (r, width)."""
    r, width = block.shape
    for b in range(min(width, values_out.shape[0] - start)):
        for i in range(r):
            values_out[start + b, i] = block[i, b]


@compiled
def compute_force(arrays, q, f_out, K_out):
    """f_out (n, r) and K_out (n, r, r) of n instances at q (n, r). BLAS should be on one thread."""
    n, r = q.shape
    width = block_width(n)
    work = make_work(r, width)
    local, f, K = np.empty((r, width)), np.empty((r, width)), np.empty((r * (r + 1) // 2, width))
    for start in range(0, n, width):
        gather_block(q, start, local)
        compute_force_block(arrays, work, min(width, n - start), local, f, K)
        scatter_block(f, start, f_out)
        k = 0
        for i in range(r):
            for j in range(i, r):
                for b in range(min(width, n - start)):
                    K_out[start + b, i, j] = K[k, b]
                    K_out[start + b, j, i] = K[k, b]
                k += 1
