"""Y = G A^-1 G^T of an eliminated tree, where G are all motions of some domains: of their frames and their modes."""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.bodies.tree.step.response_kernels import climb, descend, root_response


@compiled
def add_domain_responses(tree, workspace, is_free, asked, starts, places, Y_out):
    """Y_out (R, R) += the accelerations (alpha, a) and q" of domains at `places` by unit loads on the same, row by row.

    asked: one entry for each of the R motions, in order; starts (domains + 1,): the first of each domain.
    """
    largest = 1
    for kind in range(len(tree.class_r)):
        largest = max(largest, tree.class_r[kind])
    A0, A, a = np.empty(6), np.empty(6), np.empty(largest)
    path, scratch = np.empty(len(tree.level_start), np.int64), np.zeros(len(asked.z))
    for k in range(len(Y_out)):
        asked.z[:], asked.p[:] = 0.0, 0.0
        climb(tree, workspace, asked, 1.0, k, scratch)
        root_response(workspace, is_free, asked.p, A0)
        row = Y_out[k]
        for d in range(len(places)):
            A[:] = A0
            descend(tree, workspace, asked, places[d], path, A, a)
            at = starts[d]
            for i in range(6):
                row[at + i] += A[i]
            for l in range(starts[d + 1] - at - 6):
                row[at + 6 + l] += a[l]
    asked.z[:], asked.p[:] = 0.0, 0.0
