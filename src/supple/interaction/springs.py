"""Springs and dampers between pairs of points.

    d = x_j - x_i, L = |d|, n = d / L, w = v_j - v_i
    force on i:  k (L - L0) n + c (n . w) n          L0 > 0
                 k d + c w                           L0 = 0, a soft attachment, damped in all directions

The tangent is exact, with the part that comes from the turning of n. Asked to be definite, it leaves out the negative
part of the transverse stiffness k (1 - L0/L) of a compressed spring and the turning of the damper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from supple.algebra.dense.checks import check_array, check_whole
from supple.errors import InputError

if TYPE_CHECKING:
    from supple.bodies.protocols import LocalState, Pairs

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class SpringForce:
    """Springs between points: pairs (n, 2), stiffness k [N/m], rest_length L0 [m], damping c [N s/m], each (n,)."""

    pairs: Array
    stiffness: Array
    rest_length: Array
    damping: Array
    is_passive = True

    @classmethod
    def make(cls, pairs: Array, stiffness: Array, rest_length: Array, damping: Array, *, where: str) -> SpringForce:
        """Checked springs; numbers may be given once for all."""
        pairs = np.atleast_2d(check_whole(pairs, name="pairs", where=where))
        numbers = []
        for name, value in (("stiffness", stiffness), ("rest_length", rest_length), ("damping", damping)):
            given = check_array(value, name=name, where=where)
            try:
                array = np.broadcast_to(given, len(pairs)).copy()
            except ValueError as error:
                raise InputError(f"{name} has not one value a spring", where=where, value=given.shape) from error
            if not np.isfinite(array).all() or (array < 0).any():
                raise InputError(f"{name} is negative or not finite", where=where, allowed=">= 0")
            numbers.append(array)
        return cls(pairs, *numbers)

    def _geometry(self, x: Array) -> tuple[Array, Array, Array]:
        d = x[self.pairs[:, 1]] - x[self.pairs[:, 0]]
        L = np.linalg.norm(d, axis=1)
        n = d / np.where(L > 0, L, 1.0)[:, None]
        return d, L, n

    def energy(self, state: LocalState) -> float:
        """Elastic energy [J]."""
        _, L, _ = self._geometry(state.x)
        return float(0.5 * np.sum(self.stiffness * (L - self.rest_length) ** 2))

    def add_force(self, state: LocalState, f_out: Array) -> None:
        """Equal and opposite forces on the points [N]."""
        _, L, n = self._geometry(state.x)
        w = state.v[self.pairs[:, 1]] - state.v[self.pairs[:, 0]]
        along = np.einsum("si,si->s", n, w)[:, None] * n
        rate = np.where((self.rest_length > 0)[:, None], along, w)
        f = (self.stiffness * (L - self.rest_length))[:, None] * n + self.damping[:, None] * rate
        np.add.at(f_out, self.pairs[:, 0], f)
        np.subtract.at(f_out, self.pairs[:, 1], f)

    def linearize(self, state: LocalState, *, definite: bool = False) -> SpringTangent:
        """Derivatives of the force on the first point by d and by w, (n, 3, 3) each."""
        _, L, n = self._geometry(state.x)
        nn = n[:, :, None] * n[:, None, :]
        eye = np.eye(3)
        stretched = (self.rest_length > 0)[:, None, None]
        ratio = self.rest_length / np.where(L > 0, L, 1.0)
        transverse = 1 - ratio
        if definite:
            transverse = np.maximum(transverse, 0)
        elastic = self.stiffness[:, None, None] * (transverse[:, None, None] * (eye - nn) + nn)
        viscous = self.damping[:, None, None] * np.where(stretched, nn, eye)
        if not definite and self.damping.any():
            w = state.v[self.pairs[:, 1]] - state.v[self.pairs[:, 0]]
            project = (eye - nn) / np.where(L > 0, L, 1.0)[:, None, None]
            nw = np.einsum("si,si->s", n, w)[:, None, None]
            turning = n[:, :, None] * np.einsum("sij,sj->si", project, w)[:, None, :] + nw * project
            elastic = elastic + np.where(stretched, self.damping[:, None, None] * turning, 0.0)
        return SpringTangent(self.pairs, elastic, viscous)

    def block_pattern(self) -> Pairs:
        """Four blocks a spring: ii, ij, ji, jj."""
        i, j = self.pairs[:, 0], self.pairs[:, 1]
        return np.concatenate([i, i, j, j]), np.concatenate([i, j, i, j])


@dataclass(frozen=True, eq=False)
class SpringTangent:
    """Derivatives D = df_i/dd and df_i/dw of each spring."""

    pairs: Array
    elastic: Array
    viscous: Array

    def add_product(self, dv: Array, df_out: Array, stiffness: float, damping: float) -> None:
        """df += stiffness K dv + damping B dv."""
        D = stiffness * self.elastic + damping * self.viscous
        df = np.einsum("sij,sj->si", D, dv[self.pairs[:, 1]] - dv[self.pairs[:, 0]])
        np.add.at(df_out, self.pairs[:, 0], df)
        np.subtract.at(df_out, self.pairs[:, 1], df)

    def add_blocks(self, data_out: Array, positions: Array, stiffness: float, damping: float) -> None:
        """Assemble the four blocks of each spring."""
        D = stiffness * self.elastic + damping * self.viscous
        np.add.at(data_out, positions, np.concatenate([-D, D, D, -D]))
