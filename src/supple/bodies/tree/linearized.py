"""Small motions of a tree about its rest state: frequencies and static deflections.

    M q" = Q - K q,   M^-1 from unit forces through the elimination, K block-diagonal

The articulated coupling gives a symmetric M. A one-way coupling gives a triangular one: its frequencies are those of
the domains, each with the mass it is given of its subtree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.linalg

from supple.bodies.tree.dynamics import TreeDynamics

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LinearizedTree:
    """inverse_mass (n, n) [1/kg], stiffness (n, n) [N/m] of a tree at rest, the motion of a free root eliminated."""

    inverse_mass: Array
    stiffness: Array

    @classmethod
    def of(cls, tree: TreeDynamics) -> LinearizedTree:
        """Linearise at rest, without gravity."""
        model, n = tree.model, tree.model.coordinate_count
        state, inverse = tree.state(), np.empty((n, n))
        for k in range(n):
            inverse[:, k] = tree.accelerations(state, forces=np.eye(n)[k])[0]
        parts = []
        for k in range(model.domain_count):
            force = model.classes[model.domain_class[k]].force
            if force is not None:
                parts.append(model.tuning[k] ** 2 * model.scale[k] ** 3 * force.linear)
        return cls(inverse, scipy.linalg.block_diag(*parts) if parts else np.zeros((0, 0)))

    def frequencies(self, count: int) -> Array:
        """The lowest frequencies [Hz], ascending, (count,)."""
        values = np.linalg.eigvals(self.inverse_mass @ self.stiffness).real
        return np.sqrt(np.maximum(np.sort(values)[:count], 0.0)) / (2 * np.pi)

    def deflection(self, forces: Array) -> Array:
        """q (n,) under constant forces (n,) on the coordinates."""
        return np.linalg.solve(self.stiffness, forces)
