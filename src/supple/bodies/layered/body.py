"""A layered body: a rigid core that moves freely and a deformable layer around it, in the core's frame [GOMGL07]."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike
from scipy.spatial import KDTree

from supple.algebra.dense import rotations
from supple.algebra.dense.checks import check_vector
from supple.bodies.body_protocol import Method
from supple.bodies.capabilities import OwnSolve
from supple.bodies.changing import Adjustment, adjusted_materials, changed_material
from supple.bodies.coordinates import FrameWithModes, check_coordinates
from supple.bodies.frame_start import check_start, place_frame
from supple.bodies.layered.build import fill_surface, name_core
from supple.bodies.layered.forces import LayerForce
from supple.bodies.layered.inversion import LayerInversion
from supple.bodies.layered.mass import LayeredMass
from supple.bodies.layered.model import LayeredModel
from supple.bodies.layered.points import LayeredPoints
from supple.bodies.layered.solve import LayeredSolve
from supple.bodies.layered.stride import advance
from supple.bodies.mesh_points import MeshPoints, ShapedPoints
from supple.bodies.placement import Placement, placement_of
from supple.bodies.protocols import PlacedBody
from supple.bodies.stride import Stride, StrideReport
from supple.elements.recovery import ElementStress, element_stress
from supple.errors import check_instance, check_number
from supple.geometry import HexMesh, SurfaceMesh, TetMesh, embed
from supple.material import Law, Material

Array = np.ndarray
MAKE = "Use LayeredBody.from_mesh or from_surface."
DAMPING = {"mass_damping": "alpha", "stiffness_damping": "beta"}


@dataclass(frozen=True, eq=False)
class LayeredBody(MeshPoints, ShapedPoints):
    """A rigid core with a soft layer. Made by `from_surface` or `from_mesh`.

    alpha [1/s], beta [s]: Rayleigh's damping of the layer. q, q_rate (3 n,): displacements [m] and velocities [m/s] of
    the free nodes in the frame at the start, None for undeformed and at rest.

    >>> import supple as sp
    >>> from supple.bodies.rigid.body import surface_of
    >>> rubber = sp.Material(young=3e5, poisson=0.4, density=1000)
    >>> ball = LayeredBody.from_surface(  # a ball of radius 0.1 m with a layer of 2 cm around a light core
    ...     surface_of(sp.sphere_tets(0.1, 8)), rubber, thickness=0.02, cells=2, core_density=400
    ... )
    >>> scene = sp.Scene(gravity=(0, 0, -9.81))
    >>> node = scene.add(ball, at=(0, 0, 1), spin=(0, 20, 0), name="ball")
    >>> scene.compile().v_size == 6 + 3 * ball.free_count    # a frame, and three coordinates a free node
    True
    """

    model: LayeredModel
    alpha: float = field(default=0.0, kw_only=True)
    beta: float = field(default=0.0, kw_only=True)
    q: ArrayLike | None = field(default=None, kw_only=True)
    q_rate: ArrayLike | None = field(default=None, kw_only=True)
    kind = "layered"
    brings_stride = True
    method = Method.IMPLICIT

    def __post_init__(self) -> None:
        check_instance(self.model, LayeredModel, "a model of a layered body", where="LayeredBody", fix=MAKE)
        size = 3 * self.free_count
        for name in ("q", "q_rate"):
            object.__setattr__(self, name, check_start(getattr(self, name), size, name=name, where="LayeredBody"))
        for name in ("alpha", "beta"):
            check_number(getattr(self, name), name=name, where="LayeredBody", least=0.0)

    @classmethod
    def from_surface(
        cls,
        surface: SurfaceMesh,
        material: Material,
        *,
        thickness: float,
        cells: int = 2,
        core_density: float | None = None,
        law: str | Law = "linear",
        **options: Any,
    ) -> LayeredBody:
        """From a closed surface, by offsetting inward: what is deeper than the thickness [m] is the core.

        A surface that cuts itself is refused.
        cells: across the thickness; the core's surface has steps of one. core_density [kg/m³]: None for the material's.
        options: as for `from_mesh`.
        """
        mesh, core = fill_surface(surface, thickness, cells)
        return cls.from_mesh(mesh, material, core=core, core_density=core_density, law=law, **options)

    @classmethod
    def from_mesh(
        cls,
        mesh: TetMesh | HexMesh,
        material: Material | Mapping[str, Material],
        *,
        core: Any,
        core_density: float | None = None,
        law: str | Law = "linear",
        origin: ArrayLike | None = None,
        mass_damping: float | None = None,
        stiffness_damping: float | None = None,
        q: ArrayLike | None = None,
        q_rate: ArrayLike | None = None,
    ) -> LayeredBody:
        """From a mesh whose core is named: a region, a predicate on positions (n, 3), or numbers of elements.

        law: of the layer in the frame, "linear", "corotational", "stvk" or "neo-hookean". origin: of the frame, in the
        mesh [m], by default the centre of mass. mass_damping [1/s], stiffness_damping [s]: by default the material's.
        """
        check_instance(mesh, (TetMesh, HexMesh), "a mesh of solid elements", where="LayeredBody.from_mesh")
        place = None if origin is None else check_vector(origin, name="origin", where="LayeredBody")
        mask = name_core(mesh, core)
        model = LayeredModel(mesh, material, mask, law=Law.of(law), core_density=core_density, origin_given=place)
        alpha = model.damping_of("mass_damping") if mass_damping is None else mass_damping
        beta = model.damping_of("stiffness_damping") if stiffness_damping is None else stiffness_damping
        return cls(model, alpha=alpha, beta=beta, q=q, q_rate=q_rate)

    def changed(self, values: dict[str, Any], *, where: str) -> LayeredBody:
        """With another young [Pa], poisson or density [kg/m³] (region: of one region's material alone), core_density
        [kg/m³], mass_damping [1/s] or stiffness_damping [s]. The frame stays where it is in the mesh."""
        damping = {own: values[name] for name, own in DAMPING.items() if name in values}
        for name, value in values.items():
            if name in DAMPING or name == "core_density":
                check_number(value, name=name, where=where, least=0.0)
        stuff = {name: value for name, value in values.items() if name not in (*DAMPING, "core_density")}
        model = replace(self.model, origin_given=self.model.origin)
        if stuff:
            material = changed_material(self.model.material, stuff, ("young", "poisson", "density"), where=where)
            model = replace(model, material=material)
        if "core_density" in values:
            model = replace(model, core_density=values["core_density"])
        return replace(self, model=model, **damping)

    def adjustments(self) -> list[Adjustment]:
        """Young's modulus of its materials, and damping."""
        damping = [Adjustment(name, float(getattr(self, own))) for name, own in DAMPING.items()]
        return [*adjusted_materials(self.model.material, ("young",)), *damping]

    @property
    def free_count(self) -> int:
        """Number of nodes that move in the frame, n."""
        return self.model.free_count

    @property
    def total_mass(self) -> float:
        """[kg]."""
        return self.model.total_mass

    @property
    def origin(self) -> Array:
        """Of the frame, in the mesh [m]."""
        return self.model.origin

    @property
    def mesh(self) -> TetMesh | HexMesh:
        """Core and layer."""
        return self.model.mesh

    @cached_property
    def coordinates(self) -> FrameWithModes:
        """A frame with 3 n coordinates."""
        return FrameWithModes(3 * self.free_count)

    @cached_property
    def inertia(self) -> LayeredMass:
        """Mass matrix, velocity terms, momentum."""
        return LayeredMass(self.model)

    @cached_property
    def force(self) -> LayerForce:
        """Elastic force and damping of the layer."""
        return LayerForce(self.model, float(self.alpha), float(self.beta))

    def place(self, placement: Placement) -> PlacedBody:
        """The frame and q in the world."""
        x, v = place_frame(self.coordinates, placement, self.origin, np.asarray(self.q), np.asarray(self.q_rate))
        return PlacedBody(self.coordinates, x, v, (self.inertia,), (("layer", self.force),))

    # places on the body

    @staticmethod
    def points_of(local: Array, shapes: sparse.csr_array) -> LayeredPoints:
        """Points that follow the frame and q."""
        return LayeredPoints.make(local, shapes)

    @cached_property
    def surface_nodes(self) -> Array:
        """Nodes of the mesh on its surface."""
        return np.asarray(self.mesh.boundary.node_indices)

    @cached_property
    def _surface_tree(self) -> KDTree:
        return KDTree(np.asarray(self.mesh.nodes)[self.surface_nodes])

    def nearest_points(self, local: ArrayLike) -> Array:
        """Numbers of the surface nodes nearest at rest to places (k, 3) [m] of the mesh."""
        return np.asarray(self.surface_nodes[self._surface_tree.query(np.asarray(local, dtype=float))[1]])

    def point_region(self, selector: Any) -> Array:
        """Numbers of the nodes that a region's name, a predicate or numbers select."""
        return np.asarray(self.mesh.node_region(selector))

    def node_shapes(self, indices: Array) -> tuple[Array, sparse.csr_array]:
        """X (k, 3) [m] in the frame, and weights (k, n) of the free nodes, of nodes."""
        indices = np.asarray(indices)
        return self.model.X[indices], self._weights(indices[:, None], np.ones((len(indices), 1)))

    def shapes_at(self, local: Array) -> tuple[Array, sparse.csr_array]:
        """The same of places (k, 3) [m] of the mesh, carried by the nodes of their elements."""
        found = embed(local, self.mesh)
        return local - self.origin, self._weights(np.asarray(found.nodes), np.asarray(found.weights))

    def shapes_fixed_to(self, place: Array, local: Array) -> tuple[Array, sparse.csr_array]:
        """The same of points (k, 3) [m] that joints hold: they are fixed to the core."""
        return local - self.origin, sparse.csr_array((len(local), self.free_count))

    def _weights(self, nodes: Array, weights: Array) -> sparse.csr_array:
        rank = self.model.rank[nodes]
        row = np.broadcast_to(np.arange(len(nodes))[:, None], nodes.shape)
        kept = (rank >= 0) & (weights != 0.0)
        shape = (len(nodes), self.free_count)
        return sparse.csr_array(sparse.coo_array((weights[kept], (row[kept], rank[kept])), shape=shape))

    # what q means

    def displacements(self, x: Array) -> Array:
        """Of all nodes in the frame, (node_count, 3) [m], at coordinates x (1, 7 + 3 n)."""
        out = np.zeros_like(self.model.X)
        out[self.model.free] = x[0, 7:].reshape(-1, 3)
        return out

    def positions(self, x: Array) -> Array:
        """World positions of all nodes, (node_count, 3) [m], at coordinates x (1, 7 + 3 n)."""
        check_coordinates(x, (1, self.coordinates.x_width), name="x", where="LayeredBody.positions")
        u = self.model.X + self.displacements(x)
        return x[0, :3] + u @ rotations.to_matrix(x[0, 3:7]).T

    def boundary_colours(self) -> Array | None:
        """Of the triangles of the boundary, by their materials, (k, 3), 0 to 1; None: as pictures choose."""
        return self.model.boundary_colours()

    def stress(self, x: Array, placement: Placement | None = None) -> ElementStress:
        """Strain [-] and Cauchy stress [Pa] of each element at coordinates x (1, 7 + 3 n), zero in the core; see
        `Stressed`."""
        check_coordinates(x, (1, self.coordinates.x_width), name="x", where="LayeredBody.stress")
        axes = placement_of(placement, "LayeredBody.stress").axes
        lam, mu = self.model.element_values("lam"), self.model.element_values("mu")
        moved = self.model.X + self.displacements(x)
        found = element_stress(self.model.X, np.asarray(self.mesh.elements), self.model.law, lam, mu, moved)
        return found.turned(rotations.to_matrix(x[0, 3:7]), axes)

    def inversion_check(self, rest: Array) -> LayerInversion:
        """Which elements of the layer are inside out; see `Inverting`."""
        return LayerInversion.of(self.model)

    # steps of its own

    def solver(self, mass: float, stiffness: float) -> LayeredSolve:
        """Solutions with mass M + stiffness K of the layer coupled to the frame; kept for the last pair of numbers."""
        kept, key = self._solvers, (float(mass), float(stiffness))
        if key not in kept:
            kept.clear()
            kept[key] = LayeredSolve(self.model, *key)
        return kept[key]

    def own_solve(self, x: Array, mass: float, damping: float, stiffness: float) -> OwnSolve:
        """The layer's factor and its coupling to the frame at coordinates x (1, 7 + 3 n), for the matrix of a step,
        mass M + damping B + stiffness K with K = df/dx, over mass."""
        solver = self.solver(1.0 - damping / mass * self.alpha, -(stiffness + damping * self.beta) / mass)
        return OwnSolve(solver.factor, *solver.coupling(self.model.X_free + x[0, 7:].reshape(-1, 3)))

    @cached_property
    def _solvers(self) -> dict[tuple[float, float], LayeredSolve]:
        return {}

    def advance(
        self,
        x: Array,
        v: Array,
        dt: float,
        *,
        steps: int = 1,
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        stride: Stride | None = None,
    ) -> StrideReport:
        """Move coordinates x (1, 7 + 3 n) and v (1, 6 + 3 n) on by `steps` implicit midpoint steps of dt [s], in place.

        For a body alone; the matrix is factored once for a dt. stride: tolerance, iterations and forces on nodes.
        """
        return advance(self, x, v, dt, steps=steps, gravity=gravity, stride=stride)
