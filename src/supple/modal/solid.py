"""`ElasticSolid`: a mesh with its elastic constants and masses, as the precomputation of reduced domains needs it.

    G_ij = du_i/dX_j = sum_a u_ai g_aj                       displacement gradient at a quadrature point
    K_(ai)(bk) = sum w (lam g_ai g_bk + mu g_ak g_bi + mu d_ik g_a . g_b)       stiffness at rest
    M = m ⊗ I3,  m_ab = int rho N_a N_b                      consistent, or its row sums

    symbol  code                                             meaning
    g       `gradients` (element, point, node, 3)            [1/m]
    w       `weights` (element, point)                       [m³]
    m       `node_mass` (node, node)                         [kg], sparse
    K       `stiffness` (3 node, 3 node)                     [N/m], sparse

The tet has one point. The hex has 3x3x3 Gauss points: on a parallelepiped a displacement gradient is linear in each
reference coordinate, so the St. Venant-Kirchhoff energy has degree 4 in each, and 3 points integrate it exactly, while
2 do not. On other hexes, whose gradients are rational, the rule is an approximation.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.elements.mass import element_masses
from supple.elements.region_materials import RegionMaterials
from supple.elements.shapes import hex_gradients, rest_gradients
from supple.errors import InputError, check_choice
from supple.geometry import HexMesh, TetMesh
from supple.material import Material
from supple.modal.forces.bricks import CROOKED, brick_edges

Array = np.ndarray
MassKind = Literal["consistent", "lumped"]
HEX_POINTS = 3
"""Gauss points a direction."""


class Quadrature(NamedTuple):
    """gradients (element, point, node, 3) [1/m]; weights (element, point) [m³]."""

    gradients: Array
    weights: Array


class NodeMasses:
    """Sums of a mass m (node_count, node_count) [kg], sparse, between nodes."""

    node_mass: Any

    @cached_property
    def lumped_mass(self) -> Array:
        """Row sums of the mass, (node_count,) [kg]."""
        return np.asarray(self.node_mass.sum(axis=1)).ravel()

    @property
    def total_mass(self) -> float:
        """Mass [kg]."""
        return float(self.lumped_mass.sum())


@dataclass(frozen=True, eq=False)
class ElasticSolid(RegionMaterials, NodeMasses):
    """A solid to be reduced.

    mesh: TetMesh or HexMesh. material: one, or a mapping from region to material that covers every element (later
    entries win). mass: "consistent" or "lumped".

    >>> from supple.geometry import box_tets
    >>> beam = ElasticSolid(box_tets(size=(1, 0.1, 0.1), cells=(10, 1, 1)), Material(1e6, 0.3, 1000))
    >>> round(beam.total_mass, 9)
    10.0
    """

    mesh: TetMesh | HexMesh
    material: Material | Mapping[str, Material]
    mass: MassKind = field(default="consistent", kw_only=True)

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, TetMesh | HexMesh):
            raise InputError("a solid needs a TetMesh or a HexMesh", value=type(self.mesh).__name__)
        check_choice(self.mass, ("consistent", "lumped"), "kind of mass")
        _ = self.element_material

    def scaled(self, stiffness: float, density: float) -> ElasticSolid:
        """With materials so many times as stiff and as dense."""

        def of(stuff: Material) -> Material:
            return replace(stuff, young=stiffness * stuff.young, density=density * stuff.density)

        given = self.material
        changed = of(given) if isinstance(given, Material) else {region: of(stuff) for region, stuff in given.items()}
        return replace(self, material=changed)

    @property
    def node_count(self) -> int:
        """Nodes of the mesh."""
        return len(self.mesh.nodes)

    @cached_property
    def quadrature(self) -> Quadrature:
        """Rest gradients and volume weights of all points."""
        X, elements = self.mesh.nodes, self.mesh.elements
        return Quadrature(*rest_gradients(X, elements)) if elements.shape[1] == 4 else self.hex_points(HEX_POINTS)

    @cached_property
    def few_points(self) -> Quadrature:
        """Where 8 points of a hex are enough: what has degree 3 at most in each coordinate of a parallelepiped."""
        return self.quadrature if self.mesh.elements.shape[1] == 4 else self.hex_points(2)

    def hex_points(self, count: int) -> Quadrature:
        """Gradients and weights of count³ Gauss points in each hex; of equal bricks computed once."""
        X, elements, edges = self.mesh.nodes, self.mesh.elements, self.brick_edges
        if edges is None or np.ptp(edges, axis=0).max() > CROOKED * edges.min():
            return hex_quadrature(X, elements, count)
        one = hex_quadrature(X, elements[:1], count)
        return Quadrature(*(np.repeat(part, len(elements), axis=0) for part in one))

    @cached_property
    def brick_edges(self) -> Array | None:
        """Edge lengths (element_count, 3) [m] where all elements are hexes along the axes, else None."""
        return brick_edges(self.mesh.nodes, self.mesh.elements)

    @cached_property
    def gradient_operator(self) -> Any:
        """Sparse (3 points, node_count) [1/m]: nodal values to their gradients; row 3 p + j is d/dX_j at point p."""
        gradients = self.quadrature.gradients
        elements, points, nodes, _ = gradients.shape
        columns = np.broadcast_to(self.mesh.elements[:, None, None, :], (elements, points, 3, nodes))
        starts = np.arange(3 * elements * points + 1) * nodes
        data = np.ascontiguousarray(gradients.swapaxes(2, 3))
        shape = (3 * elements * points, self.node_count)
        return sparse.csr_array((data.ravel(), columns.ravel(), starts), shape=shape)

    @cached_property
    def point_values(self) -> tuple[Array, Array, Array]:
        """Weight [m³], lam and mu [Pa] of each point in the order of `gradient_operator`, (points,) each."""
        count = self.quadrature.weights.shape[1]
        lam, mu = (np.repeat(self.element_values(name), count) for name in ("lam", "mu"))
        return self.quadrature.weights.ravel(), lam, mu

    def displacement_gradients(self, U: Array) -> Array:
        """G[p, j, i, l] = dU_i/dX_j of columns U (3 node_count, r) at every point, (points, 3, 3, r)."""
        count = U.shape[1]
        return (self.gradient_operator @ U.reshape(self.node_count, 3 * count)).reshape(-1, 3, 3, count)

    @cached_property
    def stiffness(self) -> Any:
        """K at rest, sparse and symmetric, (3 node_count, 3 node_count) [N/m]."""
        gradients, weights = self.quadrature if self.brick_edges is None else self.few_points
        elements, points, nodes, _ = gradients.shape
        rows = gradients.reshape(elements, points, 3 * nodes)
        H = np.matmul((rows * weights[..., None]).swapaxes(1, 2), rows).reshape(elements, nodes, 3, nodes, 3)
        lam, mu = (self.element_values(name)[:, None, None, None, None] for name in ("lam", "mu"))
        blocks = lam * H + mu * H.swapaxes(2, 4)
        trace = np.einsum("eajbj->eab", H) * mu[..., 0, 0]
        for i in range(3):
            blocks[:, :, i, :, i] += trace
        unknowns = (3 * self.mesh.elements[:, :, None] + np.arange(3)).reshape(elements, 3 * nodes)
        return assemble(unknowns, blocks.reshape(elements, 3 * nodes, 3 * nodes), 3 * self.node_count)

    @cached_property
    def node_mass(self) -> Any:
        """m, sparse (node_count, node_count) [kg]; diagonal where lumped."""
        elements = self.mesh.elements
        m = assemble(
            elements, element_masses(self.mesh.nodes, elements, self.element_values("density")), self.node_count
        )
        return m if self.mass == "consistent" else sparse.diags_array(np.asarray(m.sum(axis=1)).ravel()).tocsr()

    @cached_property
    def mass_matrix(self) -> Any:
        """M = m ⊗ I3, sparse (3 node_count, 3 node_count) [kg]."""
        return sparse.kron(self.node_mass, sparse.eye_array(3), format="csr")

    def mass_product(self, U: Array) -> Array:
        """M U for columns U (3 node_count, r)."""
        return (self.node_mass @ U.reshape(self.node_count, -1)).reshape(U.shape)


def hex_quadrature(X: Array, hexes: Array, count: int) -> Quadrature:
    """Gradients and weights of count³ Gauss points in hexes (m, 8) with corners X (n, 3) [m]."""
    line, weight = np.polynomial.legendre.leggauss(count)
    xi = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    weights = np.einsum("i,j,k->ijk", weight, weight, weight).ravel()
    reference = hex_gradients(xi)
    jacobian = np.einsum("eai,qaj->eqij", X[hexes], reference, optimize=True)
    gradients = np.einsum("qaj,eqji->eqai", reference, np.linalg.inv(jacobian), optimize=True)
    return Quadrature(np.ascontiguousarray(gradients), np.linalg.det(jacobian) * weights)


def assemble(unknowns: Array, blocks: Array, count: int) -> Any:
    """Sum of element matrices (m, k, k) at unknowns (m, k), sparse (count, count)."""
    width = unknowns.shape[1]
    rows, columns = np.repeat(unknowns, width, axis=1).ravel(), np.tile(unknowns, (1, width)).ravel()
    return sparse.coo_array((blocks.ravel(), (rows, columns)), shape=(count, count)).tocsr()
