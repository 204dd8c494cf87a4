"""`MassIntegrals`: the constants of a domain's inertia in its frame [BZ11, app. B].

    m = int rho      S0 = int rho X      P0 = int rho X X^T      Ub = int rho U
    W5_l = int rho U_l X^T               W7_lp = int rho U_l U_p^T

    paper       code                        meaning
    W1_l        -Ub_l                       - int rho U_l
    W2_l        `W2`                        int rho X x U_l
    W3_l        `W3`, tr W5_l               int rho U_l . X
    W4_lp       `W4`, tr W7_lp              int rho U_p . U_l, the reduced mass
    W5_l        `W5` (r, 3, 3)              int rho U_l X^T
    W6_lp       `W6` (r, r, 3)              int rho U_p x U_l, the row U_p^T skew(U_l); antisymmetric in l, p
    W7_lp       `W7` (r, r, 3, 3)           int rho U_l U_p^T

All are products of the nodal mass matrix, consistent or lumped, with (X | U): one matrix product gives them. What
depends on the state follows from N_l(q) = int rho U_l x^T = W5_l + sum_p q_p W7_lp alone; see `inertia_kernels`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.errors import InputError
from supple.modal.solid import ElasticSolid

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class MassIntegrals:
    """mass [kg]; S0 (3,) [kg m]; P0 (3, 3) [kg m²]; U_bar (3, r) [kg]; W5 (r, 3, 3) [kg m]; W7 (r, r, 3, 3) [kg]."""

    mass: float
    S0: Array
    P0: Array
    U_bar: Array
    W5: Array
    W7: Array

    @classmethod
    def of(cls, solid: ElasticSolid, U: Array) -> MassIntegrals:
        """Of a solid in the basis U (3 node_count, r), with the solid's own kind of mass."""
        n, r = solid.node_count, U.shape[1] if U.ndim == 2 else 0
        if U.shape != (3 * n, r):
            raise InputError("the basis does not fit the solid", value=U.shape, allowed=f"({3 * n}, r)")
        modes = U.reshape(n, 3, r).transpose(0, 2, 1).reshape(n, 3 * r)  # columns (l, i)
        fields = np.concatenate([np.ones((n, 1)), solid.mesh.nodes, modes], axis=1)
        gram = fields.T @ (solid.node_mass @ fields)
        W7 = gram[4:, 4:].reshape(r, 3, r, 3).transpose(0, 2, 1, 3)
        W7 = 0.5 * (W7 + W7.transpose(1, 0, 3, 2))
        return cls(
            mass=float(gram[0, 0]),
            S0=gram[0, 1:4],
            P0=0.5 * (gram[1:4, 1:4] + gram[1:4, 1:4].T),
            U_bar=np.ascontiguousarray(gram[0, 4:].reshape(r, 3).T),
            W5=np.ascontiguousarray(gram[4:, 1:4].reshape(r, 3, 3)),
            W7=np.ascontiguousarray(W7),
        )

    @property
    def count(self) -> int:
        """r."""
        return len(self.W5)

    @property
    def W1(self) -> Array:
        """(r, 3) [kg]."""
        return -self.U_bar.T

    @property
    def W2(self) -> Array:
        """(r, 3) [kg m]."""
        return axial_twice(self.W5)

    @property
    def W3(self) -> Array:
        """(r,) [kg m]."""
        return np.trace(self.W5, axis1=1, axis2=2)

    @property
    def W4(self) -> Array:
        """(r, r) [kg]: U^T M U."""
        return np.trace(self.W7, axis1=2, axis2=3)

    @property
    def W6(self) -> Array:
        """(r, r, 3) [kg]; [l, p] is int rho U_p x U_l, the transpose of the paper's row."""
        return axial_twice(self.W7)

    def scaled(self, factor: float) -> MassIntegrals:
        """Of the solid s = `factor` times as large, with the same basis: s³ m, Ub, W7; s⁴ S0, W5; s⁵ P0."""
        cube = factor**3
        return MassIntegrals(
            cube * self.mass, cube * factor * self.S0, cube * factor**2 * self.P0,
            cube * self.U_bar, cube * factor * self.W5, cube * self.W7,
        )  # fmt: skip


def axial_twice(N: Array) -> Array:
    """2 skew(N) of matrices (..., 3, 3): for N = u x^T it is x x u, (..., 3)."""
    return np.stack([N[..., 2, 1] - N[..., 1, 2], N[..., 0, 2] - N[..., 2, 0], N[..., 1, 0] - N[..., 0, 1]], axis=-1)
