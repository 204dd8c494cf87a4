"""The linear system of an implicit step of a layered body, by the Schur complement on its six rigid coordinates.

    [ A_cc   C  ] [ d_c ]   [ r_c ]        A_ee = a m + b K_s     sparse, constant: factored once for a step size
    [ C^T  A_ee ] [ d_e ] = [ r_e ]        C_a  = m_a (I; [u_a])  six rows, which change with u

    z = A_ee^-1 r_e,   (A_cc - C Y) d_c = r_c - C z,   d_e = z - Y d_c,     Y = A_ee^-1 C^T

All in body axes, where C is constant but for the deformation. Y belongs to the positions it was made at, and is made
anew when the layer has moved away from them by a part `STALE` of the body's size; one solution with the factor is left
for each right side. The factor is stored in single precision: what it and Y miss, the iteration around it makes good.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from supple.algebra.sparse.block_sparse import BlockSparse
from supple.algebra.sparse.direct import DirectSolver
from supple.bodies.layered.model import LayeredModel

Array = np.ndarray
STALE = 0.02


def coupling_rows(m: Array, u: Array) -> Array:
    """C of masses m (n,) at positions u (n, 3): (d_e) -> (sum m d, sum m u x d), (6, 3 n)."""
    n = len(m)
    C = np.zeros((6, n, 3))
    for i in range(3):
        C[i, :, i] = m  # (11.15)
    mu = m[:, None] * u
    C[3, :, 1], C[3, :, 2] = -mu[:, 2], mu[:, 1]  # (11.15)
    C[4, :, 0], C[4, :, 2] = mu[:, 2], -mu[:, 0]
    C[5, :, 0], C[5, :, 1] = -mu[:, 1], mu[:, 0]
    return C.reshape(6, 3 * n)


class LayeredSolve:
    """The factor of mass m + stiffness K_s, and Y. column_count: how often Y was made."""

    def __init__(self, model: LayeredModel, mass: float, stiffness: float) -> None:
        self.model = model
        matrix = BlockSparse(model.stiffness.indptr, model.stiffness.indices, stiffness * model.stiffness.data)
        matrix.add_diagonal(mass * model.node_mass)
        self.factor = DirectSolver(matrix, precision="single")
        self.column_count = 0
        self._place: Array | None = None
        self._Y = np.empty((6, 3 * model.free_count))
        self._C = np.empty((6, 3 * model.free_count))

    @cached_property
    def size(self) -> float:
        """Largest distance of a free node from the frame's origin at rest [m]."""
        return float(np.linalg.norm(self.model.X_free, axis=1).max())

    def columns(self, u: Array) -> Array:
        """Y^T (6, 3 n) at positions near u (n, 3)."""
        if self._place is None or np.abs(u - self._place).max() > STALE * self.size:
            self._C = coupling_rows(self.model.node_mass, u)
            self._Y[:] = self.factor.solve_once(self._C.T).T
            self._place = u.copy()
            self.column_count += 1
        return self._Y

    def solve(self, A_cc: Array, C: Array, u: Array, r_c: Array, r_e: Array) -> tuple[Array, Array]:
        """d_c (6,), d_e (3 n,), in body axes; u (n, 3): where the columns are to be. The caller limits BLAS threads."""
        Y = self.columns(u)
        z = np.empty_like(r_e)
        self.factor.solve_once(r_e, z)
        d_c = np.linalg.solve(A_cc - C @ Y.T, r_c - C @ z)  # (11.15)
        z -= d_c @ Y  # (11.15)
        return d_c, z

    def coupling(self, u: Array) -> tuple[Array, Array]:
        """C and Y^T, (6, 3 n) each, of one place near u (n, 3): what a symmetric solution needs."""
        Y = self.columns(u)
        return self._C, Y
