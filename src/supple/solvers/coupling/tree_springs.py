"""Springs of a scene between points of trees and points of the world, as a tree's steps solve them.

    f(x) = f_k - K (x - x_k) - B x',    K = k (n n^T + (1 - L0 / L) (I - n n^T))       at the points x_k of now

n: the spring's direction, L its length. The part across a pressed spring is negative and left out. For L0 = 0 the law
is linear and K exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.bodies.particles.springs import SpringForce
from supple.bodies.tree import PointSprings, TreeBody
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import BoundForce, System

Array = np.ndarray


class WorldSprings(NamedTuple):
    """Springs between `points` of the tree at the slot `body` and fixed places (n, 3) [m]."""

    body: Slot
    points: DomainPoints
    places: Array
    force: SpringForce


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
    if not np.array_equal(np.sort(force.pairs, axis=1), np.stack([np.arange(n), n + np.arange(n)], axis=1)):
        return None
    seams = free[0].parents[0].node.body.skin.seams  # a seam's point is a mean of several
    if points.indices is None or fixed[0].fixed is None or np.any(np.isin(points.indices, seams)):
        return None
    return WorldSprings(free[0].parents[0], points, np.asarray(fixed[0].fixed), force)


def springs_of(all_springs: list[WorldSprings], system: System, state: State) -> dict[int, PointSprings]:
    """For each tree with such springs, by the number of its slot, their laws at the state."""
    found: dict[int, list[tuple[Array, ...]]] = {}
    for body, points, places, law in all_springs:
        x = points.apply(body.view_x(state.x))
        d = places - x
        L = np.linalg.norm(d, axis=1)
        n = d / np.where(L > 0, L, 1.0)[:, None]
        along = np.einsum("pi,pj->pij", n, n)
        k, rest = law.stiffness, law.rest_length
        across = np.maximum(1.0 - rest / np.where(L > 0, L, np.inf), 0.0)
        across[rest == 0] = 1.0
        K = k[:, None, None] * (along + across[:, None, None] * (np.eye(3) - along))
        B = law.damping[:, None, None] * np.where((rest > 0)[:, None, None], along, np.eye(3))
        K[(rest == 0) & (L == 0)] = k[(rest == 0) & (L == 0), None, None] * np.eye(3)
        found.setdefault(body.index, []).append((np.asarray(points.indices), x, (k * (L - rest))[:, None] * n, K, B))
    out = {}
    for index, parts in found.items():
        numbers, x, f, K, B = (np.concatenate(c) for c in zip(*parts))
        out[index] = PointSprings.on(system.slots[index].node.body.skin, numbers, x, K, damping=B, force=f)
    return out
