"""Volumes, edges and faces of the elements, with VTK's numbering of nodes.

Faces are listed so that their normals, by the right-hand rule, point out of a positively oriented element.
"""

from __future__ import annotations

import numpy as np

from supple.geometry.meshes.region import FloatArray, IntArray

TET_FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])
TET_EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
HEX_FACES = np.array([[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]])
HEX_EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]])
HEX_CORNERS = np.array(  # reference coordinates of the eight corners, in [-1, 1]³
    [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]],
    dtype=np.float64,
)
HEX_GAUSS = HEX_CORNERS / np.sqrt(3.0)  # the 2x2x2 points, each of weight 1
HEX_CENTRE = np.zeros((1, 3))


def tet_volumes(nodes: FloatArray, tets: IntArray) -> FloatArray:
    """Signed volumes [m³], (m,): (x1 - x0) · ((x2 - x0) × (x3 - x0)) / 6."""
    corner = nodes[tets[:, 0]]
    a, b, c = (nodes[tets[:, k]] - corner for k in (1, 2, 3))
    return np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0


def trilinear_gradients(points: FloatArray) -> FloatArray:
    """∂N_i/∂ξ_j of the eight trilinear shape functions at reference points (k, 3): (k, 8, 3)."""
    factors = 1.0 + points[:, None, :] * HEX_CORNERS  # (k, 8, 3)
    x, y, z = factors[..., 0], factors[..., 1], factors[..., 2]
    return np.stack([y * z, x * z, x * y], axis=-1) * HEX_CORNERS / 8.0


def hex_jacobians(nodes: FloatArray, hexes: IntArray, points: FloatArray = HEX_GAUSS) -> FloatArray:
    """det(∂x/∂ξ) [m³] at reference points (k, 3), (m, k); over the Gauss points it sums to the volume."""
    corners = nodes[hexes]
    determinants = np.empty((len(hexes), len(points)))
    for k, gradient in enumerate(trilinear_gradients(points)):
        a, b, c = (np.tensordot(corners, gradient[:, j], axes=(1, 0)) for j in range(3))
        determinants[:, k] = np.einsum("ij,ij->i", a, np.cross(b, c))
    return determinants


def longest_edges(nodes: FloatArray, elements: IntArray, edges: IntArray) -> FloatArray:
    """Length [m] of each element's longest edge, (m,)."""
    longest = np.zeros(len(elements))
    for a, b in edges:
        side = nodes[elements[:, a]] - nodes[elements[:, b]]
        np.maximum(longest, np.einsum("ij,ij->i", side, side), out=longest)
    return np.sqrt(longest)


def triangulated_quads(quads: IntArray) -> IntArray:
    """Two triangles a quad, (2k, 3), split along the diagonal from the quad's smallest node.

    The rule depends on node numbers alone, so that two elements that share a quad split it alike.
    """
    first = np.argmin(quads, axis=1)[:, None]
    turned = np.take_along_axis(quads, (first + np.arange(4)) % 4, axis=1)
    return turned[:, [[0, 1, 2], [0, 2, 3]]].reshape(-1, 3)
