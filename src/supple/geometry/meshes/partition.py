"""Parts of a mesh as meshes of their own, with the regions that fall into them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np

from supple.geometry.meshes.mesh import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.meshes.region import IntArray, Region

AnyMesh = TypeVar("AnyMesh", bound=TetMesh | HexMesh | SurfaceMesh)


@dataclass(frozen=True, eq=False)
class Part(Generic[AnyMesh]):
    """A part of a mesh. nodes: number in the whole mesh of each of its nodes, ascending. elements: likewise."""

    mesh: AnyMesh
    nodes: IntArray
    elements: IntArray

    def local(self, nodes: IntArray) -> IntArray:
        """Numbers in the part of nodes of the whole mesh, all of which must be in it."""
        return np.searchsorted(self.nodes, nodes)


def part_of(mesh: AnyMesh, elements: IntArray) -> Part[AnyMesh]:
    """The elements `elements`, ascending, as a mesh. Of each region it keeps what falls into the part.

    >>> from supple.geometry import box_tets
    >>> beam = box_tets((1, 0.1, 0.1), (10, 1, 1))
    >>> len(part_of(beam, np.arange(6)).mesh.nodes)
    8
    """
    nodes, local = np.unique(mesh.elements[elements], return_inverse=True)
    inside = np.zeros(len(mesh.nodes), dtype=bool)
    inside[nodes] = True
    owned = _face_keys(mesh, elements) if any(r.faces.size for r in mesh.regions.values()) else set()
    regions = {}
    for name, region in mesh.regions.items():
        faces = [face for face in region.faces.tolist() if frozenset(face) in owned]
        kept = Region(
            np.searchsorted(nodes, region.nodes[inside[region.nodes]]),
            np.flatnonzero(np.isin(elements, region.elements)),
            np.searchsorted(nodes, np.array(faces, dtype=np.int64)) if faces else np.empty((0, 3), np.int64),
        )
        if not kept.is_empty:
            regions[name] = kept
    part = type(mesh)(mesh.nodes[nodes], local.reshape(mesh.elements[elements].shape), regions)
    return Part(part, nodes, elements)


def _face_keys(mesh: TetMesh | HexMesh | SurfaceMesh, elements: IntArray) -> set[frozenset[int]]:
    """Node sets of all faces of these elements."""
    if isinstance(mesh, SurfaceMesh):
        return set()
    rows = mesh.elements[elements][:, mesh.element_faces].reshape(-1, mesh.element_faces.shape[1])
    return {frozenset(face) for face in rows.tolist()}
