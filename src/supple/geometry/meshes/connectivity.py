"""Which elements are neighbours: faces shared by two elements of a solid mesh, and pieces that hang together.

Elements are neighbours where they share a whole face; an edge or a node in common is no connection.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.csgraph import connected_components

from supple.geometry.meshes.element_shapes import triangulated_quads
from supple.geometry.meshes.mesh import HexMesh, SurfaceMesh, TetMesh
from supple.geometry.meshes.region import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SharedFaces:
    """Faces between two elements each.

    nodes: of the whole mesh [m], (n, 3). faces: node indices, (k, 3) or (k, 4). elements: the two sides, (k, 2), the
    smaller number first.
    """

    nodes: FloatArray
    faces: IntArray
    elements: IntArray

    @cached_property
    def triangles(self) -> IntArray:
        """Triangles of the faces, (k, t, 3): one a triangle, two a quad."""
        return self.faces[:, None] if self.faces.shape[1] == 3 else triangulated_quads(self.faces).reshape(-1, 2, 3)

    @cached_property
    def triangle_areas(self) -> FloatArray:
        """Areas of `triangles` [m²], (k, t)."""
        a, b, c = (self.nodes[self.triangles[..., j]] for j in range(3))
        return np.linalg.norm(np.cross(b - a, c - a), axis=-1) / 2.0

    @cached_property
    def areas(self) -> FloatArray:
        """Area of each face [m²], (k,)."""
        return self.triangle_areas.sum(axis=1)

    def node_areas(self, which: IntArray) -> FloatArray:
        """A third of the triangles around each node, over the faces `which`, for all nodes [m²], (n,)."""
        triangles, areas = self.triangles[which].reshape(-1, 3), self.triangle_areas[which].ravel()
        return np.bincount(triangles.ravel(), np.repeat(areas / 3.0, 3), minlength=len(self.nodes)).astype(float)

    def graph(self, element_count: int) -> sparse.csr_array:
        """Symmetric adjacency (element_count, element_count) with the areas of the faces [m²]."""
        a, b = self.elements.T
        half = sparse.coo_array((self.areas, (a, b)), shape=(element_count,) * 2)
        return (half + half.T).tocsr()


def shared_faces(mesh: TetMesh | HexMesh) -> SharedFaces:
    """All faces that two elements of the mesh share, in the order of the first element's faces."""
    width = mesh.element_faces.shape[1]
    faces = mesh.elements[:, mesh.element_faces].reshape(-1, width)
    owner = np.repeat(np.arange(len(mesh.elements)), len(mesh.element_faces))
    key = np.sort(faces, axis=1)
    order = np.lexsort((owner, *key.T[::-1]))
    same = (key[order[1:]] == key[order[:-1]]).all(axis=1)
    first, second = order[:-1][same], order[1:][same]
    at = np.argsort(first, kind="stable")
    return SharedFaces(mesh.nodes, faces[first[at]], np.stack([owner[first[at]], owner[second[at]]], axis=1))


def element_pieces(labels: IntArray, shared: SharedFaces) -> IntArray:
    """Number of the connected piece of each element, (m,), where faces join elements of equal label only.

    Pieces are numbered by their first element.
    """
    a, b = shared.elements[labels[shared.elements[:, 0]] == labels[shared.elements[:, 1]]].T
    links = sparse.coo_array((np.ones(len(a), np.int8), (a, b)), shape=(len(labels),) * 2)
    return _by_first(connected_components(links, directed=False)[1])


def surface_pieces(surface: SurfaceMesh) -> IntArray:
    """Number of the connected component of each triangle, (m,), joined where triangles share a node.

    Components are numbered by their first triangle.
    """
    a = surface.triangles[:, [0, 1]].ravel()
    b = surface.triangles[:, [1, 2]].ravel()
    links = sparse.coo_array((np.ones(len(a), np.int8), (a, b)), shape=(len(surface.nodes),) * 2)
    return _by_first(connected_components(links, directed=False)[1][surface.triangles[:, 0]])


def _by_first(numbers: IntArray) -> IntArray:
    """Groups renumbered in the order of their first member."""
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse.ravel()]
