"""Points of a floating body: x = c + R u, u = X + S q, in the coordinates (c, rotation; q) of its frame and modes.

    v = c' + R (w x u + S q')                               F = R^T f
    J^T f = (f, u x F, S^T F)
    bias R (w x (w x u) + 2 w x S q')
    geometric stiffness  d(J^T f) = (0, skew(u) skew(F) turn - skew(F) S dq, S^T skew(F) turn)
    d(J v)/dx dx = R (turn x (w x u + S q') + w x S dq)

The coupling of turn and q is symmetric, the block of turns is not: its skew part is half the applied moment.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.protocols import JacobianRows
from supple.errors import InputError

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class FloatingPoints:
    """local: positions X of the undeformed points in the frame (count, 3) [m]. shapes: S (count, 3, p), p a multiple
    of three, filled up with zeros."""

    local: Array
    shapes: Array

    def __post_init__(self) -> None:
        if self.shapes.shape[:2] != self.local.shape or self.local.shape[1:] != (3,) or self.shapes.shape[2] % 3:
            raise InputError("shapes do not fit the points", value=(self.local.shape, self.shapes.shape))

    @classmethod
    def make(cls, local: Array, shapes: Array) -> FloatingPoints:
        """With shapes (count, 3, r), filled up."""
        padded = np.zeros((*shapes.shape[:2], -(-shapes.shape[2] // 3) * 3))
        padded[:, :, : shapes.shape[2]] = shapes
        return cls(np.ascontiguousarray(local, dtype=float), padded)

    @property
    def count(self) -> int:
        """Number of points."""
        return len(self.local)

    def part(self, points: Array) -> FloatingPoints:
        """Some of these points."""
        return FloatingPoints(self.local[points], self.shapes[points])

    def deformed(self, x: Array) -> Array:
        """u, (count, 3) [m]."""
        return self.local + self.shapes @ x[0, 7:]

    def apply(self, x: Array) -> Array:
        """c + R u, (count, 3)."""
        return x[0, :3] + self.deformed(x) @ rotations.to_matrix(x[0, 3:7]).T

    def linearize(self, x: Array) -> FloatingPointsTangent:
        """J at this frame and q."""
        return FloatingPointsTangent(self, rotations.to_matrix(x[0, 3:7]), self.deformed(x))


@dataclass(frozen=True, eq=False)
class FloatingPointsTangent:
    """J of points at u (count, 3) in a frame with rotation R (3, 3)."""

    mapping: FloatingPoints
    R: Array
    u: Array

    def _relative(self, v: Array) -> Array:
        """w x u + S q', in body axes, (count, 3)."""
        return rotations.cross(v[0, 3:6], self.u) + self.mapping.shapes @ v[0, 6:]

    def product(self, v: Array) -> Array:
        """c' + R (w x u + S q')."""
        return v[0, :3] + self._relative(v) @ self.R.T

    def add_transpose(self, f: Array, f_out: Array) -> None:
        """f_out += (f, u x F, S^T F), summed."""
        F = f @ self.R
        f_out[0, :3] += f.sum(axis=0)
        f_out[0, 3:6] += rotations.cross(self.u, F).sum(axis=0)
        f_out[0, 6:] += np.einsum("kil,ki->l", self.mapping.shapes, F)

    def bias(self, v: Array) -> Array:
        """R (w x (w x u) + 2 w x S q') [m/s²]."""
        w = v[0, 3:6]
        return rotations.cross(w, rotations.cross(w, self.u) + 2 * (self.mapping.shapes @ v[0, 6:])) @ self.R.T

    def _geometric(self, f: Array) -> Array:
        """The matrix of the module on (turn, q), (3 + p, 3 + p)."""
        F, shapes = f @ self.R, self.mapping.shapes
        skew = rotations.skew(F)
        p = shapes.shape[2]
        K = np.zeros((3 + p, 3 + p))
        K[:3, :3] = (rotations.skew(self.u) @ skew).sum(axis=0)
        K[3:, :3] = np.einsum("kil,kij->lj", shapes, skew)
        K[:3, 3:] = K[3:, :3].T
        return K

    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None:
        """df += factor d(J^T f)/dx dv."""
        df_out[0, 3:] += factor * (self._geometric(f) @ dv[0, 3:])

    def velocity_change(self, v: Array, dx: Array) -> Array:
        """d(J v)/dx dx."""
        change = rotations.cross(dx[0, 3:6], self._relative(v)) + rotations.cross(
            v[0, 3:6], self.mapping.shapes @ dx[0, 6:]
        )
        return change @ self.R.T

    @property
    def _block_count(self) -> int:
        return 2 + self.mapping.shapes.shape[2] // 3

    def geometric_pattern(self) -> tuple[Array, Array]:
        """Every pair of the blocks of turn and q."""
        k = np.arange(1, self._block_count)
        return np.repeat(k, len(k)), np.tile(k, len(k))

    def geometric_blocks(self, f: Array, *, definite: bool) -> Array:
        """Blocks in the order of `geometric_pattern`; definite: symmetric and negative semi-definite."""
        K = self._geometric(f)
        if definite:
            values, vectors = np.linalg.eigh((K + K.T) / 2)
            K = (vectors * np.minimum(values, 0.0)) @ vectors.T
        n = len(K) // 3
        return K.reshape(n, 3, n, 3).transpose(0, 2, 1, 3).reshape(-1, 3, 3)

    @cached_property
    def _pattern(self) -> tuple[Array, Array]:
        n, k = self.mapping.count, self._block_count
        return np.arange(0, n * k + 1, k), np.tile(np.arange(k), n)

    def _rows(self, linear: Array, angular: Array, modal: Array) -> JacobianRows:
        """Blocks of all points: linear (3, 3), angular (count, 3, 3), modal (count, 3, p)."""
        n, k = self.mapping.count, self._block_count
        blocks = np.empty((n, k, 3, 3))
        blocks[:, 0], blocks[:, 1] = linear, angular
        blocks[:, 2:] = modal.reshape(n, 3, k - 2, 3).transpose(0, 2, 1, 3)
        ptr, cols = self._pattern
        return JacobianRows(ptr, cols, blocks.reshape(-1, 3, 3))

    def jacobian_rows(self) -> JacobianRows:
        """I, -R skew(u) and R S for each point."""
        return self._rows(np.eye(3), -self.R @ rotations.skew(self.u), self.R @ self.mapping.shapes)

    def velocity_rows(self, v: Array) -> JacobianRows:
        """d(J v)/dx in the pattern of `jacobian_rows`."""
        spun = self.R @ rotations.skew(v[0, 3:6])
        angular = -self.R @ rotations.skew(self._relative(v))
        return self._rows(np.zeros((3, 3)), angular, spun @ self.mapping.shapes)
