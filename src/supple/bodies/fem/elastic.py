"""The elastic force of a set of finite elements, with Kelvin-Voigt damping.

    f = -dE/dx + beta f_v(x, v),    K = df/dx,    B = beta df_v/dv

f_v comes from the rate of Green's strain (`supple.elements.viscous_kernels`): rigid motion is not damped, whatever the
rotation and the strain. At rest B is beta times the stiffness, as Rayleigh has it. The part of K that comes from f_v is
exact and not symmetric; a definite K leaves it out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.bodies.block_kernels import add_scaled
from supple.bodies.protocols import LocalState, Pairs
from supple.elements.element_set import ElementSet
from supple.material import Law

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ElasticForce:
    """Elastic elements of one material. stiffness_damping: beta [s]."""

    elements: ElementSet
    law: Law
    stiffness_damping: float = 0.0
    is_passive = True

    @property
    def spin_loss(self) -> float | None:
        """None where the body turns; the linear law resists that, see `traits.spin_loss`."""
        return None if self.law is Law.LINEAR else 0.0

    def energy(self, state: LocalState) -> float:
        """Elastic energy [J]."""
        return self.elements.energy(self.law, state.x)

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """Elastic and damping forces on the nodes [N]."""
        self.elements.add_force(self.law, state.x, f_out)
        if self.stiffness_damping:
            self.elements.add_viscous_force(self.law, state.x, state.v, self.stiffness_damping, f_out)

    def linearize(self, state: LocalState, *, definite: bool = False) -> ElasticTangent:
        """K and B at this state."""
        v = None if definite or not self.stiffness_damping or not state.v.any() else state.v.copy()
        return ElasticTangent(self, state.x.copy(), v, definite)

    def block_pattern(self) -> Pairs:
        """Node pairs that share an element, each once."""
        matrix, _ = self.own_matrix
        return np.repeat(np.arange(self.elements.node_count), np.diff(matrix.indptr)), matrix.indices

    @cached_property
    def own_matrix(self) -> tuple[BlockSparse, Array]:
        """An empty matrix of this force alone, and where the elements' blocks lie in it."""
        rows, cols = self.elements.block_pattern()
        matrix = BlockSparse.from_pairs(self.elements.node_count, rows, cols)
        return matrix, matrix.locate(rows, cols)

    @cached_property
    def spare(self) -> list[BlockSparse]:
        """Matrices of tangents that are gone, to be used again."""
        return []


@dataclass(frozen=True, eq=False)
class ElasticTangent:
    """K and B at positions x, assembled at their first use. v: velocities, None where K has no part from damping."""

    force: ElasticForce
    x: Array
    v: Array | None
    definite: bool

    @property
    def matrix(self) -> BlockSparse:
        """K [N/m] as a block-sparse matrix."""
        return self._made[0]

    @property
    def damping_matrix(self) -> BlockSparse:
        """B [N s/m], negative semi-definite, of a material with damping."""
        return self._made[1]

    @cached_property
    def _made(self) -> list[BlockSparse]:
        """K, and B where there is damping, by one sweep."""
        force, (K, positions) = self.force, self._empty()
        beta, how = force.stiffness_damping, {"definite": self.definite}
        if not beta:
            force.elements.add_blocks(force.law, self.x, 1.0, positions, K.data, **how)
            return [K]
        B, _ = self._empty()
        force.elements.add_damped_blocks(force.law, self.x, self.v, beta, positions, K.data, B.data, **how)
        return [K, B]

    def _empty(self) -> tuple[BlockSparse, Array]:
        pattern, positions = self.force.own_matrix
        matrix = self.force.spare.pop() if self.force.spare else pattern.copy()
        matrix.clear()
        return matrix, positions

    def __del__(self) -> None:
        self.force.spare.extend(self.__dict__.get("_made", ()))

    def _parts(self, stiffness: float, damping: float) -> list[tuple[BlockSparse, float]]:
        """Matrices and factors whose sum is stiffness K + damping B."""
        damped = bool(damping and self.force.stiffness_damping)
        return [
            *([(self.matrix, stiffness)] if stiffness else []),
            *([(self.damping_matrix, damping)] if damped else []),
        ]

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv + damping B dv."""
        for matrix, factor in self._parts(stiffness, damping):
            matrix.add_product(dv.reshape(-1), df_out.reshape(-1), factor)

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble stiffness K + damping B."""
        for matrix, factor in self._parts(stiffness, damping):
            add_scaled(matrix.data, factor, positions, data_out)
