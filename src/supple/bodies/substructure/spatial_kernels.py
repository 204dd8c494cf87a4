"""Six-vectors (angular, linear) and symmetric 6x6 matrices in rows of LANES numbers.

(i, j) of a symmetric 6x6 matrix with i <= j is row i (11 - i) / 2 + j. X = [R^T 0; -R^T x~ R^T] takes accelerations of
a parent's frame to those of the port at x, turned by R.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling import compiled
from supple.algebra.lanes import LANES, load, store
from supple.algebra.rotation_kernels import cross
from supple.algebra.rotation_kernels import matrix_rotate as turned
from supple.bodies.substructure.frame_kernels import add3, load3, load9


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
def moved_wrench(R, x, torque, force):
    """X^T (torque, force)."""
    F = turned(R, force)
    return add3(turned(R, torque), cross(x, F)), F


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


@compiled(borrows=True)
def add_moved_inertia(work, at, R_at, x_at, out):
    """Rows out (21) += X^T I X, I in rows from `at`: turned by R, then moved by x.

    I = [A B; B^T D]:  D' = D,  B' = B + x~ D,  A' = A + x~ B^T - B' x~
    """
    R, x = load9(work, R_at), load3(work, x_at, LANES)
    A = (
        load(work, at), load(work, at + LANES), load(work, at + 2 * LANES),
        load(work, at + LANES), load(work, at + 6 * LANES), load(work, at + 7 * LANES),
        load(work, at + 2 * LANES), load(work, at + 7 * LANES), load(work, at + 11 * LANES),
    )  # fmt: skip
    B = (
        load(work, at + 3 * LANES), load(work, at + 4 * LANES), load(work, at + 5 * LANES),
        load(work, at + 8 * LANES), load(work, at + 9 * LANES), load(work, at + 10 * LANES),
        load(work, at + 12 * LANES), load(work, at + 13 * LANES), load(work, at + 14 * LANES),
    )  # fmt: skip
    D = (
        load(work, at + 15 * LANES), load(work, at + 16 * LANES), load(work, at + 17 * LANES),
        load(work, at + 16 * LANES), load(work, at + 18 * LANES), load(work, at + 19 * LANES),
        load(work, at + 17 * LANES), load(work, at + 19 * LANES), load(work, at + 20 * LANES),
    )  # fmt: skip
    A, B, D = turned_matrix(R, A), turned_matrix(R, B), turned_matrix(R, D)
    d0, d1, d2 = cross(x, (D[0], D[3], D[6])), cross(x, (D[1], D[4], D[7])), cross(x, (D[2], D[5], D[8]))
    C = (
        B[0] + d0[0], B[1] + d1[0], B[2] + d2[0],
        B[3] + d0[1], B[4] + d1[1], B[5] + d2[1],
        B[6] + d0[2], B[7] + d1[2], B[8] + d2[2],
    )  # fmt: skip
    b0, b1, b2 = cross(x, (B[0], B[1], B[2])), cross(x, (B[3], B[4], B[5])), cross(x, (B[6], B[7], B[8]))
    e0, e1, e2 = cross((C[0], C[1], C[2]), x), cross((C[3], C[4], C[5]), x), cross((C[6], C[7], C[8]), x)
    add_row(work, out, A[0] + b0[0] - e0[0])
    add_row(work, out + LANES, A[1] + b1[0] - e0[1])
    add_row(work, out + 2 * LANES, A[2] + b2[0] - e0[2])
    add_row(work, out + 6 * LANES, A[4] + b1[1] - e1[1])
    add_row(work, out + 7 * LANES, A[5] + b2[1] - e1[2])
    add_row(work, out + 11 * LANES, A[8] + b2[2] - e2[2])
    for j in range(3):
        add_row(work, out + (3 + j) * LANES, C[j])
        add_row(work, out + (8 + j) * LANES, C[3 + j])
        add_row(work, out + (12 + j) * LANES, C[6 + j])
    add_row(work, out + 15 * LANES, D[0])
    add_row(work, out + 16 * LANES, D[1])
    add_row(work, out + 17 * LANES, D[2])
    add_row(work, out + 18 * LANES, D[4])
    add_row(work, out + 19 * LANES, D[5])
    add_row(work, out + 20 * LANES, D[8])
