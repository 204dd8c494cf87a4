"""`LayeredModel`: a rigid core and a deformable layer of finite elements around it, all computed before time starts.

    core     the elements named so; all their nodes are fixed to the frame
    layer    the other elements; their nodes that no core element has are free: u_a = X_a + q_a in the frame
    mass     lumped to the nodes, m_a for the free ones; the core's integrals, exact for linear elements, with the
             layer's masses at fixed nodes make one rigid part:  m_c, S_c = int rho X, P_c = int rho X X^T

The fixed nodes are the reference condition of the frame [GOMGL07, sec. 3]: the stiffness of the free ones is positive
definite.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.elements.element_set import ElementSet
from supple.elements.mass import element_masses, lumped_mass
from supple.elements.region_materials import RegionMaterials
from supple.errors import InputError, check_number
from supple.geometry import HexMesh, TetMesh
from supple.material import Law, Material

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class RigidPart:
    """mass [kg], first moment S (3,) [kg m] and second moment P (3, 3) [kg m²] of what is fixed to the frame."""

    mass: float
    S: Array
    P: Array

    @cached_property
    def inertia(self) -> Array:
        """tr(P) I - P, about the frame's origin, (3, 3) [kg m²]."""
        return np.trace(self.P) * np.eye(3) - self.P


