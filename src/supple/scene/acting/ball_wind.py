"""Wind on balls around particles: what the upwind half of a sphere feels of it, see `ball_fluid`.

f = (rho C / 4) pi r² |u| u,   u = w(x, t) - v
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.bodies.protocols import LocalState, Pairs
from supple.scene.acting.ball_fluid import BALL, BallFluidTangent
from supple.scene.acting.wind import Wind

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class BallWind:
    """A wind on balls of radius (n,) [m] around points."""

    wind: Wind
    radius: Array
    is_load = True

    @cached_property
    def _drag(self) -> Array:
        return BALL * self.wind.density * self.wind.drag * np.pi * self.radius**2

    def energy(self, state: LocalState) -> float:
        """None."""
        return 0.0

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f += drag."""
        u = self.wind.at(state.x, state.t) - state.v
        f_out += (self._drag * np.linalg.norm(u, axis=1))[:, None] * u

    def linearize(self, state: LocalState, *, definite: bool = False) -> BallFluidTangent:
        """Derivatives; definite: those by velocities alone, which are."""
        u = self.wind.at(state.x, state.t) - state.v
        speed = np.linalg.norm(u, axis=1)
        along = u[:, :, None] * u[:, None, :] / np.maximum(speed, 1e-300)[:, None, None]
        by_u = self._drag[:, None, None] * (speed[:, None, None] * np.eye(3) + along)
        K = np.zeros_like(by_u) if definite else by_u @ self.wind.gradient(state.x, state.t)
        return BallFluidTangent(K, -by_u)

    def block_pattern(self) -> Pairs:
        """One block a ball."""
        numbers = np.arange(len(self.radius))
        return numbers, numbers
