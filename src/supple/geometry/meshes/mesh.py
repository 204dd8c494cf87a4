"""The meshes: tetrahedra, hexahedra and surface triangles, frozen and checked when they are made.

Numbers of nodes and elements are zero-based, positions are in metres, arrays are read-only. A mesh that
exists is usable: finite, every index in range, no element without volume, every solid element positively
oriented, no node without an element, no empty region.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Self, final

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError
from supple.geometry.meshes import element_shapes as shapes
from supple.geometry.meshes import mesh_checks as checks
from supple.geometry.meshes.boundary import Boundary, make_boundary
from supple.geometry.meshes.mesh_base import Mesh
from supple.geometry.meshes.mesh_checks import Isolated, Orientation
from supple.geometry.meshes.region import FloatArray, IntArray, Region, Selector
from supple.geometry.surfaces.surface_edges import EdgeCount, count_edges

_NO_REGIONS: Mapping[str, Region] = MappingProxyType({})


class SolidMesh(Mesh):
    """What tet and hex meshes share: a boundary and the faces of a region."""

    element_faces: ClassVar[IntArray]

    @cached_property
    def boundary(self) -> Boundary:
        """Outward boundary faces and triangles, in this mesh's node numbers."""
        return make_boundary(self.nodes, self.elements, self.element_faces, self.kind)

    def faces_region(self, selector: Selector) -> IntArray:
        """Outward boundary triangles of a region, (k, 3), in this mesh's node numbers: where pressures act.

        A region that lists faces gives these; any other selection gives the triangles with all nodes in it.
        """
        inside = self._node_mask(selector)[self.boundary.faces].all(axis=1)
        if isinstance(selector, str) and selector in self.regions and self.regions[selector].faces.size:
            listed = {frozenset(face) for face in self.regions[selector].faces.tolist()}
            inside &= np.array([frozenset(face) in listed for face in self.boundary.faces.tolist()])
            if np.count_nonzero(inside) < len(listed):
                raise InputError("a listed face is not on the boundary", where=f"region '{selector}'")
        per_face = len(self.boundary.triangles) // len(self.boundary.faces)
        triangles = self.boundary.triangles[np.repeat(inside, per_face)]
        if not len(triangles):
            raise InputError(
                "the selection holds no boundary face", value=selector if isinstance(selector, str) else None
            )
        return triangles


@final
@dataclass(frozen=True, eq=False, repr=False)
class TetMesh(SolidMesh):
    """Tetrahedra. nodes: [m], (n, 3). tets: node indices, (m, 4), positive volume. regions: by name.

    orientation: inverted tets are reordered ("repair") or refused ("refuse").
    isolated: nodes without a tet are refused ("refuse") or left out, with renumbering ("drop").
    """

    kind: ClassVar[str] = "tet"
    face_width: ClassVar[int] = 3
    element_faces: ClassVar[IntArray] = shapes.TET_FACES

    nodes: FloatArray
    tets: IntArray
    regions: Mapping[str, Region] = field(default_factory=lambda: _NO_REGIONS)
    orientation: InitVar[Orientation] = field(default="repair", kw_only=True)
    isolated: InitVar[Isolated] = field(default="refuse", kw_only=True)

    def __post_init__(self, orientation: Orientation, isolated: Isolated) -> None:
        checks.check_choice("orientation", orientation, ("repair", "refuse"))
        checks.check_choice("isolated", isolated, ("refuse", "drop"))
        nodes = checks.check_nodes(self.nodes)
        tets = checks.check_elements(self.tets, 4, "tet", len(nodes))
        volumes = shapes.tet_volumes(nodes, tets)
        checks.check_shapes(volumes, shapes.longest_edges(nodes, tets, shapes.TET_EDGES), "tet")
        inverted = np.flatnonzero(volumes < 0)
        if inverted.size and orientation == "refuse":
            raise checks.refuse_inverted(inverted, "tet")
        tets[inverted] = tets[inverted][:, [0, 2, 1, 3]]
        self._set_arrays(nodes, tets)
        self._adopt_regions(isolated)

    @property
    def elements(self) -> IntArray:
        """The tets."""
        return self.tets

    @cached_property
    def volumes(self) -> FloatArray:
        """Volume of each tet [m³], (m,), positive."""
        return shapes.tet_volumes(self.nodes, self.tets)

    def _set_arrays(self, nodes: FloatArray, elements: IntArray) -> None:
        _store(self, nodes=nodes, tets=elements)

    def _with(self, nodes: ArrayLike, elements: ArrayLike, regions: Mapping[str, Any]) -> Self:
        return type(self)(nodes, elements, regions)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"TetMesh({len(self.nodes)} nodes, {len(self.tets)} tets, regions {sorted(self.regions)})"


