"""`modal_derivatives`: how modes bend as the solid deforms, from the exact St. Venant-Kirchhoff Hessian at rest.

    K phi_ij = -(H : psi_i) psi_j,     H = dK/du at rest                              [BJ05]
    (H : a) b = int (A C:sym B + B C:sym A + C:sym(A^T B)) grad N,   A = grad a, B = grad b, C the elastic moduli

phi_ij = phi_ji, the second derivative of the static response u(p) to loads along the modes. The masses' part of
the true derivative is left out (static derivatives). H is never formed: the bracket is the second differential of P(F).
Where the solid can move rigidly, the load is balanced by inertia and the rigid part of phi taken out, each exactly.
"""

from __future__ import annotations

import numpy as np

from supple.modal.solid import ElasticSolid
from supple.modal.support import Support

Array = np.ndarray


def pair_indices(count: int) -> tuple[Array, Array]:
    """i and j of all pairs i <= j < count in lexicographic order, (count (count + 1) / 2,) each."""
    return np.triu_indices(count)


def isotropic_stress(lam: Array, mu: Array, A: Array) -> Array:
    """C : sym A of matrices A (points, 3, 3, r) with lam, mu (points,) [Pa]."""
    out = mu[:, None, None, None] * (A + A.swapaxes(1, 2))
    trace = lam[:, None] * np.einsum("pkkl->pl", A)
    for k in range(3):
        out[:, k, k] += trace
    return out


def second_differential(solid: ElasticSolid, U: Array) -> Array:
    """(H : U_i) U_j for all pairs i <= j of columns U (3 node_count, r): (3 node_count, r (r + 1) / 2) [N]."""
    G = np.ascontiguousarray(solid.displacement_gradients(U).swapaxes(1, 2))  # G[p, i, j, l] = dU_i/dX_j
    weights, lam, mu = solid.point_values
    S = isotropic_stress(lam, mu, G)
    count, transpose = U.shape[1], solid.gradient_operator.T.tocsr()
    columns = []
    for i in range(count):
        A, B = G[..., i], G[..., i:]
        P = np.einsum("pij,pjkl->pikl", A, S[..., i:], optimize=True)
        P += np.einsum("pijl,pjk->pikl", B, S[..., i], optimize=True)
        P += isotropic_stress(lam, mu, np.einsum("pki,pkjl->pijl", A, B, optimize=True))
        P *= weights[:, None, None, None]
        stacked = np.ascontiguousarray(P.swapaxes(1, 2)).reshape(3 * len(weights), -1)  # rows (p, j), columns (i, l)
        columns.append((transpose @ stacked).reshape(3 * solid.node_count, count - i))
    return np.concatenate(columns, axis=1)


def modal_derivatives(support: Support, shapes: Array) -> Array:
    """phi_ij of all pairs i <= j of modes (3 node_count, k): (3 node_count, k (k + 1) / 2), not normalised."""
    return support.static_response(-second_differential(support.solid, shapes))
