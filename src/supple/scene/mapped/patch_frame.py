"""Points held fast to a patch of other points, as if these were a small rigid body: a frame on a soft one.

    c = sum w_i x_i,   R = the rotation nearest to A = sum w_i (x_i - c) r_i^T     r_i: offsets at the start, w_i = 1/n
    x_k = c + R t_k
    turn = K^-1 sum w_i r_i × R^T dx_i,   K = tr(S) I - S,   S = R^T A               in the frame's axes [Horn87]
    J_ki = w_i (I - R [t_k] K^-1 [r_i] R^T)
    geometric stiffness  d(J^T f)_i/dx_j = w_i R (-[m × r_i] Q_j - [r_i] D_j) R^T,    m = K^-1 sum t_k × F_k,  F = R^T f
        Q_j = w_j K^-1 [r_j],   D_j = K^-1 ((sum [t_k] [F_k] + [S m]) Q_j + w_j ((r_j . m) I - m r_j^T))

The blocks of a row of J sum to I, so that forces on the held points are passed on whole, with their moments. K is
regular for three points off a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.algebra.dense.definite import negative_part
from supple.algebra.dense.rotations import cross, skew
from supple.bodies.protocols import JacobianRows
from supple.errors import InputError

Array = np.ndarray
THIN = 1e-3
"""Ratio of the second to the first extent of a patch below which its points are on a line."""
STEP = 1e-5
"""Of the patch's size: length of the differences for the change of J."""


def is_off_line(points: Array) -> bool:
    """Whether points (n, 3) fix a rotation."""
    if len(points) < 3:
        return False
    extent = np.linalg.svd(points - points.mean(axis=0), compute_uv=False)
    return bool(extent[0] > 0 and extent[1] > THIN * extent[0])


@dataclass(frozen=True, eq=False)
class PatchFrame:
    """offsets (n, 3) [m]: r_i; local (k, 3) [m]: t_k, both from c at the start, in the world's axes there."""

    offsets: Array
    local: Array

    @classmethod
    def make(cls, patch: ArrayLike, held: ArrayLike) -> PatchFrame:
        """From positions of the patch (n, 3) and of the points it holds (k, 3) [m] at the start."""
        X, p = np.atleast_2d(np.asarray(patch, dtype=float)), np.atleast_2d(np.asarray(held, dtype=float))
        if not is_off_line(X):
            raise InputError(
                "a patch needs three points off a line to carry a frame", where="PatchFrame", value=f"{len(X)} points"
            )
        c = X.mean(axis=0)
        return cls(X - c, p - c)

    @property
    def count(self) -> int:
        """Number of held points."""
        return len(self.local)

    @cached_property
    def size(self) -> float:
        """Mean distance of the patch's points from its middle [m]."""
        return float(np.sqrt(np.mean(np.sum(self.offsets**2, axis=1))))

    def _fit(self, x: Array) -> tuple[Array, Array]:
        """R and S at the patch's positions x (n, 3)."""
        A = (x - x.mean(axis=0)).T @ self.offsets / len(x)
        U, s, Vt = np.linalg.svd(A)
        flip = np.array([1.0, 1.0, np.linalg.det(U @ Vt)])
        return (U * flip) @ Vt, (Vt.T * (flip * s)) @ Vt

    def apply(self, x: Array) -> Array:
        """c + R t, (k, 3)."""
        return x.mean(axis=0) + self.local @ self._fit(x)[0].T

    def linearize(self, x: Array) -> PatchFrameTangent:
        """J at the patch's positions."""
        return PatchFrameTangent(self, x.copy(), *self._fit(x))


@dataclass(frozen=True, eq=False)
class PatchFrameTangent:
    """J at positions x (n, 3) of the patch, with R and S there."""

    mapping: PatchFrame
    x: Array
    R: Array
    S: Array

    @cached_property
    def blocks(self) -> Array:
        """J_ki, (k, n, 3, 3)."""
        m, n = self.mapping, len(self.x)
        lever = skew(m.local) @ np.linalg.inv(np.trace(self.S) * np.eye(3) - self.S)
        turning = np.einsum("kij,njl->knil", lever, skew(m.offsets))
        return np.asarray((np.eye(3) - self.R @ turning @ self.R.T) / n)

    def product(self, v: Array) -> Array:
        """J v, (k, 3)."""
        m = self.mapping
        K = np.trace(self.S) * np.eye(3) - self.S
        turn = np.linalg.solve(K, cross(m.offsets, v @ self.R).mean(axis=0))
        return v.mean(axis=0) + cross(turn, m.local) @ self.R.T

    def add_transpose(self, f: Array, f_out: Array) -> None:
        """f_out += J^T f."""
        f_out += np.einsum("knij,ki->nj", self.blocks, f)

    def bias(self, v: Array) -> Array:
        """(dJ/dt) v [m/s²]."""
        return self.velocity_change(v, v)

    def velocity_change(self, v: Array, dx: Array) -> Array:
        """d(J v)/dx dx, by central differences."""
        largest = float(np.abs(dx).max(initial=0.0))
        if largest == 0.0:
            return np.zeros((self.mapping.count, 3))
        e = STEP * self.mapping.size / largest
        ahead, behind = (self.mapping.linearize(self.x + sign * e * dx).product(v) for sign in (1, -1))
        return (ahead - behind) / (2 * e)

    def _geometric(self, f: Array) -> Array:
        """d(J^T f)_i/dx_j, (n, n, 3, 3)."""
        m, n, eye = self.mapping, len(self.x), np.eye(3)
        r, F = m.offsets, f @ self.R
        K_inverse = np.linalg.inv(np.trace(self.S) * eye - self.S)
        moment = K_inverse @ cross(m.local, F).sum(axis=0)
        Q = K_inverse @ skew(r) / n
        turned = (skew(m.local) @ skew(F)).sum(axis=0) + skew(self.S @ moment)
        D = K_inverse @ (turned @ Q + ((r @ moment)[:, None, None] * eye - moment[:, None] * r[:, None, :]) / n)
        G = -skew(cross(moment, r))[:, None] @ Q[None] - skew(r)[:, None] @ D[None]
        return np.asarray(self.R @ G @ self.R.T / n)

    def add_geometric(self, f: Array, dv: Array, df_out: Array, factor: float) -> None:
        """df += factor d(J^T f)/dx dv."""
        df_out += factor * np.einsum("abij,bj->ai", self._geometric(f), dv)

    def geometric_pattern(self) -> tuple[Array, Array]:
        """Every pair of points of the patch."""
        n = np.arange(len(self.x))
        return np.repeat(n, len(n)), np.tile(n, len(n))

    def geometric_blocks(self, f: Array, *, definite: bool) -> Array:
        """Blocks in the order of `geometric_pattern`; definite: symmetric and negative semi-definite."""
        G, n = self._geometric(f), len(self.x)
        if definite:
            G = negative_part(G.swapaxes(1, 2).reshape(3 * n, 3 * n)).reshape(n, 3, n, 3).swapaxes(1, 2)
        return G.reshape(-1, 3, 3)

    def jacobian_rows(self) -> JacobianRows:
        """A block for each held point and point of the patch."""
        k, n = self.blocks.shape[:2]
        return JacobianRows(np.arange(0, k * n + 1, n), np.tile(np.arange(n), k), self.blocks.reshape(-1, 3, 3))
