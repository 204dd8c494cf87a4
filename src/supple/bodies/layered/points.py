"""Points of a layered body: x = c + R u, u = X + sum_k w_k q_k over the free nodes that carry the point.

The formulas are those of `supple.bodies.floating.points`, with the shapes of a few nodes each in place of those of all
modes: J has two blocks a point for the frame and one for each free node. A point of the core has the two alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sparse

from supple.algebra.dense import rotations
from supple.algebra.sparse.threefold import Rows, chosen_rows, times
from supple.bodies.layered.point_kernels import compute_point_rows
from supple.bodies.protocols import JacobianRows
from supple.errors import InputError

Array = np.ndarray
cross, skew = rotations.cross, rotations.skew


@dataclass(frozen=True, eq=False)
class LayeredPoints:
    """local: positions X of the undeformed points in the frame (count, 3) [m]. weights (count, n) of the free nodes."""

    local: Array
    weights: Rows

    def __post_init__(self) -> None:
        if self.local.shape != (self.weights.shape[0], 3):
            raise InputError("weights do not fit the points", value=(self.local.shape, self.weights.shape))

    @classmethod
    def make(cls, local: Array, weights: sparse.csr_array) -> LayeredPoints:
        """With positions in a row."""
        return cls(np.ascontiguousarray(local, dtype=float), weights)

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.local)

    def part(self, points: Array) -> LayeredPoints:
        """Some of these points."""
        return LayeredPoints(self.local[points], chosen_rows(self.weights, points))

    @cached_property
    def transpose(self) -> sparse.csr_array:
        """Of the weights."""
        return sparse.csr_array(self.weights.T)

    def carried(self, x_or_v: Array) -> Array:
        """sum_k w_k q_k for q (3 n,), (count, 3)."""
        return times(self.weights, x_or_v.reshape(-1, 3))

    def apply(self, x: Array) -> Array:
        """c + R u, (count, 3)."""
        return self.linearize(x).positions()

    def linearize(self, x: Array) -> LayeredPointsTangent:
        """J at this frame and q."""
        R = rotations.to_matrix(x[0, 3:7])
        return LayeredPointsTangent(self, x[0, :3].copy(), R, self.local + self.carried(x[0, 7:]))

    @cached_property
    def touched(self) -> Array:
        """Free nodes that carry a point."""
        return np.unique(self.weights.indices)


@dataclass(frozen=True, eq=False)
class LayeredPointsTangent:
    """J of points at u (count, 3) in a frame at c (3,) [m] with rotation R (3, 3)."""

    mapping: LayeredPoints
    c: Array
    R: Array
    u: Array

    def positions(self) -> Array:
        """c + R u, (count, 3) [m]."""
        return self.c + self.u @ self.R.T

    def _relative(self, v: Array) -> Array:
        """w x u + sum w_k q'_k, in body axes, (count, 3)."""
        return cross(v[0, 3:6], self.u) + self.mapping.carried(v[0, 6:])

    def product(self, v: Array) -> Array:
        """c' + R (w x u + sum w_k q'_k)."""
        return v[0, :3] + self._relative(v) @ self.R.T

    def add_transpose(self, f: Array, f_out: Array) -> None:
        """f_out += (f, u x F, w_k F), summed."""
        F = f @ self.R
        f_out[0, :3] += f.sum(axis=0)
        f_out[0, 3:6] += cross(self.u, F).sum(axis=0)
        f_out[0, 6:] += (self.mapping.transpose @ F).ravel()

    def bias(self, v: Array) -> Array:
        """R (w x (w x u) + 2 w x sum w_k q'_k) [m/s²]."""
        w = v[0, 3:6]
        return cross(w, cross(w, self.u) + 2 * self.mapping.carried(v[0, 6:])) @ self.R.T

    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None:
        """df += factor d(J^T f)/dx dv."""
        F, turn, moved = f @ self.R, dv[0, 3:6], self.mapping.carried(dv[0, 6:])
        df_out[0, 3:6] += factor * (cross(self.u, cross(F, turn)) - cross(F, moved)).sum(axis=0)
        df_out[0, 6:] += factor * (self.mapping.transpose @ cross(F, turn)).ravel()

    def velocity_change(self, v: Array, dx: Array) -> Array:
        """d(J v)/dx dx."""
        change = cross(dx[0, 3:6], self._relative(v)) + cross(v[0, 3:6], self.mapping.carried(dx[0, 6:]))
        return change @ self.R.T

    def geometric_pattern(self) -> tuple[Array, Array]:
        """The turn with itself, with each node that carries a point, and each of these with the turn."""
        nodes = 2 + self.mapping.touched
        one = np.ones_like(nodes)
        return np.concatenate([[1], one, nodes]), np.concatenate([[1], nodes, one])

    def geometric_blocks(self, f: Array, *, definite: bool) -> Array:
        """Blocks in the order of `geometric_pattern`; definite: what is negative of the turn's, and no coupling."""
        F = f @ self.R
        K, nodes = (skew(self.u) @ skew(F)).sum(axis=0), self.mapping.touched
        if definite:
            values, vectors = np.linalg.eigh((K + K.T) / 2)
            C = np.zeros((len(nodes), 3, 3))
            return np.concatenate([((vectors * np.minimum(values, 0.0)) @ vectors.T)[None], C, C])
        C = skew(np.asarray(self.mapping.transpose @ F)[nodes])
        return np.concatenate([K[None], np.swapaxes(C, 1, 2), C])

    def _rows(self, linear: float, u: Array, nodal: Array) -> JacobianRows:
        """linear I, -R [u]x of u (count, 3), and nodal (3, 3) times the weights."""
        W = self.mapping.weights
        count = len(W.indices) + 2 * self.mapping.count
        ptr, cols = np.zeros(self.mapping.count + 1, dtype=np.int64), np.empty(count, dtype=np.int64)
        blocks = np.empty((count, 3, 3))
        compute_point_rows(W.indptr, W.indices, W.data, linear, self.R, u, nodal, ptr, cols, blocks)
        return JacobianRows(ptr, cols, blocks)

    def jacobian_rows(self) -> JacobianRows:
        """I, -R skew(u) and w_k R for each point."""
        return self._rows(1.0, self.u, self.R)

    def velocity_rows(self, v: Array) -> JacobianRows:
        """d(J v)/dx in the pattern of `jacobian_rows`."""
        return self._rows(0.0, self._relative(v), self.R @ skew(v[0, 3:6]))
