"""Loads on points of a tree that are given in time: brought to its coordinates without the velocities of the points.

Where a load is the same on all its points, it acts on their mean: one point a domain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from supple.bodies.mappings import WeightedPoints
from supple.bodies.protocols import GivenForce
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.scene.slots import Slot
from supple.scene.system import BoundForce

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class GivenLoads:
    """Loads on one tree. points: of each load, those of the tree and how the load's own follow from them, transposed.

    means: one point of each load.
    """

    body: Slot
    loads: list[GivenForce]
    points: list[tuple[DomainPoints, sparse.csr_array]]
    means: DomainPoints

    @classmethod
    def of(cls, body: Slot, acting: list[BoundForce]) -> GivenLoads:
        """Loads for which `points_of` finds points of this tree."""
        found = [points_of(bound) for bound in acting]
        points = [(p, W) for p, W in found if p is not None and W is not None]
        shares = [(p, W @ np.full(W.shape[1], 1.0 / W.shape[1])) for p, W in points]
        means = DomainPoints.means(body.node.body.model, shares)
        return cls(body, [bound.force for bound in acting], points, means)  # type: ignore[misc]

    def add(self, t: float, x: Array, f_out: Array) -> None:
        """f_out (1, width) += the loads at time t [s], at coordinates x (1, width)."""
        totals = np.zeros((len(self.loads), 3))
        for k, (load, (points, W)) in enumerate(zip(self.loads, self.points)):
            f = load.values(t)
            if (f == f[0]).all():
                totals[k] = len(f) * f[0]
            else:
                points.linearize(x).add_transpose(W @ f, f_out)
        if totals.any():
            self.means.linearize(x).add_transpose(totals, f_out)


def points_of(bound: BoundForce) -> tuple[DomainPoints | None, sparse.csr_array | None]:
    """The points of a tree whose weighted sums a given load acts on, and these sums transposed; else None."""
    slot, W = bound.slot, None
    if not isinstance(bound.force, GivenForce):
        return None, None
    while isinstance(slot.mapping, WeightedPoints):
        W = slot.mapping.weights if W is None else W @ slot.mapping.weights
        slot = slot.parents[0]
    if not isinstance(slot.mapping, DomainPoints) or (W is not None and W.data.min(initial=1.0) < 0):
        return None, None
    whole = sparse.eye_array(slot.mapping.count, format="csr") if W is None else W
    return slot.mapping, sparse.csr_array(whole.T)
