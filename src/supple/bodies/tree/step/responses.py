"""How points of a tree answer to forces on them that are constant over a step of implicit Euler.

    A q" = f + ...,   A = M + h D + h² K,   x_1 - x_0 = h q' + h² q",   d(x_1 - x_0)/df = h² J A^-1 J^T

by walks in the eliminated tree, with the effective masses of a step.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from supple.bodies.tree.dynamics import TreeDynamics, TreeState
from supple.bodies.tree.step import response_kernels as responses
from supple.bodies.tree.step import stage_kernels as stages
from supple.bodies.tree.step.response_kernels import Conditions
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.bodies.tree.tied_run import TreeSides

Array = np.ndarray


def point_responses(
    tree: TreeDynamics,
    points: DomainPoints,
    state: TreeState,
    x: Array,
    dt: float,
    *,
    gravity: ArrayLike,
    sides: TreeSides | None = None,
) -> Array:
    """d(x_1 - x_0)/df [m/N] of points of a tree, (3 p, 3 p), over a step of dt [s] from a state with coordinates x.

    sides: of the tree, made before.
    """
    asked, count = _rows(sides or TreeSides(tree), points, x), 3 * points.count
    g, numbers = np.asarray(gravity, dtype=float), tree.numbers(dt, euler=True)
    W = np.zeros((count, count))
    run = stages.run_stage_together if tree.threads > 1 else stages.run_stage
    tree.load(state)
    for stage in (stages.PREDICT, stages.MIDDLE, stages.RENEW, stages.REDUCE):
        run(tree.arrays, tree.workspace, tree.root, numbers, g, stage, tree.team, tree.threads)
    responses.add_delassus(tree.arrays, tree.workspace, tree.root, g, numbers.is_free, asked, W)
    return dt * dt / 2 * (W + W.T)


def _rows(sides: TreeSides, points: DomainPoints, x: Array) -> Conditions:
    """J, three rows a point: coefficients of the accelerations of the frames that its points hang on, and of q"."""
    chain = points.chain
    domain = np.repeat(np.arange(len(chain.parent)), np.diff(chain.places))
    number = chain.first[domain] + np.arange(points.hung) - chain.places[domain]
    R = points.frames(x).R.reshape(-1, 3, 3)[domain]  # rows: the world's axes in the domain's
    modes = R @ (chain.scale[domain, None, None] * chain.U[number])
    wrench = np.concatenate([np.cross(points.local(x)[:, None], R), R], axis=2)
    row, hung, weight = np.arange(points.hung), np.arange(points.hung), np.ones(points.hung)
    if points.weights is not None:
        W = points.weights.tocsc()
        row, hung, weight = W.indices, np.repeat(hung, np.diff(W.indptr)), W.data
    return sides.rows(
        (3 * row[:, None] + np.arange(3)).ravel(),
        np.repeat(domain[hung], 3),
        (weight[:, None, None] * wrench[hung]).reshape(-1, 6),
        (weight[:, None, None] * modes[hung]).reshape(3 * len(hung), -1),
    )
