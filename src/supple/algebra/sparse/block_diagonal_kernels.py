"""Kernels of block-diagonal preconditioners: inverted 3x3 diagonal blocks, fixed unknowns left out."""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled

# A pivot below this part of its diagonal entry counts as not positive.
SMALLEST_PIVOT = 1e-14


@compiled(inline=True)
def invert_positive_block(a00, a10, a11, a20, a21, a22):
    """Whether a symmetric 3x3 block is positive definite, and its inverse as six values in the same order.

    The pivots of its Cholesky factorisation are ratios of leading minors; the inverse is adj(a) / det(a).
    """
    c22 = a00 * a11 - a10 * a10
    c00 = a11 * a22 - a21 * a21
    c10 = a20 * a21 - a10 * a22
    c20 = a10 * a21 - a20 * a11
    determinant = a00 * c00 + (a10 * c10 + a20 * c20)
    is_positive = (
        a00 > 0.0
        and a11 > 0.0
        and a22 > 0.0
        and c22 > SMALLEST_PIVOT * (a00 * a11)
        and determinant > SMALLEST_PIVOT * (a22 * c22)
    )
    s = 1.0 / determinant
    i11 = s * (a00 * a22 - a20 * a20)
    i21 = s * (a10 * a20 - a00 * a21)
    return is_positive, s * c00, s * c10, i11, s * c20, i21, s * c22


@compiled
def invert_block(block, inverse_out):
    """inverse_out = inverse of a symmetric block, from its lower triangle; False if not positive definite."""
    is_positive, i00, i10, i11, i20, i21, i22 = invert_positive_block(
        block[0, 0], block[1, 0], block[1, 1], block[2, 0], block[2, 1], block[2, 2]
    )
    inverse_out[0, 0], inverse_out[0, 1], inverse_out[0, 2] = i00, i10, i20
    inverse_out[1, 0], inverse_out[1, 1], inverse_out[1, 2] = i10, i11, i21
    inverse_out[2, 0], inverse_out[2, 1], inverse_out[2, 2] = i20, i21, i22
    return is_positive


@compiled
def compute_filtered_block(block, free, shift, block_out):
    """A diagonal block, its diagonal scaled by 1 + shift, fixed rows and columns those of the identity."""
    for i in range(3):
        for j in range(3):
            block_out[i, j] = free[i] * free[j] * block[i, j]
        block_out[i, i] = block_out[i, i] * (1.0 + shift) + (1.0 - free[i])


@compiled
def apply_blocks(blocks, r, z_out):
    """z_out = blocks r, block by block; r and z_out may be the same array."""
    for row in range(blocks.shape[0]):
        r0, r1, r2 = r[3 * row], r[3 * row + 1], r[3 * row + 2]
        for k in range(3):
            total = blocks[row, k, 0] * r0
            total += blocks[row, k, 1] * r1
            total += blocks[row, k, 2] * r2
            z_out[3 * row + k] = total


@compiled
def compute_inverse_diagonal(data, diagonal, free, inverse_out):
    """inverse_out = C diag(A)^-1 C as blocks; where a diagonal entry is zero, one stands in.

    data: (block_count, 3, 3). diagonal: (block_row_count) int32. free: (block_row_count, 3), 1 or 0.
    """
    for row in range(diagonal.size):
        set_inverse_diagonal(data[diagonal[row]], free[row], inverse_out[row])


@compiled
def set_inverse_diagonal(block, free, inverse_out):
    """The inverse magnitudes of one block's diagonal, or 1 for a zero: positive whatever the block is."""
    inverse_out[:] = 0.0
    for i in range(3):
        size = abs(block[i, i])
        inverse_out[i, i] = free[i] / size if size > 0.0 else free[i]


@compiled
def compute_inverse_blocks(data, diagonal, free, inverse_out):
    """inverse_out = inverses of the free parts of the diagonal blocks, zero where an unknown is fixed.

    A block that is not positive definite is replaced by its diagonal: the preconditioner stays positive
    definite, and the solve finds the negative curvature itself. Arrays as in `compute_inverse_diagonal`.
    """
    for row in range(diagonal.size):
        k = diagonal[row]
        f0, f1, f2 = free[row, 0], free[row, 1], free[row, 2]
        f10, f20, f21 = f1 * f0, f2 * f0, f2 * f1
        is_positive, i00, i10, i11, i20, i21, i22 = invert_positive_block(
            f0 * data[k, 0, 0] + (1.0 - f0),
            f10 * data[k, 1, 0],
            f1 * data[k, 1, 1] + (1.0 - f1),
            f20 * data[k, 2, 0],
            f21 * data[k, 2, 1],
            f2 * data[k, 2, 2] + (1.0 - f2),
        )
        if is_positive:
            inverse_out[row, 0, 0] = f0 * i00
            inverse_out[row, 1, 1] = f1 * i11
            inverse_out[row, 2, 2] = f2 * i22
            inverse_out[row, 0, 1] = inverse_out[row, 1, 0] = f10 * i10
            inverse_out[row, 0, 2] = inverse_out[row, 2, 0] = f20 * i20
            inverse_out[row, 1, 2] = inverse_out[row, 2, 1] = f21 * i21
        else:
            set_inverse_diagonal(data[k], free[row], inverse_out[row])
