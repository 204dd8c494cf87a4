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
CHUNK = 4096
"""Quadrature points taken at a time."""


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
    count, total = U.shape[1], len(solid.point_values[0])
    starts = np.concatenate([[0], np.cumsum(np.arange(count, 0, -1))])  # first pair of each i
    out = np.zeros((solid.node_count, 3, int(starts[-1])))
    values = U.reshape(solid.node_count, 3 * count)
    for start in range(0, total, CHUNK):
        stop = min(start + CHUNK, total)
        weights, lam, mu = (value[start:stop] for value in solid.point_values)
        operator = solid.gradient_operator[3 * start : 3 * stop]
        G = np.ascontiguousarray((operator @ values).reshape(-1, 3, 3, count).swapaxes(1, 2))  # dU_i/dX_j
        S, transpose = isotropic_stress(lam, mu, G), operator.T.tocsr()
        for i in range(count):
            A, B = G[..., i], G[..., i:]
            P = np.einsum("pij,pjkl->pikl", A, S[..., i:], optimize=True)
            P += np.einsum("pijl,pjk->pikl", B, S[..., i], optimize=True)
            P += isotropic_stress(lam, mu, np.einsum("pki,pkjl->pijl", A, B, optimize=True))
            P *= weights[:, None, None, None]
            stacked = np.ascontiguousarray(P.swapaxes(1, 2)).reshape(3 * (stop - start), -1)  # rows (p, j)
            out[:, :, starts[i] : starts[i + 1]] += (transpose @ stacked).reshape(-1, 3, count - i)
    return out.reshape(3 * solid.node_count, -1)


def modal_derivatives(support: Support, shapes: Array) -> Array:
    """phi_ij of all pairs i <= j of modes (3 node_count, k): (3 node_count, k (k + 1) / 2), not normalised."""
    return support.static_response(-second_differential(support.solid, shapes))
