"""Elastic energy of domains of one class, lanes of them at once.

    E = sum over a <= b <= c <= d of c2 q_a q_b + c3 q_a q_b q_c + c4 q_a q_b q_c q_d

A term is a coefficient times a product m_k = q_c q_d, c <= d, times a factor: 1, q_a or q_a q_b. Terms of one factor
are a row; those of c4 with b, and of c3 with a, begin at the first product with it. BLOCK rows whose products begin
near each other are summed together: each product is read once for them, and no sum waits for the one before.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, load, store

Array = np.ndarray
WIDTH = 2 * LANES
"""Domains that are measured together: two vectors of lanes, so that each coefficient is read once for both."""
BLOCK = 4


class EnergyRows(NamedTuple):
    """Blocks of c classes: start (c + 1,): numbers of the first ones. Of each block: first: the product it begins with,
    at: where its coefficients begin, BLOCK for each product, factor (b, BLOCK): which of `multiply`'s rows each of its
    rows is multiplied by."""

    start: Array
    first: Array
    at: Array
    factor: Array
    coefficients: Array


@compiled(inline=True)
def product_row(r):
    """Where the products begin among the rows of `multiply`."""
    return 1 + r


@compiled(inline=True)
def multiply(r, q, v, m_out, across_out, along_out):
    """m_out: ones, lanes of coordinates q (r rows), and their products q_a q_b for all a <= b. With rates v:
    across_out, q'_b q_a - q'_a q_b, and along_out, q'_a q'_b."""
    store(m_out, 0, 0.0 * load(q, 0, WIDTH) + 1.0)
    for a in range(r):
        store(m_out, (1 + a) * WIDTH, load(q, a * WIDTH, WIDTH))
    at, pair = product_row(r) * WIDTH, 0
    for a in range(r):
        q_a, v_a = load(q, a * WIDTH, WIDTH), load(v, a * WIDTH, WIDTH)
        for b in range(a, r):
            q_b, v_b = load(q, b * WIDTH, WIDTH), load(v, b * WIDTH, WIDTH)
            store(m_out, at, q_a * q_b)
            store(across_out, pair, v_b * q_a - v_a * q_b)
            store(along_out, pair, v_a * v_b)
            at, pair = at + WIDTH, pair + WIDTH


@compiled(borrows=True)
def lanes_energy(energy, c, r, m):
    """E of lanes of domains of class c with r coordinates, at size and tuning 1. m: of `multiply`."""
    total, count, products = 0.0 * load(m, 0, WIDTH), r * (r + 1) // 2, product_row(r)
    coefficients = energy.coefficients
    for block in range(energy.start[c], energy.start[c + 1]):
        s0 = 0.0 * load(m, 0, WIDTH)
        s1, s2, s3, at = s0, s0, s0, energy.at[block]
        for k in range(products + energy.first[block], products + count):
            product = load(m, k * WIDTH, WIDTH)
            s0 += coefficients[at] * product
            s1 += coefficients[at + 1] * product
            s2 += coefficients[at + 2] * product
            s3 += coefficients[at + 3] * product
            at += BLOCK
        factor = energy.factor
        total += load(m, factor[block, 0] * WIDTH, WIDTH) * s0 + load(m, factor[block, 1] * WIDTH, WIDTH) * s1
        total += load(m, factor[block, 2] * WIDTH, WIDTH) * s2 + load(m, factor[block, 3] * WIDTH, WIDTH) * s3
    return total
