"""Loads on points of a tree that are given in time: brought to its coordinates without the velocities of the points.

Where a load is the same on all its points, it acts on their mean: one point a domain. Such loads on a tree whose root
is fixed can be asked for many steps ahead, and brought to the coordinates by the kernel that takes these.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sparse

from supple.bodies.mappings import WeightedPoints
from supple.bodies.protocols import GivenForce
from supple.bodies.tree.surface.domain_points import DomainPoints
from supple.bodies.tree.surface.load_kernels import PointLoads
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

    def ahead(self, times: Sequence[float]) -> LoadsAhead | None:
        """The loads of steps that begin at these times [s]; None where the root is free, or a load is not the same on
        all its points."""
        if self.body.node.body.model.is_free:
            return None
        totals = np.empty((len(times), len(self.loads), 3))
        for call, t in enumerate(times):
            for k, load in enumerate(self.loads):
                f = load.values(t)
                if not (f == f[0]).all():
                    return None
                totals[call, k] = len(f) * f[0]
        numbers, weight = self._hung
        forces = weight[:, None] * totals[:, numbers]
        return LoadsAhead(self, times, PointLoads.of(self.means.chain, forces, self.body.node.body.dynamics.places))

    @cached_property
    def _hung(self) -> tuple[Array, Array]:
        """Of each point of `means`: the load that acts on it, and its share of that."""
        W = sparse.coo_array(self.means.weights)
        order = np.argsort(W.coords[1])
        return W.coords[0][order], W.data[order]


@dataclass(frozen=True, eq=False)
class LoadsAhead:
    """Loads of steps that begin at given times [s]."""

    loads: GivenLoads
    times: Sequence[float]
    points: PointLoads

    def since(self, call: int) -> PointLoads:
        """Those of the steps from this one on."""
        return self.points._replace(forces=self.points.forces[call:])

    def at(self, call: int, x: Array) -> Array:
        """Forces (1, width) on the coordinates x (1, width) in a step."""
        out = np.zeros((1, self.loads.body.coordinates.v_width))
        self.loads.add(self.times[call], x, out)
        return out


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
