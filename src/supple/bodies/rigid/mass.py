"""Inertia of rigid frames at their centres of mass: M = diag(m I3, I_body), constant in our coordinates.

    velocity (v in world axes, w in body axes);  bias force (0, -w × I w), or its mean over a step of free turning
    change of momentum, seen in the axes of the end:  (m (v1 - v0),  I w1 - R1^T R0 I w0)

The second row vanishes exactly when the angular momentum R I w in the world is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from supple.algebra.dense import rotations
from supple.algebra.dense.turning_kernels import compute_turned
from supple.bodies.protocols import LocalState, Pairs

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FrameMass:
    """mass (n,) [kg]; inertia (n, 3, 3) [kg m²] in body axes."""

    mass: Array
    inertia: Array

    def joined(self, others: Sequence[FrameMass]) -> FrameMass:
        """One mass of these frames and of others that follow."""
        every = [self, *others]
        return FrameMass(np.concatenate([m.mass for m in every]), np.concatenate([m.inertia for m in every]))

    def add_product(self, dv: Array, f_out: Array, factor: float) -> None:
        """f += factor M dv, (n, 6)."""
        f_out[:, :3] += factor * self.mass[:, None] * dv[:, :3]
        f_out[:, 3:] += factor * np.einsum("nij,nj->ni", self.inertia, dv[:, 3:])

    def block_pattern(self) -> Pairs:
        """Two diagonal blocks a frame."""
        k = np.arange(2 * len(self.mass))
        return k, k

    def add_blocks(self, data_out: Array, positions: Array, factor: float) -> None:
        """Assemble factor M."""
        data_out[positions[0::2]] += factor * self.mass[:, None, None] * np.eye(3)
        data_out[positions[1::2]] += factor * self.inertia

    def solve(self, f: Array) -> Array:
        """M^-1 f, (n, 6)."""
        return np.hstack([f[:, :3] / self.mass[:, None], np.linalg.solve(self.inertia, f[:, 3:, None])[..., 0]])

    def add_bias(self, state: LocalState, f_out: Array) -> None:
        """Gyroscopic torque -w × I w, in body axes [N m]."""
        w = state.v[:, 3:]
        f_out[:, 3:] -= rotations.cross(w, np.einsum("nij,nj->ni", self.inertia, w))

    def add_mean_bias(self, state: LocalState, h: float, f_out: Array) -> None:
        """Mean of the gyroscopic torque over a step of h [s] of free turning, I (w_1 - w_0) / h [N m]."""
        w = np.ascontiguousarray(state.v[:, 3:])
        turned = np.empty_like(w)
        compute_turned(self.inertia, w, h, turned)
        f_out[:, 3:] += np.einsum("nij,nj->ni", self.inertia, turned - w) / h

    def compute_impulse(self, x0: Array, v0: Array, x1: Array, v1: Array) -> Array:
        """Change of momentum (n, 6), linear in world axes, angular in the body axes of x1."""
        out = np.empty((len(self.mass), 6))
        out[:, :3] = self.mass[:, None] * (v1[:, :3] - v0[:, :3])
        before = rotations.rotate(x0[:, 3:], np.einsum("nij,nj->ni", self.inertia, v0[:, 3:]))
        out[:, 3:] = np.einsum("nij,nj->ni", self.inertia, v1[:, 3:])
        out[:, 3:] -= rotations.rotate(rotations.conjugate(x1[:, 3:]), before)
        return out

    def gravity_field(self, g: Array) -> Array:
        """(g, 0) for every frame, (n, 6)."""
        return np.broadcast_to(np.concatenate([g, np.zeros(3)]), (len(self.mass), 6))

    def momentum(self, state: LocalState) -> Array:
        """Linear and angular momentum about the origin, (6,)."""
        p = self.mass[:, None] * state.v[:, :3]
        spin = rotations.rotate(state.x[:, 3:], np.einsum("nij,nj->ni", self.inertia, state.v[:, 3:]))
        return np.concatenate([p.sum(axis=0), (rotations.cross(state.x[:, :3], p) + spin).sum(axis=0)])

    def first_moment(self, x: Array) -> tuple[float, Array]:
        """Mass [kg] and mass times centre (3,) [kg m]."""
        return float(self.mass.sum()), self.mass @ x[:, :3]
