"""Block LU of the matrix of touching rigid bodies: 6x6 blocks, a body each, eliminated in order of minimum degree.

The pattern is symmetric, the values need not be: friction that grows with pressure. Pivots are the diagonal blocks,
which carry the bodies' mass; where that is not enough, the residual of the solution says so.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled


@compiled
def find_structure(n, body):
    """Order of elimination (n,), rows of each pivot as lists (start (n + 1,), rows), where block (i, j) is kept (n, n),
    -1: nowhere, and how many blocks there are. body (k, 2): those that touch, -1: none."""
    near = np.zeros((n, n), np.bool_)
    degree = np.zeros(n, np.int64)
    for m in range(len(body)):
        a, b = body[m, 0], body[m, 1]
        if a >= 0 and b >= 0 and a != b and not near[a, b]:
            near[a, b] = near[b, a] = True
            degree[a] += 1
            degree[b] += 1
    order, start, place = np.empty(n, np.int64), np.zeros(n + 1, np.int64), np.full((n, n), -1, np.int32)
    rows, room, gone, blocks = np.empty(n * n // 2 + 1, np.int32), np.empty(n, np.int64), np.zeros(n, np.bool_), 0
    for step in range(n):
        pivot = -1
        for i in range(n):
            if not gone[i] and (pivot < 0 or degree[i] < degree[pivot]):
                pivot = i
        gone[pivot], order[step], found = True, pivot, 0
        place[pivot, pivot] = blocks
        blocks += 1
        for j in range(n):
            if near[pivot, j] and not gone[j]:
                room[found] = j
                found += 1
        for e in range(found):
            j = room[e]
            rows[start[step] + e] = j
            place[pivot, j], place[j, pivot] = blocks, blocks + 1
            blocks += 2
            degree[j] -= 1
            for g in range(e):
                i = room[g]
                if not near[i, j]:
                    near[i, j] = near[j, i] = True
                    degree[i] += 1
                    degree[j] += 1
        start[step + 1] = start[step] + found
    return order, start, rows, place, blocks


@compiled
def factor(order, start, rows, place, A):
    """LU in place of blocks A (., 6, 6): diagonal blocks become their inverses, those below L; False: singular."""
    L, D = np.empty((6, 6)), np.empty((6, 12))
    for step in range(len(order)):
        pivot = order[step]
        if not invert(A[place[pivot, pivot]], D):
            return False
        inverse = A[place[pivot, pivot]]
        for e in range(start[step], start[step + 1]):
            below = A[place[rows[e], pivot]]
            for i in range(6):
                for j in range(6):
                    L[i, j] = 0.0
                for k in range(6):
                    s = below[i, k]
                    for j in range(6):
                        L[i, j] += s * inverse[k, j]
            for i in range(6):
                for j in range(6):
                    below[i, j] = L[i, j]
            for g in range(start[step], start[step + 1]):
                subtract_product(L, A[place[pivot, rows[g]]], A[place[rows[e], rows[g]]])
    return True


@compiled(inline=True)
def subtract_product(L, U, A_out):
    """A -= L U of 6x6 blocks."""
    for i in range(6):
        for k in range(6):
            s = L[i, k]
            for j in range(6):
                A_out[i, j] -= s * U[k, j]


@compiled
def invert(A, D):
    """Invert a 6x6 block in place, with rows exchanged for the largest pivots; D (6, 12): room. False: singular."""
    for i in range(6):
        for j in range(6):
            D[i, j], D[i, 6 + j] = A[i, j], 0.0
        D[i, 6 + i] = 1.0
    for c in range(6):
        best = c
        for i in range(c + 1, 6):
            if abs(D[i, c]) > abs(D[best, c]):
                best = i
        if not abs(D[best, c]) > 0.0:
            return False
        if best != c:
            for j in range(12):
                D[c, j], D[best, j] = D[best, j], D[c, j]
        s = 1.0 / D[c, c]
        for j in range(12):
            D[c, j] *= s
        for i in range(6):
            if i != c:
                t = D[i, c]
                for j in range(12):
                    D[i, j] -= t * D[c, j]
    for i in range(6):
        for j in range(6):
            A[i, j] = D[i, 6 + j]
    return True


@compiled
def substitute(order, start, rows, place, A, b, x_out):
    """x_out (n, 6) from blocks as `factor` leaves them, and b (n, 6)."""
    n, t = len(order), np.empty(6)
    for i in range(n):
        for c in range(6):
            x_out[i, c] = b[i, c]
    for step in range(n):
        pivot = order[step]
        for e in range(start[step], start[step + 1]):
            L = A[place[rows[e], pivot]]
            for i in range(6):
                for k in range(6):
                    x_out[rows[e], i] -= L[i, k] * x_out[pivot, k]
    for step in range(n - 1, -1, -1):
        pivot = order[step]
        for e in range(start[step], start[step + 1]):
            U = A[place[pivot, rows[e]]]
            for i in range(6):
                for k in range(6):
                    x_out[pivot, i] -= U[i, k] * x_out[rows[e], k]
        D = A[place[pivot, pivot]]
        for i in range(6):
            t[i] = 0.0
            for k in range(6):
                t[i] += D[i, k] * x_out[pivot, k]
        for i in range(6):
            x_out[pivot, i] = t[i]
