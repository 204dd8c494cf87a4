"""Centrifugal stiffening: what the tension of a spinning body adds to the stiffness of its modes.

    b_ij = int rho N (d_ij X - (e_i X_j + e_j X_i) / 2)      so that sum w_i w_j b_ij is the centrifugal load at rest
    sigma_ij                                                 its stress, from a static solution under the support
    G_lp,ij = int grad U_l : (grad U_p sigma_ij)             geometric stiffness of the modes, (r, r, 3, 3)

A linear model forgets that a bent beam is drawn towards its hub: without that, a spin faster than the lowest bending
frequency tears it apart, where a real beam grows stiffer [KRB87]. The missing part is quadratic in q, and adds

    T += -1/2 sum_lp q_l q_p w . G_lp w                      to the kinetic energy

so that the modes get the stiffness sum w_i w_j G_ij and the inertia J(q) loses sum q_l q_p G_lp, the shortening of the
body. As a part of the energy it keeps energy and momentum. Since J = tr(P) I - P with P = ... + sum q_l q_p W7_lp, the
same comes from taking tr(G)/2 I - G from W7; what is symmetric there touches nothing else. Left out: the coupling of
the shortening with accelerations of the frame, which is small where the spin changes slowly.
"""

from __future__ import annotations

import numpy as np

from supple.errors import InputError
from supple.modal.solid import ElasticSolid
from supple.modal.support import Support

Array = np.ndarray
PAIRS = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))


def unit_centrifugal_loads(solid: ElasticSolid, X: Array) -> Array:
    """b_ij for the six `PAIRS`, (3 node_count, 6) [N s²]; X (node_count, 3): positions in the frame [m]."""
    fields = np.zeros((len(X), 3, 6))
    for k, (i, j) in enumerate(PAIRS):
        if i == j:
            fields[:, :, k] = X
        fields[:, i, k] -= 0.5 * X[:, j]
        fields[:, j, k] -= 0.5 * X[:, i]
    return solid.mass_product(fields.reshape(3 * len(X), 6))


def stress_of(solid: ElasticSolid, u: Array) -> Array:
    """Linear stress (points, 3, 3, k) [Pa] of displacements u (3 node_count, k) at the quadrature points."""
    _, lam, mu = solid.point_values
    G = solid.displacement_gradients(u)
    out = mu[:, None, None, None] * (G + np.swapaxes(G, 1, 2))
    trace = lam[:, None] * np.einsum("piik->pk", G)
    for i in range(3):
        out[:, i, i] += trace
    return out


def centrifugal_stiffness(support: Support, U: Array, X: Array) -> Array:
    """G (r, r, 3, 3) [kg] of modes U (3 node_count, r), for a frame at the origin of X (node_count, 3) [m]."""
    solid = support.solid
    if not isinstance(solid, ElasticSolid):
        raise InputError(
            "stiffening needs the elements and their material",
            where="FloatingBody",
            fix="Build the body from an ElasticSolid, or leave stiffening out.",
        )
    stress = stress_of(solid, support.static_response(unit_centrifugal_loads(solid, X)))
    weights = solid.point_values[0]
    gradients = solid.displacement_gradients(U)  # [p, j, a, l] = dU_a/dX_j
    r = U.shape[1]
    rows = gradients.reshape(len(weights), 3, 3 * r)
    out = np.empty((r, r, 3, 3))
    for k, (i, j) in enumerate(PAIRS):
        pulled = np.einsum("pjk,pkc->pjc", stress[..., k] * weights[:, None, None], rows, optimize=True)
        G = np.einsum("pjal,pjam->lm", gradients, pulled.reshape(-1, 3, 3, r), optimize=True)
        out[:, :, i, j] = out[:, :, j, i] = 0.5 * (G + G.T)
    return out


def turning_part(W7: Array, G: Array) -> Array:
    """W7 - (tr(G)/2 I - G), the W7 that the turning inertia is made with."""
    return W7 - (0.5 * np.trace(G, axis1=2, axis2=3)[..., None, None] * np.eye(3) - G)  # (11.13)
