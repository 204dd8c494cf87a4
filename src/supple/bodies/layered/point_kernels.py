"""J of points of a layered body, by blocks: two for the frame, then one for each free node that carries the point."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled


@compiled
def compute_point_rows(indptr, indices, weight, linear, R, u, nodal, ptr_out, cols_out, blocks_out):
    """linear I, -R [u]x and weight * nodal of every point; u (count, 3), R, nodal (3, 3).

    indptr, indices, weight: of the free nodes that carry the points, in rows. ptr_out is zero where it begins.
    """
    at = 0
    for k in range(len(indptr) - 1):
        a, b, c = u[k, 0], u[k, 1], u[k, 2]
        cols_out[at], cols_out[at + 1] = 0, 1
        for i in range(3):
            for j in range(3):
                blocks_out[at, i, j] = linear if i == j else 0.0
            blocks_out[at + 1, i, 0] = R[i, 2] * b - R[i, 1] * c
            blocks_out[at + 1, i, 1] = R[i, 0] * c - R[i, 2] * a
            blocks_out[at + 1, i, 2] = R[i, 1] * a - R[i, 0] * b
        at += 2
        for e in range(indptr[k], indptr[k + 1]):
            cols_out[at] = 2 + indices[e]
            for i in range(3):
                for j in range(3):
                    blocks_out[at, i, j] = weight[e] * nodal[i, j]
            at += 1
        ptr_out[k + 1] = at
