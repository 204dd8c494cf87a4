"""The force of the layer: f = -dE/dq - (alpha m + beta K) q', of the free nodes in the axes of the frame.

E is the elastic energy of the layer's elements at u = X + q; K is that of the linear law at rest, or the semi-definite
one at u. Rigid motion is neither resisted nor damped.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.bodies.block_kernels import add_scaled
from supple.bodies.layered.model import LayeredModel
from supple.bodies.protocols import LocalState, Pairs
from supple.material import Law

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LayerForce:
    """alpha [1/s], beta [s]: Rayleigh's damping by mass and stiffness."""

    model: LayeredModel
    alpha: float
    beta: float
    is_passive = True

    @property
    def is_linear(self) -> bool:
        """Whether K is the same at every state."""
        return self.model.law == Law.LINEAR

    def positions(self, x: Array) -> Array:
        """u of the layer's nodes in the frame, (layer node count, 3) [m]."""
        u = self.model.X_layer.copy()
        u[: self.model.free_count] += x[0, 7:].reshape(-1, 3)
        return u

    def energy(self, state: LocalState) -> float:
        """Elastic energy [J]."""
        if self.is_linear:
            q, f = np.ascontiguousarray(state.x[0, 7:]), np.empty(3 * self.model.free_count)
            self.model.stiffness.product(q, f)
            return float(0.5 * q @ f)
        return self.model.elements.energy(self.model.law, self.positions(state.x))

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f_q -= dE/dq + (alpha m + beta K) q'."""
        model, f = self.model, np.zeros(3 * self.model.free_count)
        rate = np.ascontiguousarray(state.v[0, 6:])
        if self.is_linear:
            model.stiffness.add_product(state.x[0, 7:] + self.beta * rate, f, -1.0)
        else:
            u, n = self.positions(state.x), model.free_count
            out = np.zeros_like(u)
            model.elements.add_force(model.law, u, out)
            f += out[:n].ravel()
            if self.beta:
                model.stiffness_at(u, definite=True).add_product(rate, f, -self.beta)
        if self.alpha:
            f -= self.alpha * np.repeat(model.node_mass, 3) * rate
        f_out[0, 6:] += f

    def linearize(self, state: LocalState, *, definite: bool = False) -> LayerTangent:
        """K and B at this state."""
        if self.is_linear:
            return LayerTangent(self, self.model.stiffness, self.model.stiffness)
        u = self.positions(state.x)
        K = self.model.stiffness_at(u, definite=definite)
        D = K if definite or not self.beta else self.model.stiffness_at(u, definite=True)
        return LayerTangent(self, K, D)

    def block_pattern(self) -> Pairs:
        """Pairs of free nodes that share an element, after the two blocks of the frame."""
        matrix = self.model.pattern[0]
        return 2 + np.repeat(np.arange(self.model.free_count), np.diff(matrix.indptr)), 2 + matrix.indices


@dataclass(frozen=True, eq=False)
class LayerTangent:
    """df/dq = -K, df/dq' = -(alpha m + beta D), of the free nodes."""

    force: LayerForce
    K: BlockSparse
    D: BlockSparse

    @cached_property
    def _mass_damping(self) -> Array:
        return self.force.alpha * self.force.model.node_mass

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv + damping B dv."""
        dq, f = np.ascontiguousarray(dv[0, 6:]), np.zeros(dv.shape[1] - 6)
        if self.K is self.D:
            self.K.add_product(dq, f, -stiffness - self.force.beta * damping)
        else:
            self.K.add_product(dq, f, -stiffness)
            self.D.add_product(dq, f, -self.force.beta * damping)
        df_out[0, 6:] += f - damping * np.repeat(self._mass_damping, 3) * dq

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble."""
        viscous = self.force.beta * damping
        if self.K is self.D:
            add_scaled(self.K.data, -stiffness - viscous, positions, data_out)
        else:
            add_scaled(self.K.data, -stiffness, positions, data_out)
            add_scaled(self.D.data, -viscous, positions, data_out)
        if self.force.alpha and damping:
            data_out[positions[self.K.diagonal]] -= damping * self._mass_damping[:, None, None] * np.eye(3)
