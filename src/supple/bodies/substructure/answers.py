"""How points of a tree answer to forces on them that are constant over a step of implicit Euler.

    A q" = f + ...,   A = M + h D + h² K,   x_1 - x_0 = h q' + h² q",   d(x_1 - x_0)/df = h² J A^-1 J^T

by walks in the eliminated tree, with the effective masses of a step.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.blas_threads import one_blas_thread
from supple.bodies.substructure import response_kernels as responses
from supple.bodies.substructure import stage_kernels as stages
from supple.bodies.substructure.domain_points import DomainPoints
from supple.bodies.substructure.linked_run import TreeSides
from supple.bodies.substructure.point_arrays import CHAIN
from supple.bodies.substructure.tree import SubstructureTree, TreeState

Array = np.ndarray


def point_answers(
    tree: SubstructureTree, points: DomainPoints, state: TreeState, x: Array, dt: float, *, gravity: ArrayLike
) -> Array:
    """d(x_1 - x_0)/df [m/N] of points of a tree, (3 p, 3 p), over a step of dt [s] from a state with coordinates x."""
    asked, count = TreeSides(tree).conditions(_entries(tree, points, x)), 3 * points.count
    g, numbers = np.asarray(gravity, dtype=float), tree.numbers(dt, euler=True)
    storage = tree.storage._replace(held_slot=np.zeros(CHAIN * int(tree.arrays.group_slot[-1])))
    threaded, W = numba.get_num_threads() > 1, np.zeros((count, count))
    with one_blas_thread():
        tree.load(state)
        for stage in (stages.BEGIN, stages.RENEW, stages.REDUCE):
            stages.run_stage(tree.arrays, storage, tree.root, numbers, g, stage, False, False, threaded)
        responses.add_delassus(tree.arrays, storage, tree.root, g, numbers.is_free, asked, W)
    return dt * dt / 2 * (W + W.T)


def _entries(tree: SubstructureTree, points: DomainPoints, x: Array) -> list[tuple[int, int, Array]]:
    """Rows of J, three a point: (row, domain, coefficients of the frame's acceleration and of q"), by domain."""
    chain, model = points.chain, tree.model
    R, local = points.frames(x).R.reshape(-1, 3, 3), points.local(x)
    weights = None if points.weights is None else points.weights.tocsc()
    out = []
    for domain in range(model.domain_count):
        r = model.q_starts[domain + 1] - model.q_starts[domain]
        for k in range(int(chain.places[domain]), int(chain.places[domain + 1])):
            U = chain.scale[domain] * chain.U[chain.first[domain] + k - chain.places[domain], :, :r]
            rows = [(k, 1.0)]
            if weights is not None:
                mine = slice(weights.indptr[k], weights.indptr[k + 1])
                rows = list(zip(weights.indices[mine].tolist(), weights.data[mine].tolist()))
            for axis in range(3):
                n = R[domain, axis]  # the world's axis in the domain's
                coefficients = np.concatenate([np.cross(local[k], n), n, n @ U])
                out += [(3 * row + axis, domain, weight * coefficients) for row, weight in rows]
    return out
