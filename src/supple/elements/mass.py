"""Mass of finite elements: consistent m_ab = int rho N_a N_b, and lumped m_a = sum_b m_ab.

The matrix acts on each of the three directions alike: M = m ⊗ I3. For the tet m_ab = rho V (1 + d_ab) / 20, exactly;
the hex is integrated with 3x3x3 Gauss points, exact for a parallelepiped.
"""

from __future__ import annotations

import numpy as np

from supple.elements.shapes import hex_gradients, hex_values

Array = np.ndarray


def element_masses(X: Array, connectivity: Array, density: Array) -> Array:
    """Consistent element masses (element_count, node_count, node_count) [kg]."""
    density = np.broadcast_to(density, len(connectivity))
    corners = X[connectivity]
    if connectivity.shape[1] == 4:
        volume = np.linalg.det(corners[:, 1:] - corners[:, :1]) / 6
        return (density * volume)[:, None, None] * (np.ones((4, 4)) + np.eye(4)) / 20
    line, weight = np.polynomial.legendre.leggauss(3)
    xi = np.stack(np.meshgrid(line, line, line, indexing="ij"), axis=-1).reshape(-1, 3)
    weights, N = np.einsum("i,j,k->ijk", weight, weight, weight).ravel(), hex_values(xi)
    x, y, z = np.einsum("eai,qaj->jeqi", corners, hex_gradients(xi), optimize=True)  # dX/dxi_j
    determinant = np.einsum("eqi,eqi->eq", x, np.cross(y, z))
    products = (N[:, :, None] * N[:, None, :]).reshape(27, 64)
    return ((density[:, None] * determinant * weights) @ products).reshape(-1, 8, 8)


def lumped_mass(X: Array, connectivity: Array, density: Array) -> Array:
    """Row sums of the consistent mass, (node_count,) [kg]."""
    m = element_masses(X, connectivity, density).sum(axis=2)
    return np.bincount(connectivity.ravel(), weights=m.ravel(), minlength=len(X))
