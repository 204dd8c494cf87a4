"""Cosine without branches, of a number or of SIMD lanes; libraries' cosines are called number by number."""

# mypy: ignore-errors
from __future__ import annotations

from math import factorial, pi

from supple.algebra.compiling.compiled import compiled

S1, S3, S5, S7, S9, S11, S13, S15, S17, S19 = ((-1) ** (k // 2) * (2 * pi) ** k / factorial(k) for k in range(1, 20, 2))
WHOLE = 1.5 * 2.0**52
"""What is added to it keeps no fraction."""


@compiled(inline=True)
def cosine_of_turns(r):
    """cos(2 pi r) = sin(2 pi y), y = 1/4 - |r - the nearest integer|, by the series of the sine to y^19.

    What the series leaves out is below 3e-16; an error of r counts 2 pi times, as in any cosine. |r| < 2^51.
    """
    nearest = (r + WHOLE) - WHOLE
    y = 0.25 - abs(r - nearest)
    s = y * y
    p = S13 + s * (S15 + s * (S17 + s * S19))
    p = S7 + s * (S9 + s * (S11 + s * p))
    return y * (S1 + s * (S3 + s * (S5 + s * p)))
