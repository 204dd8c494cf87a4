"""Small dense A = L D Lᵀ without pivoting, for one matrix or for one matrix a SIMD lane.

For symmetric A that is positive definite, or quasi-definite ([H Bᵀ; B -C] with H and C positive definite),
every order of elimination works [Vanderbei95]. Row by row, with w = L D,

    w_ij = a_ij - Σ_{k<j} w_ik l_jk,    l_ij = w_ij / d_j,    d_i = a_ii - Σ_{k<i} w_ik l_ik

Factors replace the matrix: L below the diagonal, 1/d on it; what is above the diagonal is neither read nor
written. A factorisation returns -1, or the row of the first pivot that is zero or not finite (in any lane);
the matrix is then spoilt. Solutions replace right-hand sides.

Lane forms hold matrices as (n, n, lanes), lanes = `lane_count(dtype)`: entries (i, j) of all lie together.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import any_greater, fabs, lane_count, load, select_ge, splat, store
from supple.errors import InputError

Array = NDArray[Any]


@compiled(inline=True)
def is_bad_pivot(d: Any) -> Any:
    """Whether d is zero, infinite or NaN, in any lane."""
    one, zero = splat(1.0, d), splat(0.0, d)
    size = fabs(d)
    vanishes = select_ge(zero, size, one, zero)
    not_finite = select_ge(zero, size - size, zero, one)
    return any_greater(vanishes + not_finite, zero)


@compiled
def ldlt_factor(A: Array) -> int:
    """Factor A in place. A: (n, n), lower triangle. Returns -1 or the row of a bad pivot."""
    for i in range(A.shape[0]):
        for j in range(i):
            w = A[i, j]
            for k in range(j):
                w -= A[i, k] * A[j, k]  # [Vanderbei95]
            A[i, j] = w
        d = A[i, i]
        for j in range(i):
            w = A[i, j]
            l = w * A[j, j]
            d -= w * l  # [Vanderbei95]
            A[i, j] = l
        if is_bad_pivot(d):
            return i
        A[i, i] = 1.0 / d
    return -1


@compiled
def ldlt_solve(A: Array, b: Array) -> None:
    """b <- A⁻¹ b with the factors of `ldlt_factor`. A: (n, n), b: (n,)."""
    n = A.shape[0]
    for i in range(n):
        x = b[i]
        for k in range(i):
            x -= A[i, k] * b[k]
        b[i] = x
    for i in range(n):
        b[i] *= A[i, i]
    for i in range(n - 1, -1, -1):
        x = b[i]
        for k in range(i):
            b[k] -= A[i, k] * x


@compiled
def ldlt_solve_many(A: Array, B: Array) -> None:
    """B <- A⁻¹ B with the factors of `ldlt_factor`. A: (n, n), B: (n, m), one right-hand side a column."""
    n, m = B.shape
    for i in range(n):
        for k in range(i):
            l = A[i, k]
            for c in range(m):
                B[i, c] -= l * B[k, c]
    for i in range(n):
        for c in range(m):
            B[i, c] *= A[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i):
            l = A[i, k]
            for c in range(m):
                B[k, c] -= l * B[i, c]


@compiled
def ldlt_factor_lanes(A: Array) -> int:
    """Factor one matrix a lane in place. A: (n, n, lanes), contiguous. Returns -1 or a bad pivot's row."""
    n, size = A.shape[0], lane_count(A.dtype)
    if A.shape[1] != n or A.shape[2] != size:
        raise InputError("the matrices are not (n, n, lane_count(dtype))")
    a = A.reshape(-1)
    row = n * size
    for i in range(n):
        for j in range(i):
            w = load(a, i * row + j * size)
            for k in range(j):
                w -= load(a, i * row + k * size) * load(a, j * row + k * size)
            store(a, i * row + j * size, w)
        d = load(a, i * row + i * size)
        for j in range(i):
            w = load(a, i * row + j * size)
            l = w * load(a, j * row + j * size)
            d -= w * l
            store(a, i * row + j * size, l)
        if is_bad_pivot(d):
            return i
        store(a, i * row + i * size, 1.0 / d)
    return -1


@compiled
def ldlt_solve_lanes(A: Array, B: Array) -> None:
    """B <- A⁻¹ B, lane by lane, with the factors of `ldlt_factor_lanes`.

    A: (n, n, lanes), B: (n, m, lanes) with m right-hand sides, both contiguous.
    """
    n, m, size = A.shape[0], B.shape[1], lane_count(A.dtype)
    if A.shape[1] != n or A.shape[2] != size or B.shape[0] != n or B.shape[2] != size:
        raise InputError("the factors are not (n, n, lane_count(dtype)) or the right-hand sides not (n, m, ...)")
    a, b = A.reshape(-1), B.reshape(-1)
    row, width = n * size, m * size
    for c in range(0, width, size):
        for i in range(n):
            x = load(b, i * width + c)
            for k in range(i):
                x -= load(a, i * row + k * size) * load(b, k * width + c)
            store(b, i * width + c, x)
        for i in range(n - 1, -1, -1):
            x = load(b, i * width + c) * load(a, i * row + i * size)
            for k in range(i + 1, n):
                x -= load(a, k * row + i * size) * load(b, k * width + c)
            store(b, i * width + c, x)