@final
@dataclass(frozen=True, eq=False, repr=False)
class HexMesh(SolidMesh):
    """Hexahedra. nodes: [m], (n, 3). hexes: node indices in VTK's order, (m, 8). regions: by name.

    VTK's order: the bottom quad counter-clockwise seen from the top, then the top quad above it.
    orientation and isolated: as for `TetMesh`. A hex that is folded, neither positive nor negative at all of
    its 2x2x2 Gauss points and its centre, is refused in any case.
    """

    kind: ClassVar[str] = "hex"
    face_width: ClassVar[int] = 4
    element_faces: ClassVar[IntArray] = shapes.HEX_FACES

    nodes: FloatArray
    hexes: IntArray
    regions: Mapping[str, Region] = field(default_factory=lambda: _NO_REGIONS)
    orientation: InitVar[Orientation] = field(default="repair", kw_only=True)
    isolated: InitVar[Isolated] = field(default="refuse", kw_only=True)

    def __post_init__(self, orientation: Orientation, isolated: Isolated) -> None:
        checks.check_choice("orientation", orientation, ("repair", "refuse"))
        checks.check_choice("isolated", isolated, ("refuse", "drop"))
        nodes = checks.check_nodes(self.nodes)
        hexes = checks.check_elements(self.hexes, 8, "hex", len(nodes))
        jacobians = shapes.hex_jacobians(nodes, hexes)
        edges = shapes.longest_edges(nodes, hexes, shapes.HEX_EDGES)
        checks.check_shapes(jacobians.sum(axis=1), edges, "hex")
        sampled = np.column_stack([jacobians, shapes.hex_jacobians(nodes, hexes, shapes.HEX_CENTRE)])
        vanishing = checks.DEGENERATE * edges[:, None] ** 3
        folded = np.flatnonzero((sampled > -vanishing).any(axis=1) & (sampled < vanishing).any(axis=1))
        if folded.size:
            raise InputError(
                f"hex {folded[0]} is folded: its Jacobian changes sign inside",
                value=hexes[folded[0]].tolist(),
                fix="Its nodes must be in VTK's order; otherwise remesh there.",
            )
        inverted = np.flatnonzero(jacobians[:, 0] < 0)
        if inverted.size and orientation == "refuse":
            raise checks.refuse_inverted(inverted, "hex")
        hexes[inverted] = hexes[inverted][:, [4, 5, 6, 7, 0, 1, 2, 3]]
        self._set_arrays(nodes, hexes)
        self._adopt_regions(isolated)

    @property
    def elements(self) -> IntArray:
        """The hexes."""
        return self.hexes

    @cached_property
    def volumes(self) -> FloatArray:
        """Volume of each trilinear hex [m³], (m,), positive."""
        return shapes.hex_jacobians(self.nodes, self.hexes).sum(axis=1)

    def _set_arrays(self, nodes: FloatArray, elements: IntArray) -> None:
        _store(self, nodes=nodes, hexes=elements)

    def _with(self, nodes: ArrayLike, elements: ArrayLike, regions: Mapping[str, Any]) -> Self:
        return type(self)(nodes, elements, regions)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"HexMesh({len(self.nodes)} nodes, {len(self.hexes)} hexes, regions {sorted(self.regions)})"


@final
@dataclass(frozen=True, eq=False, repr=False)
class SurfaceMesh(Mesh):
    """Triangles. nodes: [m], (n, 3). triangles: node indices, (m, 3), outward by the right-hand rule.

    Triangles without area are allowed, as surfaces for looking at often hold them; a node twice in one is not
    allowed.
    isolated: as for `TetMesh`.
    """

    kind: ClassVar[str] = "triangle"
    face_width: ClassVar[int] = 0

    nodes: FloatArray
    triangles: IntArray
    regions: Mapping[str, Region] = field(default_factory=lambda: _NO_REGIONS)
    isolated: InitVar[Isolated] = field(default="refuse", kw_only=True)

    def __post_init__(self, isolated: Isolated) -> None:
        checks.check_choice("isolated", isolated, ("refuse", "drop"))
        nodes = checks.check_nodes(self.nodes)
        self._set_arrays(nodes, checks.check_elements(self.triangles, 3, "triangle", len(nodes)))
        self._adopt_regions(isolated)

    @property
    def elements(self) -> IntArray:
        """The triangles."""
        return self.triangles

    @cached_property
    def edges(self) -> EdgeCount:
        """How many edges there are, are open, or join triangles of opposite orientation."""
        return count_edges(self.triangles)

    @cached_property
    def area_vectors(self) -> FloatArray:
        """Normal times area of each triangle [m²], (m, 3)."""
        a, b, c = (self.nodes[self.triangles[:, k]] for k in range(3))
        return np.cross(b - a, c - a) / 2.0

    @cached_property
    def area(self) -> float:
        """Total area [m²]."""
        return float(np.linalg.norm(self.area_vectors, axis=1).sum())

    @cached_property
    def volume(self) -> float:
        """Volume enclosed [m³], by the divergence theorem; negative for a surface turned inward."""
        centre = self.bounds.mean(axis=0)
        return float(np.einsum("ij,ij->", self.nodes[self.triangles[:, 0]] - centre, self.area_vectors) / 3.0)

    def _set_arrays(self, nodes: FloatArray, elements: IntArray) -> None:
        _store(self, nodes=nodes, triangles=elements)

    def _with(self, nodes: ArrayLike, elements: ArrayLike, regions: Mapping[str, Any]) -> Self:
        return type(self)(nodes, elements, regions)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"SurfaceMesh({len(self.nodes)} nodes, {len(self.triangles)} triangles)"


def _store(mesh: Mesh, **arrays: Any) -> None:
    for name, array in arrays.items():
        array.setflags(write=False)
        object.__setattr__(mesh, name, array)
