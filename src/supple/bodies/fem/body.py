"""A finite-element body: a tet or hex mesh, a material (or one a region), an elastic law and a mass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
import scipy.sparse as sparse

from supple.bodies.body_protocol import Embedding, Method
from supple.bodies.changing import MATERIAL, Adjustment, adjusted_materials, changed_material
from supple.bodies.coordinates import Points, check_coordinates
from supple.bodies.fem.elastic import ElasticForce
from supple.bodies.mappings import WeightedPoints
from supple.bodies.mesh_points import MeshPoints
from supple.bodies.placement import Placement, placement_of
from supple.bodies.point_mass import MassDamping, PointMass
from supple.bodies.protocols import Force, PlacedBody
from supple.bodies.surfaces import PointSkin, RenderSurface, RenderVolume
from supple.elements.element_set import ElementSet
from supple.elements.inversion import ElementInversion
from supple.elements.mass import element_masses, lumped_mass
from supple.elements.recovery import ElementStress, element_stress
from supple.elements.region_materials import RegionMaterials
from supple.errors import InputError, check_choice
from supple.geometry import HexMesh, TetMesh, embed
from supple.material import Law, Material

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FemBody(MeshPoints, RegionMaterials):
    """A soft body of finite elements.

    mesh: TetMesh or HexMesh. material: one for all elements, or a mapping from region name to material that covers
    every element (later entries win). law: "linear", "corotational", "stvk" or "neo-hookean". mass: "lumped" or
    "consistent".

    >>> import supple as sp
    >>> rubber = sp.Material(young=1e6, poisson=0.45, density=1100)
    >>> beam = sp.FemBody(sp.box_tets(size=(0.2, 0.02, 0.02), cells=(10, 2, 2)), rubber)
    >>> round(beam.total_mass, 6)
    0.088
    """

    mesh: TetMesh | HexMesh
    material: Material | Mapping[str, Material]
    law: str | Law = field(default="corotational", kw_only=True)
    mass: Literal["lumped", "consistent"] = field(default="lumped", kw_only=True)
    kind = "fem"
    method = Method.IMPLICIT

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, TetMesh | HexMesh):
            raise InputError("a finite-element body needs a TetMesh or a HexMesh", value=type(self.mesh).__name__)
        check_choice(self.mass, ("lumped", "consistent"), "kind of mass")
        object.__setattr__(self, "law", Law.of(self.law))
        _ = self.element_material

    def changed(self, values: dict[str, Any], *, where: str) -> FemBody:
        """With another young [Pa], poisson, density [kg/m³], mass_damping [1/s] or stiffness_damping [s]; region: of
        one region's material alone."""
        return replace(self, material=changed_material(self.material, values, MATERIAL, where=where))

    def adjustments(self) -> list[Adjustment]:
        """Young's modulus and damping of its materials."""
        return adjusted_materials(self.material, ("young", "mass_damping", "stiffness_damping"))

    @cached_property
    def point_mass(self) -> PointMass:
        """Nodal masses [kg]; they do not depend on the placement."""
        X, elements, density = self.mesh.nodes, self.mesh.elements, self.element_values("density")
        if self.mass == "lumped":
            return PointMass(lumped_mass(X, elements, density))
        m = element_masses(X, elements, density)
        n = elements.shape[1]
        rows = np.repeat(elements, n, axis=1).ravel()
        cols = np.tile(elements, (1, n)).ravel()
        return PointMass(sparse.coo_array((m.ravel(), (rows, cols)), shape=(len(X), len(X))).tocsr())

    @property
    def total_mass(self) -> float:
        """Mass of the body [kg]."""
        return float(self.point_mass.node_mass.sum())

    @property
    def coordinates(self) -> Points:
        """Node positions."""
        return Points(len(self.mesh.nodes))

    def place(self, placement: Placement) -> PlacedBody:
        """The body in the world: node positions as coordinates, one elastic force a material."""
        x = placement.apply(self.mesh.nodes)
        forces: list[tuple[str, Force]] = []
        for k, material in enumerate(self.materials):
            chosen = self.mesh.elements[self.element_material == k]
            if len(chosen):
                elements = ElementSet.make(x, chosen, material.lam, material.mu)
                label = "elastic" if len(self.materials) == 1 else f"elastic '{material.name}'"
                forces.append((label, ElasticForce(elements, Law.of(self.law), material.stiffness_damping)))
        alphas = {m.mass_damping for m in self.materials}
        if len(alphas) > 1:
            raise InputError(
                "materials of one body have different mass_damping",
                value=sorted(alphas),
                fix="Give them the same; stiffness_damping may differ.",
            )
        if alpha := alphas.pop():
            forces.append(("mass damping", MassDamping(self.point_mass, alpha)))
        return PlacedBody(self.coordinates, x, placement.point_velocities(x), (self.point_mass,), tuple(forces))

    # points and surface

    def point_mapping(self, numbers: Array | None) -> WeightedPoints | None:
        """The nodes are the coordinates; some of them are a subset."""
        return None if numbers is None else WeightedPoints.subset(numbers, len(self.mesh.nodes))

    def embed(self, local: Array) -> Embedding:
        """Places (k, 3) [m] inside elements."""
        found = embed(local, self.mesh)
        return Embedding(WeightedPoints.barycentric(found.nodes, found.weights, len(self.mesh.nodes)))

    def render_surface(self) -> RenderSurface:
        """The boundary."""
        surface = self.contact_surface()
        return RenderSurface(PointSkin(surface.numbers), surface.own_triangles, colours=self.boundary_colours())

    def render_volume(self) -> RenderVolume | None:
        """The tets of the mesh; hexes have none, since their faces bend."""
        return RenderVolume.of_mesh(self.mesh, PointSkin)

    def point_masses(self) -> Array:
        """Of the nodes, (n,) [kg]."""
        return self.point_mass.node_mass

    def point_word(self) -> str:
        """What a point is called."""
        return "node"

    def inversion_check(self, rest: Array) -> ElementInversion:
        """Which elements are inside out, for nodes at `rest` (n, 3) [m] at the start."""
        return ElementInversion.of(rest, self.mesh.elements, Law.of(self.law))

    def stress(self, x: Array, placement: Placement | None = None) -> ElementStress:
        """Strain [-] and Cauchy stress [Pa] of each element at world positions x (node_count, 3) [m]; see
        `Stressed`."""
        check_coordinates(x, self.mesh.nodes.shape, name="x", where="FemBody.stress")
        X = placement_of(placement, "FemBody.stress").apply(self.mesh.nodes)
        lam, mu = self.element_values("lam"), self.element_values("mu")
        return element_stress(X, self.mesh.elements, Law.of(self.law), lam, mu, x)
