"""Interfaces: the nodes of a domain that a child hangs on, and the frame fitted to them.

    x(q) = xh + ah q                                              weighted mean of the nodes     [BZ11, eq. 1]
    A(q) = B(q) C+ Rh = A0 + sum_l A_l q_l,   A = R S             their best rotation            [BZ11, eqs. 2-5]
    B = sum w_k (d_k + (U_k - ah) q) d_k^T,   C = sum w_k d_k d_k^T,   d_k = X_k - xh

    symbol      code                    meaning
    w_k         `weights`               share of a node, sum 1 [-]
    Rh          `rest_rotation`         the child's axes at rest, in the domain's [-]
    xh, ah      `x_hat`, `a_hat`        [m], (3,) and (3, r)
    A0, A_l     `A_rest`, `A_modes`     (3, 3) [-] and (r, 3, 3)

We depart from the paper where the nodes lie in a plane: it adds a point on the normal, which halves every tilt unless
the point turns with the plane. The pseudo-inverse C+ without the small eigenvalue needs no point and is exact at any
angle. Then A0 = (I - N N^T) Rh, with N the normal, has rank 2, which the polar decomposition takes.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from supple.errors import InputError

Array = np.ndarray

FLAT = 1e-3
"""Eigenvalues of C below this part of the largest are dropped: the nodes count as planar."""
COLLINEAR = 1e-8
"""Where the middle eigenvalue of C is below this part of the largest, the nodes are in line."""


@dataclass(frozen=True, eq=False)
class Interface:
    """Nodes of a mesh with weights, and the child's axes at rest.

    X: rest positions of all nodes of the domain [m], (node_count, 3). nodes: indices (m,), each once. weights:
    positive, (m,), scaled to sum 1; None: equal ones. rest_rotation: (3, 3), child's axes to the domain's.
    """

    X: Array
    nodes: Array
    weights: ArrayLike | None = field(default=None, kw_only=True)
    rest_rotation: ArrayLike | None = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        X, nodes = np.asarray(self.X, dtype=float), np.asarray(self.nodes)
        if nodes.ndim != 1 or not np.issubdtype(nodes.dtype, np.integer) or len(np.unique(nodes)) != nodes.size:
            raise InputError("the nodes of the interface are not indices, each once", where="Interface", value=nodes)
        if not nodes.size or nodes.min() < 0 or nodes.max() >= len(X):
            raise InputError("the interface has no nodes, or nodes out of range", allowed=f"0 to {len(X) - 1}")
        weights = np.ones(nodes.size) if self.weights is None else np.asarray(self.weights, dtype=float)
        if weights.shape != nodes.shape or not np.isfinite(weights).all() or not (weights > 0).all():
            raise InputError("the weights of the interface are not positive numbers, one a node", where="Interface")
        R = np.eye(3) if self.rest_rotation is None else np.asarray(self.rest_rotation, dtype=float)
        if R.shape != (3, 3) or not np.allclose(R @ R.T, np.eye(3), atol=1e-9) or np.linalg.det(R) < 0:
            raise InputError("the rest rotation of the interface is not a rotation", value=R.tolist())
        object.__setattr__(self, "X", X)
        object.__setattr__(self, "nodes", nodes.astype(np.int64))
        object.__setattr__(self, "weights", weights / weights.sum())
        object.__setattr__(self, "rest_rotation", R)
        values = self._eigen[0]
        if not values[1] > COLLINEAR * values[2]:
            raise InputError(
                "the nodes of the interface are in line, so they have no rotation",
                where="Interface",
                value=f"{nodes.size} nodes",
                fix="Add the nodes of the neighbouring elements.",
            )

    @cached_property
    def x_hat(self) -> Array:
        """Weighted mean at rest [m], (3,)."""
        return np.asarray(self.weights) @ self.X[self.nodes]

    @cached_property
    def offsets(self) -> Array:
        """d_k [m], (m, 3)."""
        return self.X[self.nodes] - self.x_hat

    @cached_property
    def _eigen(self) -> tuple[Array, Array]:
        C = (np.asarray(self.weights)[:, None] * self.offsets).T @ self.offsets
        return np.linalg.eigh(C)

    @cached_property
    def is_planar(self) -> bool:
        """Whether the smallest eigenvalue of C is dropped."""
        values = self._eigen[0]
        return bool(values[0] < FLAT * values[2])

    @cached_property
    def projector(self) -> Array:
        """C C+: the identity, or I - N N^T for nodes in a plane of normal N, (3, 3)."""
        vectors = self._eigen[1][:, 1:] if self.is_planar else self._eigen[1]
        return vectors @ vectors.T if self.is_planar else np.eye(3)

    @cached_property
    def duals(self) -> Array:
        """w_k C+ d_k [1/m], (m, 3): sum_k u_k duals_k^T is the displacement gradient that fits best."""
        first = 1 if self.is_planar else 0
        values, vectors = self._eigen[0][first:], self._eigen[1][:, first:]
        return np.asarray(self.weights)[:, None] * (self.offsets @ vectors / values @ vectors.T)

    def unit_loads(self) -> Array:
        """Loads on all nodes, (3 node_count, 6): three unit forces [N], then three unit torques [N m] about `x_hat`.

        They do work on the fitted frame alone: f . u = F . (ah q) + T . w for the fitted velocities of u at rest.
        """
        out = np.zeros((len(self.X), 3, 6))
        inverse = np.linalg.inv(np.trace(self.projector) * np.eye(3) - self.projector)
        for k in range(3):
            out[self.nodes, k, k] = self.weights
            out[self.nodes, :, 3 + k] = np.cross(inverse[k], self.duals)
        return out.reshape(-1, 6)

    def fit(self, U: Array) -> InterfaceFit:
        """What the fit needs at run time, for a basis U (3 node_count, r)."""
        if U.ndim != 2 or U.shape[0] != 3 * len(self.X):
            raise InputError("the basis does not fit the nodes", value=U.shape, allowed=f"({3 * len(self.X)}, r)")
        local = U.reshape(len(self.X), 3, -1)[self.nodes]
        a_hat = np.einsum("k,kil->il", np.asarray(self.weights), local)  # (13.12), [BZ11, eq. 1]
        A = np.einsum("kil,kj->lij", local - a_hat, self.duals)  # (13.13), [BZ11, eqs. 2-4]
        R = np.asarray(self.rest_rotation)
        return InterfaceFit(self.x_hat, a_hat, self.projector @ R, np.ascontiguousarray(A @ R))


@dataclass(frozen=True, eq=False)
class InterfaceFit:
    """x_hat [m] (3,); a_hat (3, r); A_rest (3, 3); A_modes (r, 3, 3). See the module."""

    x_hat: Array
    a_hat: Array
    A_rest: Array
    A_modes: Array

    def scaled(self, factor: float) -> InterfaceFit:
        """Of the solid `factor` times as large, with the same basis: lengths grow, A_l falls as 1/factor."""
        return InterfaceFit(factor * self.x_hat, self.a_hat, self.A_rest, self.A_modes / factor)
