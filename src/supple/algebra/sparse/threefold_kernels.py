"""Kernels of small sparse matrices in rows: row k has the entries indptr[k] to indptr[k + 1] - 1."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled


@compiled
def multiply_points(indptr, indices, data, x, y_out):
    """y_out (k, 3) = W x, of x (p, 3)."""
    for k in range(len(indptr) - 1):
        a, b, c = 0.0, 0.0, 0.0
        for e in range(indptr[k], indptr[k + 1]):
            at, w = indices[e], data[e]
            a += w * x[at, 0]
            b += w * x[at, 1]
            c += w * x[at, 2]
        y_out[k, 0], y_out[k, 1], y_out[k, 2] = a, b, c


@compiled
def multiply(indptr, indices, data, x, y_out):
    """y_out (k, m) = W x, of x (p, m)."""
    if x.shape[1] == 3:
        multiply_points(indptr, indices, data, x, y_out)
        return
    for k in range(len(indptr) - 1):
        for j in range(x.shape[1]):
            y_out[k, j] = 0.0
        for e in range(indptr[k], indptr[k + 1]):
            at, w = indices[e], data[e]
            for j in range(x.shape[1]):
                y_out[k, j] += w * x[at, j]


@compiled
def add_pulled(indptr, indices, data, f, g_out):
    """g_out (p, m) += W^T f, of f (k, m)."""
    for k in range(len(indptr) - 1):
        for e in range(indptr[k], indptr[k + 1]):
            at, w = indices[e], data[e]
            for j in range(f.shape[1]):
                g_out[at, j] += w * f[k, j]


@compiled
def fill_threefold(indptr, indices, data, indptr_out, indices_out, data_out):
    """The Kronecker product of W and the unit matrix of three."""
    filled = 0
    for k in range(len(indptr) - 1):
        for i in range(3):
            for e in range(indptr[k], indptr[k + 1]):
                indices_out[filled], data_out[filled] = 3 * indices[e] + i, data[e]
                filled += 1
            indptr_out[3 * k + i + 1] = filled


@compiled
def count_composed(A_indptr, A_indices, B_indptr, indptr_out):
    """indptr_out of A B, in which entries of one place are not added up."""
    count = 0
    for k in range(len(A_indptr) - 1):
        for e in range(A_indptr[k], A_indptr[k + 1]):
            count += B_indptr[A_indices[e] + 1] - B_indptr[A_indices[e]]
        indptr_out[k + 1] = count


@compiled
def fill_composed(A_indptr, A_indices, A_data, B_indptr, B_indices, B_data, indices_out, data_out):
    """The entries of A B, row by row."""
    filled = 0
    for e in range(A_indptr[-1]):
        row = A_indices[e]
        for c in range(B_indptr[row], B_indptr[row + 1]):
            indices_out[filled], data_out[filled] = B_indices[c], A_data[e] * B_data[c]
            filled += 1


@compiled
def choose_rows(indptr, indices, data, rows, indptr_out, indices_out, data_out):
    """The rows of these numbers; indptr_out is known."""
    for k in range(len(rows)):
        first = indptr[rows[k]]
        for e in range(indptr_out[k], indptr_out[k + 1]):
            at = first + e - indptr_out[k]
            indices_out[e], data_out[e] = indices[at], data[at]
