"""`SignedDistance`: distance to a closed surface, negative inside.

The sign is that of (p - nearest) . n with n the normal of the nearest feature: of a triangle, the sum of the two of an
edge, the sum over a corner weighted by angles [BA05]. It is exact for a closed surface that does not cut itself.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError
from supple.geometry.meshes.mesh import SurfaceMesh
from supple.geometry.meshes.mesh_checks import check_nodes
from supple.geometry.meshes.region import FloatArray, IntArray
from supple.geometry.surfaces.surface_edges import check_closed
from supple.geometry.surfaces.triangle_tree import compute_nearest, make_triangle_tree

ON_EDGE = 1e-9
"""A barycentric weight below it is zero: the nearest point lies on an edge or a corner."""


class SignedDistance:
    """The distance to one surface, asked at points (k, 3) [m].

    >>> from supple.geometry import sphere_tets
    >>> ball = sphere_tets(1.0, 4).boundary
    >>> distance = SignedDistance(SurfaceMesh(sphere_tets(1.0, 4).nodes, ball.triangles, isolated="drop"))
    >>> bool(distance([(0, 0, 0)])[0] < -0.9), bool(abs(distance([(0, 0, 3)])[0] - 2) < 1e-12)
    (True, True)
    """

    def __init__(self, surface: SurfaceMesh, *, needed_for: str = "a signed distance") -> None:
        check_closed(surface.edges, needed_for, "Close its holes, or weld doubled nodes with surface.welded().")
        if not surface.edges.is_oriented:
            raise InputError(
                f"the triangles disagree about the outside along {surface.edges.torn} edges",
                fix="Orient them alike, counter-clockwise seen from outside.",
            )
        if not surface.volume > 0:
            raise InputError(
                "the surface is turned inside out", value=surface.volume, fix="Reverse its triangles: [:, ::-1]."
            )
        self.surface = surface
        self._tree = make_triangle_tree(surface.nodes, surface.triangles)

    @cached_property
    def _normals(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Of triangles (m, 3), of their edges opposite to each corner (m, 3, 3), and of nodes (n, 3); not unit ones."""
        triangles, corners = self.surface.triangles, self.surface.nodes[self.surface.triangles]
        n = self.surface.area_vectors / np.maximum(np.linalg.norm(self.surface.area_vectors, axis=1), 1e-300)[:, None]
        nodes = np.zeros_like(self.surface.nodes)
        for k in range(3):
            a, b = corners[:, (k + 1) % 3] - corners[:, k], corners[:, (k + 2) % 3] - corners[:, k]
            size = np.linalg.norm(a, axis=1) * np.linalg.norm(b, axis=1)
            angle = np.arccos(np.clip(np.einsum("ij,ij->i", a, b) / np.maximum(size, 1e-300), -1.0, 1.0))
            np.add.at(nodes, triangles[:, k], angle[:, None] * n)
        ends = np.sort(triangles[:, [[1, 2], [2, 0], [0, 1]]].reshape(-1, 2), axis=1)
        _, number = np.unique(ends[:, 0] * len(nodes) + ends[:, 1], return_inverse=True)
        edges = np.zeros((number.max() + 1, 3))
        np.add.at(edges, number, np.repeat(n, 3, axis=0))
        return n, edges[number].reshape(-1, 3, 3), nodes

    def nearest(self, points: ArrayLike) -> tuple[IntArray, FloatArray, FloatArray]:
        """Nearest triangle (k,), the point on it (k, 3) [m] and the distance (k,) [m], never negative."""
        p = check_nodes(points)
        triangle, nearest, distance = np.empty(len(p), np.int64), np.empty((len(p), 3)), np.empty(len(p))
        compute_nearest(p, self._tree, triangle, nearest, distance)
        return triangle, nearest, distance

    def __call__(self, points: ArrayLike) -> FloatArray:
        """Distance [m], negative inside, (k,)."""
        p = check_nodes(points)
        triangle, nearest, distance = self.nearest(p)
        normal, edge, node = self._normals
        a, b, c = np.moveaxis(self.surface.nodes[self.surface.triangles[triangle]], 1, 0)
        area = np.cross(b - a, c - a)
        size = np.maximum(np.einsum("ij,ij->i", area, area), 1e-300)
        weights = np.stack(
            [
                np.einsum("ij,ij->i", np.cross(v - nearest, w - nearest), area) / size
                for v, w in ((b, c), (c, a), (a, b))
            ],
            axis=1,
        )
        zero = weights < ON_EDGE
        count, rows = zero.sum(axis=1), np.arange(len(p))
        out = normal[triangle]
        out = np.where((count == 1)[:, None], edge[triangle, np.argmax(zero, axis=1)], out)
        at_corner = node[self.surface.triangles[triangle, np.argmax(weights, axis=1)]]
        out = np.where((count >= 2)[:, None], at_corner, out)
        sign = np.einsum("ij,ij->i", p[rows] - nearest, out)
        return np.where(sign < 0, -distance, distance)
