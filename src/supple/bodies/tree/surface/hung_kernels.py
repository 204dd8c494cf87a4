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


@compiled
def compute_hung(chain, R, local, domain_out, wrench_out, modes_out):
    """domain_out (n,): of each point that hangs on one; wrench_out (n, 3, 6), modes_out (n, 3, most): how it moves with
    the frame and the modes of it. R (d, 9): rows are the world's axes in the domains'; local (n, 3) [m]."""
    for d in range(len(chain.parent)):
        for k in range(chain.places[d], chain.places[d + 1]):
            number, domain_out[k] = chain.first[d] + k - chain.places[d], d
            x, y, z = local[k, 0], local[k, 1], local[k, 2]
            for i in range(3):
                a, b, c = R[d, 3 * i], R[d, 3 * i + 1], R[d, 3 * i + 2]
                wrench_out[k, i, 0], wrench_out[k, i, 1] = y * c - z * b, z * a - x * c
                wrench_out[k, i, 2], wrench_out[k, i, 3] = x * b - y * a, a
                wrench_out[k, i, 4], wrench_out[k, i, 5] = b, c
                for l in range(modes_out.shape[2]):
                    u, v, w = chain.U[number, 0, l], chain.U[number, 1, l], chain.U[number, 2, l]
                    modes_out[k, i, l] = chain.scale[d] * (a * u + b * v + c * w)
