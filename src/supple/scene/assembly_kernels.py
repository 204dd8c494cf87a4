"""Kernels that bring the matrices of mapped points and the filters into the assembled system matrix."""

from __future__ import annotations

from supple.algebra.compiling.compiled import compiled


@compiled
def add_congruence(rows, cols, blocks, ptr, left, right, positions, data_out):
    """data_out += L^T K R, for blocks K[e] at (rows[e], cols[e]) and L, R by rows (ptr, left), (ptr, right).

    positions: where each product lands in data_out, in the order of the loops.
    """
    p = 0
    for e in range(len(rows)):
        i, j = rows[e], cols[e]
        for a in range(ptr[i], ptr[i + 1]):
            for b in range(ptr[j], ptr[j + 1]):
                at = positions[p]
                p += 1
                for r in range(3):
                    for c in range(3):
                        total = 0.0
                        for k in range(3):
                            inner = 0.0
                            for l in range(3):
                                inner += blocks[e, k, l] * right[b, l, c]
                            total += left[a, k, r] * inner  # (3.2)
                        data_out[at, r, c] += total


@compiled
def project_matrix(filtered, projectors, indptr, transposed, diagonal, scale, data):
    """A <- C A C + scale (I - C) in place, C the identity but for projectors (k, 3, 3) on the block rows `filtered`.

    transposed: for each block of the filtered rows, in order, the position of its transpose.
    """
    t = 0
    for k in range(len(filtered)):
        row, C = filtered[k], projectors[k]
        for e in range(indptr[row], indptr[row + 1]):
            m = transposed[t]
            t += 1
            for c in range(3):
                a0, a1, a2 = data[e, 0, c], data[e, 1, c], data[e, 2, c]
                for r in range(3):
                    data[e, r, c] = C[r, 0] * a0 + C[r, 1] * a1 + C[r, 2] * a2  # (4.1)
            for r in range(3):
                a0, a1, a2 = data[m, r, 0], data[m, r, 1], data[m, r, 2]
                for c in range(3):
                    data[m, r, c] = a0 * C[0, c] + a1 * C[1, c] + a2 * C[2, c]  # (4.1)
        for r in range(3):
            for c in range(3):
                one = 1.0 if r == c else 0.0
                data[diagonal[row], r, c] += scale * (one - C[r, c])
