"""Six-vectors (angular, linear) and symmetric 6x6 matrices in rows of LANES numbers.

(i, j) of a symmetric 6x6 matrix with i <= j is row i (11 - i) / 2 + j. X = [1 0; -x~ 1] takes accelerations of a frame
to those of an interface at x in it, in the same axes.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import matrix_rotate as turned
from supple.algebra.lanes.lane_type import LANES, load, store


@compiled(inline=True)
def pair(i, j):
    """Row of (i, j), i <= j, of a symmetric 6x6 matrix."""
    return i * (11 - i) // 2 + j


@compiled(inline=True)
def entry(i, j):
    """Row of (i, j) of a symmetric 6x6 matrix."""
    return pair(i, j) if i <= j else pair(j, i)


@compiled(inline=True)
def add_row(work, at, value):
    """A row += value."""
    store(work, at, load(work, at) + value)


@compiled(inline=True)
def add_three(work, at, values):
    """Three rows += values."""
    add_row(work, at, values[0])
    add_row(work, at + LANES, values[1])
    add_row(work, at + 2 * LANES, values[2])


@compiled(inline=True)
def load_symmetric(work, at):
    """The 21 rows of a symmetric 6x6 matrix."""
    return (
        load(work, at), load(work, at + LANES), load(work, at + 2 * LANES), load(work, at + 3 * LANES),
        load(work, at + 4 * LANES), load(work, at + 5 * LANES), load(work, at + 6 * LANES), load(work, at + 7 * LANES),
        load(work, at + 8 * LANES), load(work, at + 9 * LANES), load(work, at + 10 * LANES),
        load(work, at + 11 * LANES), load(work, at + 12 * LANES), load(work, at + 13 * LANES),
        load(work, at + 14 * LANES), load(work, at + 15 * LANES), load(work, at + 16 * LANES),
        load(work, at + 17 * LANES), load(work, at + 18 * LANES), load(work, at + 19 * LANES),
        load(work, at + 20 * LANES),
    )  # fmt: skip


@compiled(inline=True)
def symmetric_six_times(I, n):
    """I n for 21 values of a symmetric 6x6 matrix."""
    return (
        I[0] * n[0] + I[1] * n[1] + I[2] * n[2] + I[3] * n[3] + I[4] * n[4] + I[5] * n[5],
        I[1] * n[0] + I[6] * n[1] + I[7] * n[2] + I[8] * n[3] + I[9] * n[4] + I[10] * n[5],
        I[2] * n[0] + I[7] * n[1] + I[11] * n[2] + I[12] * n[3] + I[13] * n[4] + I[14] * n[5],
        I[3] * n[0] + I[8] * n[1] + I[12] * n[2] + I[15] * n[3] + I[16] * n[4] + I[17] * n[5],
        I[4] * n[0] + I[9] * n[1] + I[13] * n[2] + I[16] * n[3] + I[18] * n[4] + I[19] * n[5],
        I[5] * n[0] + I[10] * n[1] + I[14] * n[2] + I[17] * n[3] + I[19] * n[4] + I[20] * n[5],
    )


@compiled(inline=True)
def turned_rows(R, M):
    """R M, nine values each."""
    c0, c1, c2 = turned(R, (M[0], M[3], M[6])), turned(R, (M[1], M[4], M[7])), turned(R, (M[2], M[5], M[8]))
    return c0[0], c1[0], c2[0], c0[1], c1[1], c2[1], c0[2], c1[2], c2[2]


@compiled(inline=True)
def turned_matrix(R, M):
    """R M R^T, nine values each."""
    a = turned_rows(R, M)
    b0, b1, b2 = turned(R, (a[0], a[1], a[2])), turned(R, (a[3], a[4], a[5])), turned(R, (a[6], a[7], a[8]))
    return b0[0], b0[1], b0[2], b1[0], b1[1], b1[2], b2[0], b2[1], b2[2]


@compiled(inline=True)
def turned_six(R, I):
    """diag(R, R) I diag(R, R)^T for 21 values of a symmetric 6x6 matrix."""
    A = turned_matrix(R, (I[0], I[1], I[2], I[1], I[6], I[7], I[2], I[7], I[11]))
    B = turned_matrix(R, (I[3], I[4], I[5], I[8], I[9], I[10], I[12], I[13], I[14]))
    D = turned_matrix(R, (I[15], I[16], I[17], I[16], I[18], I[19], I[17], I[19], I[20]))
    return (
        A[0], A[1], A[2], B[0], B[1], B[2], A[4], A[5], B[3], B[4], B[5],
        A[8], B[6], B[7], B[8], D[0], D[1], D[2], D[4], D[5], D[8],
    )  # fmt: skip


@compiled(inline=True)
def plus_cross(b, x, y):
    """b + x cross y, one product added after the other, which leaves the compiler one way of contracting them."""
    return (
        (b[0] + x[1] * y[2]) - x[2] * y[1],
        (b[1] + x[2] * y[0]) - x[0] * y[2],
        (b[2] + x[0] * y[1]) - x[1] * y[0],
    )


@compiled(inline=True)
def add_moved_inertia(work, I, x, out):
    """Rows out (21) += X^T I X for 21 values I = [A B; B^T D]:  D' = D,  B' = B + x~ D,  A' = A + x~ B^T - B' x~."""
    c0 = plus_cross((I[3], I[8], I[12]), x, (I[15], I[16], I[17]))  # columns of B'
    c1 = plus_cross((I[4], I[9], I[13]), x, (I[16], I[18], I[19]))
    c2 = plus_cross((I[5], I[10], I[14]), x, (I[17], I[19], I[20]))
    a0 = plus_cross((I[0], I[1], I[2]), x, (I[3], I[4], I[5]))  # columns of A + x~ B^T
    a1 = plus_cross((I[1], I[6], I[7]), x, (I[8], I[9], I[10]))
    a2 = plus_cross((I[2], I[7], I[11]), x, (I[12], I[13], I[14]))
    e0 = plus_cross((a0[0], a1[0], a2[0]), x, (c0[0], c1[0], c2[0]))  # rows of A', -B' x~ being x cross its rows
    e1 = plus_cross((a0[1], a1[1], a2[1]), x, (c0[1], c1[1], c2[1]))
    e2 = plus_cross((a0[2], a1[2], a2[2]), x, (c0[2], c1[2], c2[2]))
    add_three(work, out, e0)
    add_three(work, out + 3 * LANES, (c0[0], c1[0], c2[0]))
    add_three(work, out + 6 * LANES, (e1[1], e1[2], c0[1]))
    add_three(work, out + 9 * LANES, (c1[1], c2[1], e2[2]))
    add_three(work, out + 12 * LANES, (c0[2], c1[2], c2[2]))
    add_three(work, out + 15 * LANES, (I[15], I[16], I[17]))
    add_three(work, out + 18 * LANES, (I[18], I[19], I[20]))
