"""Inertia of cubes: M = diag(m I3, I I3). A cube's inertia is the same about every axis, so that spinning needs no
torque (w × I w = 0) and M is solved by division.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState, Pairs
from supple.bodies.voxel.frame_kernels import compute_kinetic_energy, compute_momentum

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class CubeMass:
    """mass (n,) [kg]; inertia (n,) [kg m²] about any axis."""

    mass: Array
    inertia: Array

    @cached_property
    def _columns(self) -> Array:
        return np.repeat(np.stack([self.mass, self.inertia], axis=1), 3, axis=1)

    def add_product(self, dv: Array, f_out: Array, factor: float) -> None:
        """f += factor M dv, (n, 6)."""
        f_out += factor * self._columns * dv

    def block_pattern(self) -> Pairs:
        """Two diagonal blocks a voxel."""
        k = np.arange(2 * len(self.mass))
        return k, k

    def add_blocks(self, data_out: Array, positions: Array, factor: float) -> None:
        """Assemble factor M."""
        data_out[positions] += factor * self._columns[:, ::3].reshape(-1, 1, 1) * np.eye(3)

    def solve(self, f: Array) -> Array:
        """M^-1 f, (n, 6)."""
        return f / self._columns

    def add_bias(self, state: LocalState, f_out: Array) -> None:
        """Nothing: cubes spin freely."""

    def compute_impulse(self, x0: Array, v0: Array, x1: Array, v1: Array) -> Array:
        """Change of momentum (n, 6), linear in world axes, angular in the body axes of x1."""
        before = rotations.rotate_inverse(x1[:, 3:], rotations.rotate(x0[:, 3:], v0[:, 3:]))
        return self._columns * np.hstack([v1[:, :3] - v0[:, :3], v1[:, 3:] - before])

    def gravity_field(self, g: Array) -> Array:
        """(g, 0) for every voxel, (n, 6)."""
        return np.broadcast_to(np.concatenate([g, np.zeros(3)]), (len(self.mass), 6))

    def kinetic_energy(self, state: LocalState) -> float:
        """v^T M v / 2 [J]."""
        return float(compute_kinetic_energy(self.mass, self.inertia, state.v))

    def momentum(self, state: LocalState) -> Array:
        """Linear and angular momentum about the origin, (6,)."""
        out = np.empty(6)
        compute_momentum(self.mass, self.inertia, state.x, state.v, out)
        return out

    @cached_property
    def _total(self) -> float:
        return float(self.mass.sum())

    def first_moment(self, x: Array) -> tuple[float, Array]:
        """Mass [kg] and mass times centre (3,) [kg m]."""
        return self._total, self.mass @ x[:, :3]
