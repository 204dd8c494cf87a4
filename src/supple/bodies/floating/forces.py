"""The force of the modes: f_q = -K q - D q', or the exact cubic force of a St. Venant-Kirchhoff solid and -D q'.

Rigid motion is neither resisted nor damped: both act on q alone. Coordinates that fill q up to whole 3-blocks have the
stiffness of the fastest mode, so that they are neither the slowest nor the fastest of a system.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.algebra.dense.definite import negative_part
from supple.bodies.floating.mass import MatrixTangent, full_pattern
from supple.bodies.protocols import LocalState, Pairs
from supple.modal.forces.cubic import CubicForce

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class ModalForce:
    """K (r, r) [N/m], D (r, r) [N s/m] for q [m]; cubic: replaces K q where given. padded: p >= r."""

    K: Array
    D: Array
    padded: int
    filling: float
    cubic: CubicForce | None = None
    is_passive = True

    @property
    def mode_count(self) -> int:
        """r."""
        return len(self.K)

    def elastic(self, q: Array) -> tuple[Array, Array]:
        """Resisting force (r,) and its tangent (r, r) at q (r,)."""
        return (self.K @ q, self.K) if self.cubic is None else self.cubic.evaluate(q)

    def energy(self, state: LocalState) -> float:
        """Elastic energy [J]."""
        q, rest = np.split(state.x[0, 7:], [self.mode_count])
        own = 0.5 * q @ self.K @ q if self.cubic is None else float(self.cubic.energy(q))
        return float(own + 0.5 * self.filling * rest @ rest)

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f -= elastic(q) + D q'."""
        q, rest = np.split(state.x[0, 7:], [self.mode_count])
        n = 6 + self.mode_count
        f_out[0, 6:n] -= self.elastic(q)[0] + self.D @ state.v[0, 6:n]
        f_out[0, n:] -= self.filling * rest

    def linearize(self, state: LocalState, *, definite: bool = False) -> MatrixTangent:
        """-K and -D."""
        size, n = 6 + self.padded, 6 + self.mode_count
        K, B = np.zeros((size, size)), np.zeros((size, size))
        tangent = -self.elastic(np.ascontiguousarray(state.x[0, 7 : 1 + n]))[1]
        K[6:n, 6:n] = negative_part(tangent) if definite and self.cubic is not None else tangent
        K[range(n, size), range(n, size)] = -self.filling
        B[6:n, 6:n] = -self.D
        return MatrixTangent(K, B)

    def block_pattern(self) -> Pairs:
        """Every block with every other."""
        return full_pattern(2 + self.padded // 3)
