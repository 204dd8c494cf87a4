"""Rows of points over the shapes of the domains that they hang on: motions of a domain's frame, then by its modes."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled


@compiled
def fill_hung_rows(segment, starts, wrench, modes, indptr_out, indices_out, data_out):
    """Three rows a point, (3 n, R), in the order of columns. indptr_out (3 n + 1,) is zero where it begins.

    segment (n,): of the domain of each point; starts (segments + 1,): its first shape; wrench (n, 3, 6), modes (n, 3,
    most): how points move with frame and modes, of which a domain may have fewer.
    """
    filled = 0
    for k in range(len(segment)):
        first = starts[segment[k]]
        width = starts[segment[k] + 1] - first
        for i in range(3):
            for c in range(width):
                indices_out[filled] = first + c
                data_out[filled] = wrench[k, i, c] if c < 6 else modes[k, i, c - 6]
                filled += 1
            indptr_out[3 * k + i + 1] = filled
