"""The boundary of a solid mesh: faces that belong to one element only, turned outward."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from supple.errors import InputError
from supple.geometry.meshes.boundary_kernels import compute_face_keys, compute_face_multiplicity
from supple.geometry.meshes.element_shapes import triangulated_quads
from supple.geometry.meshes.region import FloatArray, IntArray

if TYPE_CHECKING:
    from supple.geometry.meshes.mesh import SurfaceMesh


@dataclass(frozen=True, eq=False)
class Boundary:
    """Outward boundary faces in the numbering of the parent mesh.

    nodes: all nodes of the parent mesh [m], (n, 3). faces: (k, 3) of tets or (k, 4) of hexes.
    face_elements: the element behind each face, (k,).
    """

    nodes: FloatArray
    faces: IntArray
    face_elements: IntArray

    @cached_property
    def triangles(self) -> IntArray:
        """Outward triangles in the parent's node numbers: (k, 3), or (2k, 3) where the faces are quads."""
        return self.faces if self.faces.shape[1] == 3 else _read_only(triangulated_quads(self.faces))

    @cached_property
    def triangle_elements(self) -> IntArray:
        """The element behind each triangle, in the order of `triangles`."""
        if self.faces.shape[1] == 3:
            return self.face_elements
        return _read_only(np.repeat(self.face_elements, 2))

    @cached_property
    def node_indices(self) -> IntArray:
        """The parent's nodes that lie on the boundary, ascending."""
        return _read_only(np.unique(self.faces))

    @cached_property
    def surface(self) -> SurfaceMesh:
        """The boundary alone: node i of this surface is node `node_indices[i]` of the parent."""
        from supple.geometry.meshes.mesh import SurfaceMesh

        return SurfaceMesh(self.nodes[self.node_indices], np.searchsorted(self.node_indices, self.triangles))


def make_boundary(nodes: FloatArray, elements: IntArray, element_faces: IntArray, kind: str) -> Boundary:
    """Faces that one element owns; refuses meshes in which elements overlap.

    element_faces (faces an element, 3 or 4): local node numbers, outward. kind: 'tet' or 'hex', for messages.
    """
    faces = np.ascontiguousarray(elements[:, element_faces].reshape(-1, element_faces.shape[1]))
    key, forward = np.empty_like(faces), np.empty(len(faces), np.int64)
    compute_face_keys(faces, key, forward)
    order, multiplicity = np.empty(len(faces), np.int64), np.empty(len(faces), np.int64)
    compute_face_multiplicity(key, forward, np.zeros(len(nodes) + 1, np.int64), order, multiplicity)
    overlapping = np.flatnonzero(multiplicity > 2)
    if overlapping.size:
        raise InputError(
            f"{kind} {overlapping[0] // len(element_faces)} overlaps another: both lie on one side of a face",
            value=faces[overlapping[0]].tolist(),
            fix="Remove doubled elements.",
        )
    outer = np.flatnonzero(multiplicity == 1)
    return Boundary(nodes, _read_only(faces[outer]), _read_only(outer // len(element_faces)))


def _read_only(array: IntArray) -> IntArray:
    array.setflags(write=False)
    return array
