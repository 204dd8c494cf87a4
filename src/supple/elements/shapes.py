"""Shape functions and quadrature of the 4-node tetrahedron and the 8-node hexahedron.

    x(xi) = sum_a N_a(xi) x_a,    g_a = dN_a/dX = (dX/dxi)^-T dN_a/dxi,    F = sum_a x_a g_a^T

The tet has constant gradients and one point; the hex is trilinear with 2x2x2 Gauss points, exact for the stiffness
of a parallelepiped. Node order is VTK's.
"""

from __future__ import annotations

import numpy as np

Array = np.ndarray

HEX_CORNERS = np.array(
    [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], dtype=float
)
TET_GRADIENTS = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])


def hex_values(xi: Array) -> Array:
    """N_a at reference points xi (..., 3) in [-1, 1]³: (..., 8)."""
    return 0.125 * np.prod(1 + HEX_CORNERS * np.asarray(xi)[..., None, :], axis=-1)


def hex_gradients(xi: Array) -> Array:
    """dN_a/dxi at reference points xi (..., 3): (..., 8, 3)."""
    terms = 1 + HEX_CORNERS * np.asarray(xi)[..., None, :]
    out = np.empty(terms.shape)
    for j in range(3):
        k, l = (j + 1) % 3, (j + 2) % 3
        out[..., j] = 0.125 * HEX_CORNERS[:, j] * terms[..., k] * terms[..., l]
    return out


def quadrature(node_count: int) -> tuple[Array, Array, Array]:
    """Values N (points, nodes), reference gradients (points, nodes, 3) and weights (points,) of an element kind."""
    if node_count == 4:
        return np.full((1, 4), 0.25), TET_GRADIENTS[None], np.array([1 / 6])
    xi = HEX_CORNERS / np.sqrt(3)
    return hex_values(xi), hex_gradients(xi), np.ones(8)


def rest_gradients(X: Array, connectivity: Array) -> tuple[Array, Array]:
    """Gradients g (elements, points, nodes, 3) [1/m] and volume weights (elements, points) [m³] at rest positions X."""
    _, reference, weights = quadrature(connectivity.shape[1])
    jacobian = np.einsum("eai,qaj->eqij", X[connectivity], reference)  # dX_i/dxi_j
    determinant = np.linalg.det(jacobian)
    gradients = np.einsum("qaj,eqji->eqai", reference, np.linalg.inv(jacobian))
    return gradients, determinant * weights
