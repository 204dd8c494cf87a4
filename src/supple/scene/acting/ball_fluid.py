"""A fluid on balls around particles: the weight of what each displaces, and its drag.

    f = -rho V_wet g + (rho C / 4) pi r² w |u| u,   u = flow - v,   V_wet = pi h² (3 r - h) / 3,   w = V_wet / V

h: height of the ball's part below the surface. V_wet is exact; the drag of a ball that is partly wet is its share w.
The drag is what faces of a sphere feel that move into the fluid: the integral of (rho C / 2) (u . n)² n over half of
it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.bodies.protocols import LocalState, Pairs
from supple.interaction.fluid import Fluid

Array = np.ndarray
BALL = 0.25
"""Drag of a ball over rho C pi r² |u| u: half that of a plate across the flow, which is 1/2."""


@dataclass(frozen=True, eq=False)
class BallFluid:
    """A fluid on balls of radius (n,) [m] around points. gravity (3,) [m/s²]."""

    fluid: Fluid
    radius: Array
    gravity: Array
    is_load = True

    def wet(self, x: Array) -> tuple[Array, Array]:
        """The wet part of each ball, (n,), and its change with the height, (n,) [1/m]."""
        if self.fluid.level is None:
            return np.ones(len(x)), np.zeros(len(x))
        r = np.maximum(self.radius, 1e-300)
        h = np.clip(self.fluid.level - x[:, 2] + r, 0.0, 2 * r)
        return h * h * (3 * r - h) / (4 * r**3), -3 * h * (2 * r - h) / (4 * r**3)

    @property
    def _lift(self) -> Array:
        return -self.fluid.density * (4 / 3) * np.pi * self.radius[:, None] ** 3 * self.gravity

    @property
    def _drag(self) -> Array:
        return BALL * self.fluid.density * self.fluid.drag * np.pi * self.radius**2

    def energy(self, state: LocalState) -> float:
        """None."""
        return 0.0

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += lift and drag."""
        wet = self.wet(state.x)[0][:, None]
        u = np.asarray(self.fluid.flow) - state.v
        f_out += wet * (self._lift + (self._drag * np.linalg.norm(u, axis=1))[:, None] * u)

    def linearize(self, state: LocalState, *, definite: bool = False) -> BallFluidTangent:
        """Derivatives; definite: those by velocities alone, which are."""
        wet, slope = self.wet(state.x)
        u = np.asarray(self.fluid.flow) - state.v
        speed = np.linalg.norm(u, axis=1)
        along = u[:, :, None] * u[:, None, :] / np.maximum(speed, 1e-300)[:, None, None]
        B = -(self._drag * wet)[:, None, None] * (speed[:, None, None] * np.eye(3) + along)
        K = np.zeros_like(B)
        if not definite:
            K[:, :, 2] = slope[:, None] * (self._lift + (self._drag * speed)[:, None] * u)
        return BallFluidTangent(K, B)

    def block_pattern(self) -> Pairs:
        """One block a ball."""
        numbers = np.arange(len(self.radius))
        return numbers, numbers


@dataclass(frozen=True, eq=False)
class BallFluidTangent:
    """K, B (n, 3, 3) of each ball."""

    K: Array
    B: Array

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv + damping B dv."""
        df_out += np.einsum("kij,kj->ki", stiffness * self.K + damping * self.B, dv)

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble stiffness K + damping B."""
        np.add.at(data_out, positions, stiffness * self.K + damping * self.B)
