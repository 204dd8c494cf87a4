"""Points carried by a mesh: in which element each lies, and with which weights it follows the nodes.

x(p) = Σ_i w_i x_i with Σ_i w_i = 1: barycentric in tets, trilinear in hexes. Points outside follow the
element behind the nearest boundary point, extrapolated to first order. So affine fields are reproduced
everywhere, inside or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError, check_instance
from supple.geometry.grids.spatial_hash import make_cell_grid
from supple.geometry.meshes.embedding_kernels import extrapolate_points, locate_points
from supple.geometry.meshes.mesh import HexMesh, TetMesh
from supple.geometry.meshes.mesh_checks import check_nodes
from supple.geometry.meshes.region import FloatArray, IntArray
from supple.geometry.surfaces.triangle_tree import compute_nearest, make_triangle_tree

if TYPE_CHECKING:
    from scipy.sparse import csr_array

INSIDE = 1e-9  # how far outside, in units of the element, still counts as inside


@dataclass(frozen=True, eq=False)
class Embedding:
    """elements: (k,). nodes: (k, 4) or (k, 8). weights: [-], same shape, rows sum to one.

    outside: numbers of the points outside the mesh, (j,). distances: how far each of these is outside [m].
    """

    elements: IntArray
    nodes: IntArray
    weights: FloatArray
    outside: IntArray
    distances: FloatArray
    node_count: int

    @property
    def outside_count(self) -> int:
        """How many points lie outside the mesh."""
        return len(self.outside)

    @property
    def largest_distance(self) -> float:
        """How far the farthest point lies outside [m]; 0 where all lie inside."""
        return float(self.distances.max(initial=0.0))

    def apply(self, values: ArrayLike) -> FloatArray:
        """Interpolate nodal values (n,) or (n, d) to the points, (k,) or (k, d)."""
        field = np.asarray(values, dtype=np.float64)
        if field.shape[:1] != (self.node_count,):
            raise InputError("there is not one value a node", value=field.shape, allowed=f"({self.node_count}, ...)")
        return np.einsum("kw,kw...->k...", self.weights, field[self.nodes])

    def matrix(self) -> csr_array:
        """The same as a sparse matrix, (k, n)."""
        from scipy.sparse import csr_array

        count, width = self.nodes.shape
        start = np.arange(0, (count + 1) * width, width)
        matrix = csr_array((self.weights.ravel(), self.nodes.ravel(), start), shape=(count, self.node_count))
        return matrix.sorted_indices()


def embed(points: ArrayLike, mesh: TetMesh | HexMesh) -> Embedding:
    """Embed points [m], (k, 3), in a tet or hex mesh."""
    p = check_nodes(points)
    check_instance(mesh, (TetMesh, HexMesh), "a mesh of tets or hexes", where="embed")
    corners = mesh.nodes[mesh.elements]
    slack = 1e-9 * mesh.diagonal
    lower, upper = corners.min(axis=1) - slack, corners.max(axis=1) + slack
    elements, outside = np.empty(len(p), np.int64), np.empty(len(p))
    weights = np.empty((len(p), mesh.elements.shape[1]))
    grid = make_cell_grid(lower, upper)
    locate_points(p, mesh.nodes, mesh.elements, lower, upper, grid, elements, weights, outside)
    strays = np.flatnonzero(outside > INSIDE)
    distances = np.zeros(0)
    if strays.size:
        nearest, distances = _nearest_elements(p[strays], mesh)
        # A point in a rounding gap between two inner elements stays with the one it hardly misses. A point
        # truly outside misses by about its distance: the factor only has to stand between the two cases.
        missed = outside[strays] * (upper - lower).max(axis=1)[elements[strays]]
        is_stray = distances <= 100.0 * missed
        strays, distances, nearest = strays[is_stray], distances[is_stray], nearest[is_stray]
        found = np.empty((len(strays), weights.shape[1]))
        away = p[strays]
        away.setflags(write=False)  # like p, so that the kernels are compiled once
        extrapolate_points(away, mesh.nodes, mesh.elements, nearest, found)
        elements[strays], weights[strays] = nearest, found
    nodes = mesh.elements[elements]
    for array in (elements, nodes, weights, strays, distances):
        array.setflags(write=False)
    return Embedding(elements, nodes, weights, strays, distances, len(mesh.nodes))


def _nearest_elements(points: FloatArray, mesh: TetMesh | HexMesh) -> tuple[IntArray, FloatArray]:
    """The element behind the nearest boundary point, (k,), and its distance [m], (k,)."""
    tree = make_triangle_tree(mesh.nodes, mesh.boundary.triangles)
    triangle, nearest = np.empty(len(points), np.int64), np.empty((len(points), 3))
    distance = np.empty(len(points))
    compute_nearest(points, tree, triangle, nearest, distance)
    return mesh.boundary.triangle_elements[triangle], distance
