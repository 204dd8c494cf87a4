"""A fluid on the surface of a body: pressure that bears it up, and drag where it moves into the fluid.

    f = -∫ p n dA - (rho C / 2) g(u . n) A n,   p = rho g . (depth),   u = flow - v,   g(s) = s² where s < 0, else 0

The pressure is integrated over the wet part of each triangle, exactly: a closed surface feels the weight of what it
displaces, at the centre of that. The drag is that of faces that move into the fluid, as for wind. The fluid does not
move with the body: there is no added mass. Voxels in their own sweep meet the fluid by their faces (`voxel.touching`),
and leave this force aside.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.dense.rotations import skew
from supple.bodies.protocols import LocalState, Pairs
from supple.interaction.fluid import Fluid
from supple.scene.acting.fluid_kernels import add_fluid, compute_wet
from supple.scene.acting.triangle_tangent import TriangleTangent, triangle_pattern

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FluidForce:
    """A fluid on triangles (t, 3), outward, of points. gravity (3,) [m/s²]: with a level, its part along z counts."""

    fluid: Fluid
    triangles: Array
    gravity: Array
    is_load = True

    @cached_property
    def slope(self) -> Array:
        """Change of the pressure head with position (3,) [m/s²]: pull times depth is slope . x + a constant."""
        return self.gravity if self.fluid.level is None else np.array([0.0, 0.0, self.gravity[2]])

    @cached_property
    def pull(self) -> float:
        """Of gravity along the depth [m/s²]."""
        return float(-self.gravity[2]) if self.fluid.level is not None else float(np.linalg.norm(self.gravity))

    @property
    def is_everywhere(self) -> bool:
        """Whether the fluid has no surface."""
        return self.fluid.level is None

    def depth(self, x: Array) -> Array:
        """Of points (n, 3) [m]; without a level all are wet, and the depth counts from the origin."""
        if self.fluid.level is not None:
            return np.ascontiguousarray(self.fluid.level - x[:, 2])
        return x @ (self.gravity / self.pull) if self.pull > 0 else np.zeros(len(x))

    def energy(self, state: LocalState) -> float:
        """None."""
        return 0.0

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += pressure and drag."""
        x, v = np.ascontiguousarray(state.x), np.ascontiguousarray(state.v)
        rho, half = float(self.fluid.density), 0.5 * self.fluid.density * self.fluid.drag
        flow = np.asarray(self.fluid.flow, dtype=float)
        add_fluid(rho, half, self.pull, self.is_everywhere, self.depth(x), flow, self.triangles, x, v, f_out)

    def linearize(self, state: LocalState, *, definite: bool = False) -> TriangleTangent:
        """Derivatives of the corner forces. The drag's change by what gets wet is left out. definite: those by
        velocities alone, which are."""
        depth, count = self.depth(state.x), len(self.triangles)
        S = np.empty((count, 3, 3))
        compute_wet(self.is_everywhere, self.triangles, depth, S)
        x, v = state.x[self.triangles], state.v[self.triangles].mean(axis=1)
        N = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]) / 2
        area = np.maximum(np.linalg.norm(N, axis=1), 1e-300)
        n = N / area[:, None]
        u = np.asarray(self.fluid.flow) - v
        s = np.minimum(np.einsum("ki,ki->k", u, n), 0.0)
        factor = -0.5 * self.fluid.density * self.fluid.drag / 3 * S.sum(axis=(1, 2))
        by_s = (2 * factor * s)[:, None] * N  # of the corner force by u . n
        B = -by_s[:, :, None] * n[:, None, :] / 3
        K = np.zeros((count, 3, 3, 3, 3))
        if definite:
            return TriangleTangent(self.triangles, K, B)
        rho = self.fluid.density
        P = rho * self.pull * np.einsum("kij,kj->ki", S, depth[self.triangles])
        drag_by_N = (factor * s * s)[:, None, None] * np.eye(3)
        drag_by_N = drag_by_N + by_s[:, :, None] * ((u - s[:, None] * n) / area[:, None])[:, None, :]
        by_1, by_2 = -skew(x[:, 2] - x[:, 0]) / 2, skew(x[:, 1] - x[:, 0]) / 2
        for corner in range(3):
            by_N = drag_by_N - P[:, corner, None, None] * np.eye(3)
            K[:, corner] = np.stack([by_N @ (-by_1 - by_2), by_N @ by_1, by_N @ by_2], axis=1)
            K[:, corner] -= rho * S[:, corner, :, None, None] * (N[:, :, None] * self.slope)[:, None]
        return TriangleTangent(self.triangles, K, B)

    def block_pattern(self) -> Pairs:
        """Nine blocks a triangle."""
        return triangle_pattern(self.triangles)
