"""Compositional pattern networks, evaluated by arithmetic alone, so that every processor gives the same patterns.

The exponential function and the sine are polynomials after a reduction of the range, since those of the C library and
of NumPy differ in the last bit between processors:

    exp(x) = 2^k exp(r),  k = floor(x / ln 2 + 1/2),  |r| <= ln 2 / 2,  Taylor to r^13 / 13!
    sin(x) = (-1)^k sin(r),  k = floor(x / pi + 1/2),  |r| <= pi / 2,  Taylor to r^19 / 19!
"""

from __future__ import annotations

import math

import numpy as np

from supple.algebra.compiling.compiled import compiled

Array = np.ndarray
LN2 = math.log(2.0)
FUNCTIONS_COUNT = 7
LINEAR, SINE, GAUSS, SIGMOID, ABSOLUTE, SQUARE, STEP = range(FUNCTIONS_COUNT)
"""Numbers of the functions of nodes."""


@compiled(inline=True)
def exponential(x: float) -> float:
    """e^x; the argument is cut to [-40, 40]."""
    x = min(max(x, -40.0), 40.0)
    k = math.floor(x / LN2 + 0.5)
    r = x - k * LN2
    total = 1.0
    for n in range(13, 0, -1):
        total = 1.0 + total * r / n
    factor = 2.0 if k > 0 else 0.5
    for _ in range(abs(int(k))):
        total *= factor
    return total


@compiled(inline=True)
def sine(x: float) -> float:
    """sin x for |x| <= 1e6."""
    k = math.floor(x / math.pi + 0.5)
    r = x - k * math.pi
    square = r * r
    total = 1.0
    for n in range(18, 1, -2):
        total = 1.0 - total * square / (n * (n + 1.0))
    sign = 1.0 if k % 2.0 == 0.0 else -1.0
    return sign * r * total


@compiled(inline=True)
def answer_of(function: int, x: float) -> float:
    """What a node says to the sum of its inputs; all lie in [-1, 1], but for linear, absolute and square ones."""
    if function == SINE:
        return sine(x)
    if function == GAUSS:
        return 2.0 * exponential(-x * x) - 1.0
    if function == SIGMOID:
        return 2.0 / (1.0 + exponential(-x)) - 1.0
    if function == ABSOLUTE:
        return abs(x)
    if function == SQUARE:
        return x * x
    if function == STEP:
        return 1.0 if x > 0.0 else -1.0
    return x


@compiled
def exponentials(x: Array, value_out: Array) -> None:
    """e^x of each number (n,)."""
    for i in range(x.shape[0]):
        value_out[i] = exponential(x[i])


@compiled
def node_answers(function: int, x: Array, value_out: Array) -> None:
    """Answers of one function to numbers (n,)."""
    for i in range(x.shape[0]):
        value_out[i] = answer_of(function, x[i])


@compiled
def network_values(
    inputs: Array, functions: Array, starts: Array, sources: Array, weights: Array, nodes_out: Array
) -> None:
    """Values of all nodes at all places: nodes_out (place, node).

    inputs (place, input): the first nodes; functions (node,): of the others, in an order in which sources come first;
    starts (node + 1,): the links of a node in sources (link,) and weights (link,).
    """
    input_count = inputs.shape[1]
    for place in range(inputs.shape[0]):
        for node in range(input_count):
            nodes_out[place, node] = inputs[place, node]
        for node in range(input_count, functions.shape[0]):
            total = 0.0
            for link in range(starts[node], starts[node + 1]):
                total += weights[link] * nodes_out[place, sources[link]]
            total = min(max(total, -1e4), 1e4)
            nodes_out[place, node] = answer_of(functions[node], total)
