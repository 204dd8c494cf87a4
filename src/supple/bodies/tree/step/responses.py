"""How points of a tree answer to forces on them that are constant over a step, and to impulses.

    A q" = f + ...,   A = M + k D + k² K,   x_1 - x_0 = h q' + h k q",   d(x_1 - x_0)/df = h k J A^-1 J^T,   k = theta h

by walks in the eliminated tree, with the effective masses of a step. An impulse changes velocities by J M^-1 J^T.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.sparse.threefold import SparseRows, composed, threefold
from supple.bodies.tree.dynamics import TreeDynamics, TreeState
from supple.bodies.tree.step import response_kernels as responses
from supple.bodies.tree.step import stage_kernels as stages
from supple.bodies.tree.step.response_kernels import Conditions
from supple.bodies.tree.step.shape_response_kernels import add_domain_responses
from supple.bodies.tree.step.step_kernels import StepNumbers
from supple.bodies.tree.step.tree_sides import TreeSides
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.bodies.tree.surface.hung_kernels import compute_hung, fill_hung_rows

Array = np.ndarray


class PointShapes(NamedTuple):
    """Motions of points by few shapes: B (3 p, R); starts (segments + 1,): first shapes of what belongs together;
    Y (R, R) [m/N]: d(x_1 - x_0)/df = B Y B^T, or [m/s/(N s)] of impulses."""

    B: SparseRows
    starts: Array
    Y: Array


def point_shapes(
    tree: TreeDynamics,
    points: DomainPoints,
    state: TreeState,
    x: Array,
    dt: float,
    *,
    gravity: ArrayLike,
    sides: TreeSides,
    theta: float = 1.0,
) -> PointShapes:
    """The shapes of points of a tree over a step of dt [s] from a state with coordinates x; dt 0: for impulses.

    They are the motions of frames and modes of the domains that the points hang on, or the directions of the points
    where there are fewer of them. sides: of the tree.
    """
    hung, count = _Hung.of(points, x), 3 * points.count
    begins = np.diff(hung.domain, prepend=-1) > 0  # they are in the order of the domains
    domains, at = hung.domain[begins], np.cumsum(begins) - 1
    modes = np.diff(points.chain.start)[domains]
    starts = np.concatenate([[0], np.cumsum(6 + modes)])
    if count <= starts[-1]:
        Y = _delassus(tree, hung.rows(sides, points), count, state, dt, gravity, theta)
        return PointShapes(SparseRows.unit(count), np.arange(0, count + 1, 3), Y)
    own = np.arange(starts[-1]) - np.repeat(starts[:-1], 6 + modes)  # of each shape in its domain
    unit = np.eye(6 + int(modes.max(initial=0)))[own]
    asked = sides.rows(np.arange(starts[-1]), np.repeat(domains, 6 + modes), unit[:, :6], unit[:, 6:])
    numbers = _eliminate(tree, state, dt, gravity, theta)
    Y = np.zeros((starts[-1], starts[-1]))
    places = np.asarray(tree.lanes[domains], dtype=np.int64)
    add_domain_responses(*tree.handed()[:2], numbers.is_free, asked, starts, places, Y)
    Y = _weight(numbers) / 2 * (Y + Y.T)
    entries, shape = 3 * int((6 + modes)[at].sum()), (3 * points.hung, int(starts[-1]))
    B = SparseRows(np.zeros(shape[0] + 1, np.int64), np.empty(entries, np.int64), np.empty(entries), shape)
    fill_hung_rows(at, starts, hung.wrench, hung.modes, B.indptr, B.indices, B.data)
    if points.weights is not None:
        B = composed(threefold(points.weights), B)
    return PointShapes(B, starts, Y)


def point_responses(
    tree: TreeDynamics,
    points: DomainPoints,
    state: TreeState,
    x: Array,
    dt: float,
    *,
    gravity: ArrayLike,
    theta: float = 1.0,
) -> Array:
    """d(x_1 - x_0)/df [m/N] of points of a tree, (3 p, 3 p), over a step of dt [s] from a state with coordinates x."""
    asked = _Hung.of(points, x).rows(TreeSides(tree), points)
    return _delassus(tree, asked, 3 * points.count, state, dt, gravity, theta)


def _delassus(
    tree: TreeDynamics, asked: Conditions, count: int, state: TreeState, dt: float, gravity: ArrayLike, theta: float
) -> Array:
    """dt k G A^-1 G^T of rows."""
    numbers = _eliminate(tree, state, dt, gravity, theta)
    W = np.zeros((count, count))
    responses.add_delassus(*tree.handed()[:2], numbers.is_free, asked, W)
    return _weight(numbers) / 2 * (W + W.T)


def _weight(numbers: StepNumbers) -> float:
    """h k, or 1 of impulses."""
    return numbers.theta * numbers.h**2 if numbers.h > 0 else 1.0


def _eliminate(tree: TreeDynamics, state: TreeState, dt: float, gravity: ArrayLike, theta: float) -> StepNumbers:
    """Bring the tree to the elimination of a step; what the kernels know of the step."""
    g, numbers = np.asarray(gravity, dtype=float), tree.numbers(dt, theta=theta)
    run = stages.run_stage_together if tree.threads > 1 else stages.run_stage
    tree.load(state)
    for stage in (stages.PREDICT, stages.MIDDLE, stages.RENEW, stages.REDUCE):
        run(*tree.handed(), numbers, g, stage, tree.team, tree.threads)
    return numbers


class _Hung(NamedTuple):
    """Points that hang on single domains: domain (n,), wrench (n, 3, 6), modes (n, 3, most): how they move with the
    frame and the modes of it."""

    domain: Array
    wrench: Array
    modes: Array

    @classmethod
    def of(cls, points: DomainPoints, x: Array) -> _Hung:
        chain, n = points.chain, points.hung
        found = cls(np.empty(n, np.int64), np.empty((n, 3, 6)), np.empty((n, 3, chain.U.shape[2])))
        compute_hung(chain, points.frames(x).R, points.local(x), *found)
        return found

    def rows(self, sides: TreeSides, points: DomainPoints) -> Conditions:
        """J, three rows a point: coefficients of the accelerations of frames and of q"."""
        row, hung, weight = np.arange(points.hung), np.arange(points.hung), np.ones(points.hung)
        if points.weights is not None:
            W = points.weights
            order = np.argsort(W.indices, kind="stable")  # by columns
            row, hung, weight = (
                np.repeat(np.arange(W.shape[0]), np.diff(W.indptr))[order],
                W.indices[order],
                W.data[order],
            )
        return sides.rows(
            (3 * row[:, None] + np.arange(3)).ravel(),
            np.repeat(self.domain[hung], 3),
            (weight[:, None, None] * self.wrench[hung]).reshape(-1, 6),
            (weight[:, None, None] * self.modes[hung]).reshape(3 * len(hung), -1),
        )
