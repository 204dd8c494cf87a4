"""`modal_derivatives`: how modes bend as the solid deforms, from the exact St. Venant-Kirchhoff Hessian at rest.

    K phi_ij = -(H : psi_i) psi_j,     H = dK/du at rest                              [BJ05]
    (H : a) b = int (A C:sym B + B C:sym A + C:sym(A^T B)) grad N,   A = grad a, B = grad b, C the elastic moduli

phi_ij = phi_ji, the second derivative of the static response u(p) to loads along the modes. The masses' part of
the true derivative is left out (static derivatives). H is never formed: the bracket is the second differential of P(F).
Where the solid can move rigidly, the load is balanced by inertia and the rigid part of phi taken out, each exactly.
"""

from __future__ import annotations

import numpy as np

from supple.algebra.lanes.lane_type import LANES
from supple.modal.derivative_kernels import add_second_differential
from supple.modal.solid import ElasticSolid
from supple.modal.support import Support

Array = np.ndarray


def pair_indices(count: int) -> tuple[Array, Array]:
    """i and j of all pairs i <= j < count in lexicographic order, (count (count + 1) / 2,) each."""
    return np.triu_indices(count)


def second_differential(solid: ElasticSolid, U: Array) -> Array:
    """(H : U_i) U_j for all pairs i <= j of columns U (3 node_count, r): (3 node_count, r (r + 1) / 2) [N]."""
    count, elements = U.shape[1], solid.mesh.elements
    padded = np.zeros((solid.node_count, 3, LANES * ((count + LANES - 1) // LANES)))
    padded[:, :, :count] = U.reshape(solid.node_count, 3, count)
    out = np.zeros((solid.node_count, 3, count * (count + 1) // 2))
    lam, mu = (np.ascontiguousarray(solid.element_values(name)) for name in ("lam", "mu"))
    # a product of three gradients: degree 3 in each coordinate of a parallelepiped
    add_second_differential(elements.astype(np.int64), *solid.few_points, lam, mu, padded, count, out)
    return out.reshape(3 * solid.node_count, -1)


def modal_derivatives(support: Support, shapes: Array) -> Array:
    """phi_ij of all pairs i <= j of modes (3 node_count, k): (3 node_count, k (k + 1) / 2), not normalised."""
    return support.static_response(-second_differential(support.solid, shapes))
