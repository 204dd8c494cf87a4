"""Vectors as three numbers, for kernels that work on one pair at a time."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled


@compiled(inline=True)
def at(x, i):
    """Row i of an array (n, 3)."""
    return x[i, 0], x[i, 1], x[i, 2]


@compiled(inline=True)
def add(a, b):
    """a + b."""
    return a[0] + b[0], a[1] + b[1], a[2] + b[2]


@compiled(inline=True)
def subtract(a, b):
    """a - b."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@compiled(inline=True)
def scale(s, a):
    """s a."""
    return s * a[0], s * a[1], s * a[2]


@compiled(inline=True)
def toward(a, b, t):
    """a + t (b - a)."""
    return a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1]), a[2] + t * (b[2] - a[2])


@compiled(inline=True)
def dot(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@compiled(inline=True)
def cross(a, b):
    """a x b."""
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@compiled(inline=True)
def norm(a):
    """|a|."""
    return np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@compiled(inline=True)
def unit(a):
    """a / |a|, or zero."""
    length = np.sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])
    s = 1.0 / length if length > 0.0 else 0.0
    return s * a[0], s * a[1], s * a[2]


@compiled(inline=True)
def blend(w, a, b, c):
    """w0 a + w1 b + w2 c."""
    return (
        w[0] * a[0] + w[1] * b[0] + w[2] * c[0],
        w[0] * a[1] + w[1] * b[1] + w[2] * c[1],
        w[0] * a[2] + w[1] * b[2] + w[2] * c[2],
    )
