"""Stress and strain of elements at given positions, at the centroid of each.

    F = sum_a x_a g_a^T,  E = (F^T F - I)/2 Green's strain,  sigma = P F^T / det F  Cauchy's stress [Pa]

For the linear law, the strain is sym F - I and the stress the linear one; for the others these are exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.elements.shapes import TET_GRADIENTS, hex_gradients
from supple.material import Law

Array = np.ndarray


class ElementStress(NamedTuple):
    """strain (element_count, 3, 3) [-], stress (element_count, 3, 3) [Pa], von_mises (element_count,) [Pa]."""

    strain: Array
    stress: Array
    von_mises: Array

    def turned(self, R: Array, placed: Array) -> ElementStress:
        """Of a body whose axes are R (3, 3) in the world now, and were `placed` (3, 3) at the start: Cauchy's stress in
        the axes of the world, strain in those of the body at its start, as it stood in the world."""
        return ElementStress(placed @ self.strain @ placed.T, R @ self.stress @ R.T, self.von_mises)


def first_piola(law: Law, F: Array, lam: Array, mu: Array) -> Array:
    """P = dpsi/dF [Pa] for F (..., 3, 3), vectorised; the rival of the compiled `supple.elements.laws.stress`."""
    from supple.algebra.dense.polar import polar_decompose

    I = np.eye(3)
    lam, mu = np.asarray(lam)[..., None, None], np.asarray(mu)[..., None, None]

    def trace(A: Array) -> Array:
        return np.trace(A, axis1=-2, axis2=-1)[..., None, None]

    if law == Law.LINEAR:
        e = (F + np.swapaxes(F, -1, -2)) / 2 - I
        return 2 * mu * e + lam * trace(e) * I  # (6.5)
    if law == Law.COROTATIONAL:
        R, S = polar_decompose(F)
        return 2 * mu * (F - R) + lam * trace(S - I) * R  # (6.6)
    if law == Law.STVK:
        E = (np.swapaxes(F, -1, -2) @ F - I) / 2
        return F @ (2 * mu * E + lam * trace(E) * I)  # (6.7)
    m, l = 4 / 3 * mu, lam + 5 / 6 * mu
    cofactor = np.stack(
        [np.cross(F[..., (i + 1) % 3, :], F[..., (i + 2) % 3, :]) for i in range(3)], axis=-2
    )  # rows of det(F) F^-T
    J = np.linalg.det(F)[..., None, None]
    norm = (F * F).sum(axis=(-1, -2))[..., None, None]
    return m * (1 - 1 / (norm + 1)) * F + (l * (J - 1) - 0.75 * m) * cofactor  # (6.8)


def element_stress(X: Array, connectivity: Array, law: Law, lam: Array, mu: Array, x: Array) -> ElementStress:
    """Strain and stress at the centroids, for rest positions X and positions x, both (node_count, 3) [m]."""
    reference = TET_GRADIENTS if connectivity.shape[1] == 4 else hex_gradients(np.zeros(3))
    jacobian = np.einsum("eai,aj->eij", X[connectivity], reference)
    gradients = np.einsum("aj,eji->eai", reference, np.linalg.inv(jacobian))
    F = np.einsum("eai,eaj->eij", x[connectivity], gradients)
    P = first_piola(law, F, np.broadcast_to(lam, len(F)), np.broadcast_to(mu, len(F)))
    if law == Law.LINEAR:
        strain, stress = (F + np.swapaxes(F, 1, 2)) / 2 - np.eye(3), P
    else:
        strain = (np.swapaxes(F, 1, 2) @ F - np.eye(3)) / 2
        stress = P @ np.swapaxes(F, 1, 2) / np.linalg.det(F)[:, None, None]
    deviator = stress - np.trace(stress, axis1=1, axis2=2)[:, None, None] / 3 * np.eye(3)
    return ElementStress(strain, stress, np.sqrt(1.5 * (deviator * deviator).sum(axis=(1, 2))))
