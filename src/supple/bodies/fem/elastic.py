"""The elastic force of a set of finite elements, with stiffness-proportional damping.

    f = -dE/dx + beta K(x) v,    df/dx ~ K,    df/dv = beta K,      K = -d²E/dx²

The damping force uses the semi-definite K, so that it never feeds energy in. The derivative of K(x) v by x, a third
derivative of the energy, is left out of the tangent: with damping, Newton's steps are slightly short of quadratic.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.bodies.fem.kernels import add_scaled
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

    def energy(self, state: LocalState) -> float:
        """Elastic energy [J]."""
        return self.elements.energy(self.law, state.x)

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """Elastic and damping forces on the nodes [N]."""
        self.elements.add_force(self.law, state.x, f_out)
        if self.stiffness_damping:
            self.elements.add_differential(self.law, state.x, state.v, self.stiffness_damping, f_out, definite=True)

    def linearize(self, state: LocalState, *, definite: bool = False) -> ElasticTangent:
        """K and B at this state."""
        return ElasticTangent(self, state.x.copy(), definite)

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
    """K at positions x, assembled once, at the first use."""

    force: ElasticForce
    x: Array
    definite: bool

    @cached_property
    def matrix(self) -> BlockSparse:
        """K [N/m] as a block-sparse matrix."""
        return self._assembled(self.definite)

    @cached_property
    def damping_matrix(self) -> BlockSparse:
        """The semi-definite K that damps."""
        return self.matrix if self.definite else self._assembled(True)

    def _assembled(self, definite: bool) -> BlockSparse:
        pattern, positions = self.force.own_matrix
        matrix = self.force.spare.pop() if self.force.spare else pattern.copy()
        matrix.clear()
        self.force.elements.add_blocks(self.force.law, self.x, 1.0, positions, matrix.data, definite=definite)
        return matrix

    def __del__(self) -> None:
        made = [self.__dict__[name] for name in ("matrix", "damping_matrix") if name in self.__dict__]
        self.force.spare.extend(made[:1] if self.definite else made)

    def _parts(self, stiffness: float, damping: float) -> list[tuple[BlockSparse, float]]:
        """Matrices and factors whose sum is stiffness K + damping B."""
        viscous = self.force.stiffness_damping * damping
        if viscous == 0.0 or self.definite:
            return [(self.matrix, stiffness + viscous)]
        return [*([(self.matrix, stiffness)] if stiffness else []), (self.damping_matrix, viscous)]

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv + damping B dv."""
        for matrix, factor in self._parts(stiffness, damping):
            matrix.add_product(dv.reshape(-1), df_out.reshape(-1), factor)

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble stiffness K + damping B."""
        for matrix, factor in self._parts(stiffness, damping):
            add_scaled(matrix.data, factor, positions, data_out)
