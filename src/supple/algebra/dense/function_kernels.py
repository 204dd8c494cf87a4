# mypy: disable-error-code="no-untyped-def"
"""exp, tanh and sine from sums and products alone: the same bits on every x86 processor with FMA.

    exp x = 2^k exp r,  k = floor(x / ln 2 + 1/2),  |r| <= ln(2) / 2, exp r by its series
    tanh x = m / (m + 2) with m = exp(2x) - 1 by its series for |x| < 0.35, else 1 - 2 / (exp(2x) + 1)
    sine s = sin(2 pi s), s in turns: brought to a quarter of a turn, then by its series

The functions of libraries differ in the last bit between processors, which a walking robot turns into another path.
"""

from __future__ import annotations

import math

import numpy as np

from supple.algebra.compiling.compiled import compiled

LN2_HIGH = 0.693147180369123816490  # its last 21 bits are zero: k times it is exact
LN2_LOW = 1.90821492927058770002e-10
EXP_MAX, EXP_MIN = 709.0, -708.0
"""Beyond these exp is infinite or 0 here."""
TANH_SERIES, TANH_ONE = 0.35, 22.0
TERMS = 18


@compiled
def exp_series(r):
    """(exp(r) - 1) / r for |r| <= 0.71."""
    total = 1.0
    for n in range(TERMS, 1, -1):
        total = 1.0 + r / n * total
    return total


@compiled
def power_of_two(k):
    """2^k, exact."""
    base, count, power = 2.0, k, 1.0
    if k < 0:
        base, count = 0.5, -k
    while count > 0:
        if count % 2 == 1:
            power *= base
        base *= base
        count //= 2
    return power


@compiled
def exponential(x):
    """exp(x)."""
    if x != x:
        return x
    if x > EXP_MAX:
        return np.inf
    if x < EXP_MIN:
        return 0.0
    k = math.floor(x / LN2_HIGH + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    return power_of_two(int(k)) * (1.0 + r * exp_series(r))


@compiled
def hyperbolic_tangent(x):
    """tanh(x)."""
    if x != x:
        return x
    a = abs(x)
    if a < TANH_SERIES:
        m = 2.0 * x * exp_series(2.0 * x)
        return m / (m + 2.0)
    one = 1.0
    if a < TANH_ONE:
        one = 1.0 - 2.0 / (exponential(2.0 * a) + 1.0)
    return one if x > 0 else -one


@compiled
def sine_of_turns(s):
    """sin(2 pi s) of s in turns."""
    if not abs(s) < 1e15:
        return np.nan
    r = s - math.floor(s + 0.5)
    if r > 0.25:
        r = 0.5 - r
    elif r < -0.25:
        r = -0.5 - r
    angle = 2.0 * math.pi * r
    square, total = angle * angle, 1.0
    for n in range(23, 1, -2):
        total = 1.0 - square / (n * (n - 1)) * total
    return angle * total


@compiled
def compute_sines(s, sines_out):
    """sin(2 pi s) of turns (n,)."""
    for i in range(len(s)):
        sines_out[i] = sine_of_turns(s[i])


@compiled
def compute_layer(weights, biases, given, values_out):
    """tanh(W x + b) of each row: weights (m, k), biases (m,), given (n, k), values_out (n, m)."""
    for i in range(len(given)):
        for j in range(len(biases)):
            total = biases[j]
            for k in range(given.shape[1]):
                total += weights[j, k] * given[i, k]
            values_out[i, j] = hyperbolic_tangent(total)
