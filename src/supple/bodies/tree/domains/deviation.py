"""How far interfaces are from rigid: a child's frame is fitted to its parent's interface, whose points also move apart.

d = max_k |s (X_k + (U q)_k) - s (x + T y_k)|,   y_k: the point in the child's axes at rest      [BZ11, figure 3]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from supple.algebra.dense import rotations
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.deviation_kernels import InterfacePoints, largest_deviation
from supple.bodies.tree.model import TreeModel
from supple.bodies.tree.surface.domain_points import bare_chain

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Deviation:
    """points: those of all interfaces of the classes of a model."""

    model: TreeModel
    points: InterfacePoints

    @classmethod
    def of(cls, model: TreeModel) -> Deviation:
        """Of the interfaces of a model."""
        start, value = [0], []
        rows: list[tuple[Array, Array, Array]] = []
        for D, y, V in interface_points(model):
            filled = np.append(np.arange(len(D)), np.zeros(-len(D) % LANES, dtype=np.int64))
            value.append(sum(V.size for _, _, V in rows))
            rows.append((D[filled], y[filled], V[filled]))
            start.append(start[-1] + len(filled) // LANES)
        packed = (np.concatenate([np.zeros(0), *(_in_lanes(row[k]) for row in rows)]) for k in range(3))
        return cls(model, InterfacePoints(np.array(start), np.array(value, dtype=np.int64), *packed))

    def largest(self, x: Array) -> float:
        """The largest distance [m] at coordinates x (1, width); 0 for a single domain."""
        frames = self.model.frame_cache.at(x, bare_chain(self.model))
        return self.of_some(x, frames.T, np.arange(1, self.model.domain_count))

    def of_some(self, x: Array, T: Array, domains: Array) -> float:
        """The same of the interfaces of some domains; T (d, 9): how these turn in their parents."""
        chain, n = bare_chain(self.model), self.model.coordinate_count
        return float(largest_deviation(chain, T, self.points, domains, x[0, 7 : 7 + n].copy()))


def interface_points(model: TreeModel) -> Iterator[tuple[Array, Array, Array]]:
    """Of each interface of each class its points at scale 1, from the interface's origin: D (n, 3) [m] in the parent's
    axes, y (n, 3) [m] in the child's at rest, and V (n, 3, r), by the coordinates."""
    for kind in model.classes:
        template, U = model.domain_tree.kinds[kind.name], kind.U.reshape(len(kind.nodes), 3, kind.count)
        for name, fit in zip(kind.interfaces, kind.fits):
            interface = template.interfaces[name]
            nodes = np.asarray(interface.nodes)
            D = kind.nodes[nodes] - fit.x_hat
            yield D, D @ rotations.to_matrix(interface.rotation), U[nodes] - fit.a_hat


def _in_lanes(values: Array) -> Array:
    """Values (n, 3) or (n, 3, r) of points as (blocks, 3, LANES) or (blocks, r, 3, LANES), flat."""
    blocks = values.reshape(len(values) // LANES, LANES, *values.shape[1:])
    return np.ascontiguousarray(blocks.transpose(0, *range(blocks.ndim - 1, 0, -1))).ravel()
