"""Derivatives of forces on the corners of triangles, such as those of wind and fluids."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.protocols import Pairs

Array = np.ndarray


def triangle_pattern(triangles: Array) -> Pairs:
    """Nine blocks for each triangle (t, 3)."""
    return np.repeat(triangles, 3, axis=1).ravel(), np.tile(triangles, (1, 3)).ravel()


@dataclass(frozen=True, eq=False)
class TriangleTangent:
    """K[n, a, b]: of the force on corner a of triangle n by the position of corner b; B[n]: by the velocity of any."""

    triangles: Array
    K: Array
    B: Array

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv + damping B dv."""
        d = dv[self.triangles]
        shared = damping * np.einsum("kij,kbj->ki", self.B, d)
        np.add.at(df_out, self.triangles, stiffness * np.einsum("kabij,kbj->kai", self.K, d) + shared[:, None])

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble stiffness K + damping B."""
        blocks = stiffness * self.K + damping * self.B[:, None, None]
        np.add.at(data_out, positions, blocks.reshape(-1, 3, 3))
