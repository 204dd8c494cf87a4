"""Springs of a scene between points of trees and points of the world, as a tree's steps solve them.

    f(x) = f_k - K (x - x_k) - B x',    K = k (n n^T + (1 - L0 / L) (I - n n^T))       at the points x_k of now

n: the spring's direction, L its length. The part across a pressed spring is negative and left out. For L0 = 0 the law
is linear and K exact.

The passes of a step leave out that lever arms turn under a spring, and need not contract where it pulls hard. So a step
of a pulled tree is accepted only if one more pass would leave it settled, and if its energy, springs and gravity
included, rises by no more than the work of other loads and `GAIN` of its size. Else it is halved; where steps gain
little and are calm, their length is doubled again. One that is not accepted, and is halved no more, is told.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from supple.bodies.protocols import LocalState
from supple.bodies.tree import PointSprings, TreeBody
from supple.bodies.tree.dynamics import PULLED
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.errors import ConvergenceError, DivergenceError
from supple.interaction.springs import SpringForce
from supple.scene.slots import Slot
from supple.scene.system import BoundForce
from supple.solvers.coupling.trees.halving import CALM, UNSETTLED, Halved, left_open, unsettled

Array = np.ndarray
AMONG_TREES = PULLED
"""theta of springs between trees, which is that of their steps."""
GAIN = 1e-3
"""Rise of the energy in a step, over its size, that its scheme is allowed."""
HALVINGS = 8
"""A step is divided by 2 to this power at most."""


class WorldSprings(NamedTuple):
    """Springs between `points` of the tree at the slot `body` and fixed places (n, 3) [m]."""

    body: Slot
    points: DomainPoints
    places: Array
    force: SpringForce

    def stretches(self, x: Array) -> tuple[Array, Array]:
        """From the points at coordinates x of the tree to the places (n, 3), and their lengths (n,) [m]."""
        d = self.places - self.points.apply(x)
        return d, np.linalg.norm(d, axis=1)

    def energy(self, x: Array) -> float:
        """[J] at coordinates x of the tree."""
        return float(0.5 * np.sum(self.force.stiffness * (self.stretches(x)[1] - self.force.rest_length) ** 2))


def world_springs(acting: BoundForce) -> WorldSprings | None:
    """The springs of a force, if it is such springs; else None, and the force is kept constant during a step."""
    _, slot, force = acting
    if not isinstance(force, SpringForce) or len(slot.parents) != 2 or slot.mapping is not None:
        return None
    free = [p for p in slot.parents if isinstance(p.mapping, DomainPoints) and p.parents[0].is_body]
    fixed = [p for p in slot.parents if p.fixed is not None]
    if len(free) != 1 or len(fixed) != 1 or not isinstance(free[0].parents[0].node.body, TreeBody):
        return None
    points = free[0].mapping
    assert isinstance(points, DomainPoints)
    n = free[0].coordinates.count
    if fixed[0].fixed is None or not np.array_equal(
        np.sort(force.pairs, axis=1), np.stack([np.arange(n), n + np.arange(n)], axis=1)
    ):
        return None
    if points.weights is not None:  # of each domain one point hangs on a spring
        each = [(points.chosen(np.array([k])), np.ones(1)) for k in range(n)]
        points = DomainPoints.means(free[0].parents[0].node.body.model, each)
    return WorldSprings(free[0].parents[0], points, np.asarray(fixed[0].fixed), force)


def springs_at(pulls: list[WorldSprings], body: TreeBody, x: Array) -> PointSprings:
    """The laws of springs on one tree, linearised at its coordinates x."""
    found = []
    for _, points, places, law in pulls:
        d = places - points.apply(x)
        L = np.linalg.norm(d, axis=1)
        n = d / np.where(L > 0, L, 1.0)[:, None]
        along = np.einsum("pi,pj->pij", n, n)
        k, rest = law.stiffness, law.rest_length
        across = np.maximum(1.0 - rest / np.where(L > 0, L, np.inf), 0.0)
        across[rest == 0] = 1.0
        K = k[:, None, None] * (along + across[:, None, None] * (np.eye(3) - along))
        B = law.damping[:, None, None] * np.where((rest > 0)[:, None, None], along, np.eye(3))
        K[(rest == 0) & (L == 0)] = k[(rest == 0) & (L == 0), None, None] * np.eye(3)
        found.append(_on_domains(body, points, x, (k * (L - rest))[:, None] * n, K, B))
    domain, X, modes, at, force, stiffness, damping = zip(*found)
    return PointSprings(
        np.concatenate(domain),
        np.concatenate(X),
        tuple(U for part in modes for U in part),
        np.concatenate(at),
        np.concatenate(stiffness),
        damping=np.concatenate(damping),
        force=np.concatenate(force),
    )


def _on_domains(body: TreeBody, points: DomainPoints, x: Array, f: Array, K: Array, B: Array) -> tuple[Any, ...]:
    """Forces f (p, 3) and laws (p, 3, 3) of points as those of the points on single domains whose means they are.

    A mean shares its force and its law by its weights, so where all its points move alike, as those of a seam do, they
    feel together what the mean would. Where they part, they are drawn together, within the step.
    """
    chain, model = points.chain, body.model
    domain = np.repeat(np.arange(len(chain.parent)), np.diff(chain.places))
    row = chain.first[domain] + np.arange(len(domain)) - chain.places[domain]
    modes = [chain.U[k, :, : model.mode_counts[d]] for d, k in zip(domain, row)]
    if points.weights is not None:
        W = points.weights.T
        f, K, B = W @ f, *((W @ law.reshape(-1, 9)).reshape(-1, 3, 3) for law in (K, B))
    return domain, chain.X[row], modes, points.linearize(x).hung_positions(), f, K, B


@dataclass(frozen=True, eq=False)
class PulledTree:
    """A tree and the springs that pull it. gravity (3,); forces (1, v_width): of other loads, constant."""

    body: TreeBody
    pulls: list[WorldSprings]
    gravity: Array
    forces: Array | None

    def advance(self, start: LocalState, h: float, steps: int, level: int) -> Halved:
        """The state after `steps` steps of h [s], each halved where it must be; level: how often, before and after.

        They are as unsettled as the passes of the worst one, or as its rise of the energy, `GAIN` of it as `UNSETTLED`.
        """
        now, done, whole, worst = start, 0, steps * 2**HALVINGS, 0.0
        while done < whole:
            part = 2 ** (HALVINGS - level)
            length = h * part / 2**HALVINGS
            try:
                springs = springs_at(self.pulls, self.body, now.x)
                acting: dict[str, Any] = {"gravity": self.gravity, "forces": self.forces, "springs": springs}
                end = self.body.advance(now, length, **acting)
                change = left_open(self.body, unsettled(self.body), now, length, acting)
                change = max(change, UNSETTLED * self._gain(now, end) / GAIN)
            except (ConvergenceError, DivergenceError):
                if level == HALVINGS:
                    raise
                change = np.inf
            if change > UNSETTLED and level < HALVINGS:
                level += 1
                continue
            now, done, worst = end, done + part, max(worst, change)
            if change < CALM and level > 0 and done % (2 * part) == 0:
                level -= 1
        return Halved(now, level, worst)

    def _gain(self, start: LocalState, end: LocalState) -> float:
        """Rise of the energy less the work of the loads, over the energy and the work exchanged."""
        g = np.zeros(3) if self.body.grown else np.asarray(self.gravity)
        before, after = (self.body.measures(state.x, state.v) for state in (start, end))
        inner = [
            m.kinetic + m.elastic + sum(pull.energy(state.x) for pull in self.pulls)
            for m, state in ((before, start), (after, end))
        ]
        work = float(g @ (after.first_moment - before.first_moment))
        if self.forces is not None:
            work += float(np.sum(self.forces * self.body.coordinates.difference(start.x, end.x)))
        size = inner[0] + abs(work)
        return (inner[1] - inner[0] - work) / size if size > 0 else 0.0
