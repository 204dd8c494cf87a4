"""Mass of points: lumped, or consistent as a sparse matrix m with M = m ⊗ I3, and damping in proportion to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sparse

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotations import cross
from supple.bodies.protocols import LocalState, Pairs

Array = np.ndarray


@compiled
def sum_kinetic_energy(m: Any, v: Any) -> float:
    """sum m |v|²/2 [J] of masses m (n,) [kg] with velocities v (n, 3) [m/s]."""
    total = 0.0
    for k in range(len(m)):
        total += m[k] * (v[k, 0] * v[k, 0] + v[k, 1] * v[k, 1] + v[k, 2] * v[k, 2])
    return 0.5 * total


@compiled
def compute_momentum(m: Any, x: Any, v: Any, out: Any) -> None:
    """out (6,) = sum m v [kg m/s], sum m x × v [kg m²/s] of masses m (n,) at x (n, 3)."""
    p0, p1, p2, l0, l1, l2 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for k in range(len(m)):
        a, b, c = m[k] * v[k, 0], m[k] * v[k, 1], m[k] * v[k, 2]
        p0, p1, p2 = p0 + a, p1 + b, p2 + c
        l0 += x[k, 1] * c - x[k, 2] * b
        l1 += x[k, 2] * a - x[k, 0] * c
        l2 += x[k, 0] * b - x[k, 1] * a
    out[0], out[1], out[2], out[3], out[4], out[5] = p0, p1, p2, l0, l1, l2


@dataclass(frozen=True, eq=False)
class PointMass:
    """Lumped masses m (n,) [kg], or a consistent mass matrix (n, n) [kg]."""

    m: Array | sparse.csr_array

    @cached_property
    def is_lumped(self) -> bool:
        """Whether the mass is a number a point."""
        return not sparse.issparse(self.m)

    @cached_property
    def node_mass(self) -> Array:
        """Mass of each point, row sums of a consistent matrix, (n,) [kg]."""
        return self.m if isinstance(self.m, np.ndarray) else np.asarray(self.m.sum(axis=1)).ravel()

    def joined(self, others: Sequence[PointMass]) -> PointMass | None:
        """One mass of these points and of others that follow; None where one is not lumped."""
        lumped = [mass.m for mass in (self, *others) if isinstance(mass.m, np.ndarray)]
        return PointMass(np.concatenate(lumped)) if len(lumped) == 1 + len(others) else None

    def times(self, values: Array) -> Array:
        """M v of velocities or places (n, 3)."""
        return self.m[:, None] * values if isinstance(self.m, np.ndarray) else self.m @ values

    def add_product(self, dv: Array, f_out: Array, factor: float) -> None:
        """f += factor M dv."""
        f_out += factor * self.times(dv)

    def block_pattern(self) -> Pairs:
        """Pairs of points with a common mass."""
        if isinstance(self.m, np.ndarray):
            return np.arange(len(self.m)), np.arange(len(self.m))
        entries = self.m.tocoo()
        return entries.row, entries.col

    def add_blocks(self, data_out: Array, positions: Array, factor: float) -> None:
        """Assemble factor M."""
        values = self.m if isinstance(self.m, np.ndarray) else self.m.tocoo().data
        for i in range(3):
            data_out[positions, i, i] += factor * values

    @cached_property
    def _factor(self) -> Any:
        from scipy.sparse.linalg import splu

        return splu(sparse.csc_array(self.m))

    def solve(self, f: Array) -> Array:
        """M^-1 f, (n, 3)."""
        return f / self.m[:, None] if isinstance(self.m, np.ndarray) else self._factor.solve(f)

    def add_bias(self, state: LocalState, f_out: Array) -> None:
        """No velocity terms: the mass is constant."""

    def compute_impulse(self, x0: Array, v0: Array, x1: Array, v1: Array) -> Array:
        """Change of momentum M (v1 - v0), (n, 3) [N s]."""
        return self.times(v1 - v0)

    def gravity_field(self, g: Array) -> Array:
        """The acceleration g at every point, (n, 3)."""
        return np.broadcast_to(g, (self.node_mass.size, 3))

    def momentum(self, state: LocalState) -> Array:
        """Linear and angular momentum about the origin, (6,) [kg m/s, kg m²/s]."""
        if isinstance(self.m, np.ndarray):
            out = np.empty(6)
            compute_momentum(self.m, state.x, state.v, out)
            return out
        p = self.times(state.v)
        return np.concatenate([p.sum(axis=0), cross(state.x, p).sum(axis=0)])

    def kinetic_energy(self, state: LocalState) -> float:
        """v^T M v / 2 [J]."""
        if isinstance(self.m, np.ndarray):
            return float(sum_kinetic_energy(self.m, state.v))
        return 0.5 * float(np.sum(self.times(state.v) * state.v))

    def first_moment(self, x: Array) -> tuple[float, Array]:
        """Mass [kg] and mass times centre (3,) [kg m]."""
        return self._total, self.node_mass @ x

    @cached_property
    def _total(self) -> float:
        return float(self.node_mass.sum())


@dataclass(frozen=True, eq=False)
class MassDamping:
    """Rayleigh's mass-proportional damping f = -alpha M v; alpha [1/s]."""

    mass: PointMass
    alpha: float
    is_passive = True

    @property
    def spin_loss(self) -> float:
        """Of all motion alike, see `traits.spin_loss` [1/s]."""
        return self.alpha

    def energy(self, state: LocalState) -> float:
        """None: it dissipates."""
        return 0.0

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """f -= alpha M v."""
        self.mass.add_product(state.v, f_out, -self.alpha)

    def linearize(self, state: LocalState, *, definite: bool = False) -> MassDamping:
        """The force is linear in v: it is its own tangent."""
        return self

    def block_pattern(self) -> Pairs:
        """As the mass."""
        return self.mass.block_pattern()

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df -= damping alpha M dv."""
        self.mass.add_product(dv, df_out, -damping * self.alpha)

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble -damping alpha M."""
        self.mass.add_blocks(data_out, positions, -damping * self.alpha)