@dataclass(frozen=True, eq=False)
class LayeredModel(RegionMaterials):
    """core: mask of the core's elements (element_count,). core_density [kg/m³], or None for that of its material.

    origin: of the frame, in the mesh [m], or None for the centre of mass at rest.
    """

    mesh: TetMesh | HexMesh
    material: Material | Mapping[str, Material]
    core: Array
    law: Law = field(default=Law.LINEAR, kw_only=True)
    core_density: float | None = field(default=None, kw_only=True)
    origin_given: Array | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        where = "LayeredBody"
        if not isinstance(self.mesh, TetMesh | HexMesh):
            raise InputError("a layered body needs a TetMesh or a HexMesh", where=where, value=type(self.mesh).__name__)
        if self.core.all():
            raise InputError(
                "the core leaves no layer: every element belongs to it",
                where=where,
                fix="Name fewer elements, or take a larger thickness. A RigidBody says the same.",
            )
        if not self.core.any():
            raise InputError(
                "there is no core: no element belongs to it",
                where=where,
                fix="Name more elements, or take a smaller thickness. A FemBody needs no core.",
            )
        if not len(self.free):
            raise InputError(
                "the core leaves no layer: it holds every node",
                where=where,
                fix="Use smaller elements, or name fewer of them.",
            )
        rho = self.core_density
        if rho is not None:
            check_number(rho, name="core_density", where=where, above=0.0)
        _ = self.element_material
        self._check_held()

    def _check_held(self) -> None:
        """Every part of the layer hangs on the core: otherwise it would fly away in the frame."""
        import scipy.sparse as sparse
        from scipy.sparse.csgraph import connected_components

        elements = self.layer_elements
        width = elements.shape[1]
        rows, cols = np.repeat(elements[:, 0], width), elements.ravel()
        count = len(self.mesh.nodes)
        graph = sparse.coo_array((np.ones(len(rows)), (rows, cols)), shape=(count, count))
        _, label = connected_components(graph, directed=False)
        loose = np.flatnonzero(~np.isin(label[self.free], label[self.fixed]))
        if loose.size:
            raise InputError(
                "a part of the layer does not touch the core",
                where=f"node {int(self.free[loose[0]])}",
                fix="Make it a body of its own, or give it a core.",
            )

    # nodes

    @cached_property
    def layer_elements(self) -> Array:
        """Elements of the layer, (k, 4 or 8)."""
        return np.asarray(self.mesh.elements)[~self.core]

    @cached_property
    def is_fixed(self) -> Array:
        """Whether a node belongs to the core, (node_count,)."""
        out = np.zeros(len(self.mesh.nodes), dtype=bool)
        out[np.asarray(self.mesh.elements)[self.core]] = True
        return out

    @cached_property
    def fixed(self) -> Array:
        """Nodes of the core."""
        return np.flatnonzero(self.is_fixed)

    @cached_property
    def free(self) -> Array:
        """Nodes that move in the frame, (n,), in the order of q."""
        return np.flatnonzero(~self.is_fixed)

    @property
    def free_count(self) -> int:
        """n."""
        return len(self.free)

    @cached_property
    def rank(self) -> Array:
        """Number in q of each node, -1 for fixed ones, (node_count,)."""
        out = np.full(len(self.mesh.nodes), -1)
        out[self.free] = np.arange(self.free_count)
        return out

    # mass

    @cached_property
    def _layer_mass(self) -> Array:
        density = self.element_values("density")[~self.core]
        return lumped_mass(np.asarray(self.mesh.nodes), self.layer_elements, density)

    @cached_property
    def node_mass(self) -> Array:
        """m_a of the free nodes, (n,) [kg]."""
        return np.ascontiguousarray(self._layer_mass[self.free])

    def _core_integrals(self, X: Array) -> RigidPart:
        """Of the rigid part, for positions X (node_count, 3)."""
        elements = np.asarray(self.mesh.elements)[self.core]
        own = self.element_values("density")[self.core]
        m = element_masses(X, elements, own if self.core_density is None else np.full(len(own), self.core_density))
        corners, held = X[elements], self._layer_mass[self.fixed]
        S = np.einsum("eab,ebi->i", m, corners) + held @ X[self.fixed]
        P = np.einsum("eab,eai,ebj->ij", m, corners, corners, optimize=True)
        P += (held[:, None] * X[self.fixed]).T @ X[self.fixed]
        return RigidPart(float(m.sum() + held.sum()), S, 0.5 * (P + P.T))

    @cached_property
    def origin(self) -> Array:
        """Of the frame, in the mesh [m]."""
        if self.origin_given is not None:
            return self.origin_given
        nodes = np.asarray(self.mesh.nodes)
        part = self._core_integrals(nodes)
        return np.asarray((part.S + self.node_mass @ nodes[self.free]) / (part.mass + self.node_mass.sum()))

    @cached_property
    def X(self) -> Array:
        """Node positions at rest in the frame, (node_count, 3) [m]."""
        return np.asarray(self.mesh.nodes) - self.origin

    @cached_property
    def X_free(self) -> Array:
        """Of the free nodes, (n, 3) [m]."""
        return np.ascontiguousarray(self.X[self.free])

    @cached_property
    def rigid(self) -> RigidPart:
        """The core, with the layer's masses at its nodes, about the frame's origin."""
        return self._core_integrals(self.X)

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return float(self.rigid.mass + self.node_mass.sum())

    # elements

    @cached_property
    def _compact(self) -> tuple[Array, Array]:
        """Numbers of nodes in the layer's own count, free ones first; and the fixed nodes of the layer."""
        touched = np.zeros(len(self.mesh.nodes), dtype=bool)
        touched[self.layer_elements] = True
        inner = np.flatnonzero(touched & self.is_fixed)
        number = self.rank.copy()
        number[inner] = self.free_count + np.arange(len(inner))
        return number, inner

    @cached_property
    def X_layer(self) -> Array:
        """Rest positions of the layer's nodes in the frame: free ones, then the inner ones."""
        return np.concatenate([self.X_free, self.X[self._compact[1]]])

    @cached_property
    def elements(self) -> ElementSet:
        """The layer's elements on the nodes of `X_layer`."""
        lam, mu = (self.element_values(name)[~self.core] for name in ("lam", "mu"))
        return ElementSet.make(self.X_layer, self._compact[0][self.layer_elements], lam, mu)

    @cached_property
    def pattern(self) -> tuple[BlockSparse, Array]:
        """An empty matrix of the free nodes, and where the elements' blocks lie in it; past its end: fixed ones."""
        rows, cols = self.elements.block_pattern()
        n = self.free_count
        inside = (rows < n) & (cols < n)
        matrix = BlockSparse.from_pairs(n, rows[inside], cols[inside])
        positions = np.full(len(rows), matrix.block_count, dtype=np.int32)
        positions[inside] = matrix.locate(rows[inside], cols[inside])
        return matrix, positions

    def stiffness_at(self, u: Array, *, definite: bool = False) -> BlockSparse:
        """K_s = d²E/dq² at positions u (layer nodes, 3) [m], symmetric [N/m]."""
        matrix, positions = self.pattern
        data = np.zeros((matrix.block_count + 1, 3, 3))
        self.elements.add_blocks(self.law, u, -1.0, positions, data, definite=definite)
        return BlockSparse(matrix.indptr, matrix.indices, data[:-1])

    @cached_property
    def stiffness(self) -> BlockSparse:
        """K_s at rest."""
        return self.stiffness_at(self.X_layer)

    def damping_of(self, name: str) -> float:
        """The "mass_damping" [1/s] or "stiffness_damping" [s] of the layer's materials."""
        used = np.unique(self.element_material[~self.core])
        found = {float(getattr(self.materials[k], name)) for k in used}
        if len(found) > 1:
            raise InputError(f"the layer's materials have different {name}", where="LayeredBody", value=sorted(found))
        return found.pop()
