"""`Support`: how a solid is held, the rigid motions that remain, and static responses under it.

    R   rigid motions that the held nodes leave free, R^T M R = I, (3 node_count, k), k = 0 ... 6
    u   of K u = b - M R R^T b, u = 0 at held nodes, R^T M u = 0

A load on a solid that can move rigidly is first put in equilibrium with its own inertia (M R R^T b, the inertia of the
rigid acceleration it causes). Then K u = b has solutions, which differ by rigid motions: one is found with k unknowns
held, picked so that they hold the body well, and its rigid part is taken out. Three nodes out of line leave k = 0,
none leaves k = 6.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.linalg
import scipy.sparse as sparse

from supple.algebra.compiling.blas_threads import one_blas_thread
from supple.algebra.sparse.direct import DirectSolver
from supple.errors import InputError, check_instance
from supple.geometry.meshes.region import Selector
from supple.modal.solid import ElasticSolid, NodeMasses

Array = np.ndarray
SMALLEST_RIGID = 1e-9
"""Of the largest singular value: rigid motions that move held nodes by less are free."""
COLUMNS = 48
"""Loads solved for at a time: fewer read the factor more often, more do not stay in the cache."""


@dataclass(frozen=True, eq=False)
class Support:
    """A solid with held nodes. fixed: a region, predicate or indices of the mesh's nodes; None holds nothing."""

    solid: ElasticSolid
    fixed: Selector | None = field(default=None)

    def __post_init__(self) -> None:
        check_instance(self.solid, NodeMasses, "a solid", where="Support")

    @cached_property
    def fixed_nodes(self) -> Array:
        """Held nodes, ascending."""
        return np.empty(0, dtype=int) if self.fixed is None else self.solid.mesh.node_region(self.fixed)

    @cached_property
    def free(self) -> Array:
        """Unknowns that may move, ascending, out of 3 node_count."""
        moving = np.ones((self.solid.node_count, 3), dtype=bool)
        moving[self.fixed_nodes] = False
        free = np.flatnonzero(moving)
        if not free.size:
            raise InputError("every node of the solid is held", value=len(self.fixed_nodes), fix="Hold fewer.")
        return free

    @cached_property
    def rigid_modes(self) -> Array:
        """R, (3 node_count, k), the same whenever the mesh is the same."""
        X = self.solid.mesh.nodes
        centre = self.solid.lumped_mass @ X / self.solid.total_mass
        motions = rigid_motions(X - centre, self.solid.mesh.diagonal)
        rows = (3 * self.fixed_nodes[:, None] + np.arange(3)).ravel()
        if len(rows):
            _, sizes, directions = np.linalg.svd(np.linalg.qr(motions[rows], mode="r"))
            bound = SMALLEST_RIGID * sizes.max()
            stays = np.concatenate([sizes <= bound, np.ones(6 - len(sizes), dtype=bool)])
            motions = motions @ directions[stays].T
            motions[rows] = 0.0
        for _ in range(2 if motions.shape[1] else 0):  # the second pass takes out the rounding of the first
            gram = motions.T @ self.solid.mass_product(motions)
            motions = scipy.linalg.solve_triangular(np.linalg.cholesky(gram), motions.T, lower=True).T
        return np.ascontiguousarray(motions)

    @cached_property
    def stiffness(self) -> Any:
        """K of the free unknowns, sparse."""
        return self.solid.stiffness[self.free][:, self.free]

    @cached_property
    def mass(self) -> Any:
        """M of the free unknowns, sparse."""
        return self.solid.mass_matrix[self.free][:, self.free]

    @cached_property
    def _pinned(self) -> Array:
        """Which k of the free unknowns are held for the static solution."""
        R = self.rigid_modes[self.free]
        return scipy.linalg.qr(R.T, mode="r", pivoting=True)[1][: R.shape[1]] if R.shape[1] else np.empty(0, dtype=int)

    @cached_property
    def factor(self) -> DirectSolver:
        """Factorised stiffness of the free unknowns, the pinned ones cut off from the others.

        They stay in the matrix, for triples of unknowns to be nodes.
        """
        K = self.stiffness
        if self._pinned.size:
            moves, alone = np.ones(len(self.free)), np.zeros(len(self.free))
            moves[self._pinned], alone[self._pinned] = 0.0, K.diagonal()[self._pinned]
            K = sparse.diags_array(moves) @ K @ sparse.diags_array(moves) + sparse.diags_array(alone)
        return DirectSolver(K)

    @cached_property
    def _rigid_momenta(self) -> Array:
        """M R, (3 node_count, k) [kg]."""
        return self.solid.mass_product(self.rigid_modes)

    def without_rigid(self, U: Array) -> Array:
        """U - R R^T M U of displacements U (3 node_count, r)."""
        return U - self.rigid_modes @ (self._rigid_momenta.T @ U) if self.rigid_modes.shape[1] else U

    def in_equilibrium(self, loads: Array) -> Array:
        """Loads (3 node_count, r) less the inertia of the rigid acceleration they cause, b - M R R^T b."""
        return loads - self._rigid_momenta @ (self.rigid_modes.T @ loads) if self.rigid_modes.shape[1] else loads

    def static_response(self, loads: Array) -> Array:
        """Displacements (3 node_count, r) [m] under loads (3 node_count, r) [N]; see the module."""
        with one_blas_thread():
            balanced = self.in_equilibrium(np.asarray(loads, dtype=float))
            out = np.zeros(balanced.shape)
            for start in range(0, balanced.shape[1], COLUMNS):
                part = slice(start, start + COLUMNS)
                right = balanced[self.free, part]
                right[self._pinned] = 0.0
                out[self.free, part] = self.factor.solve_once(right, right)
            return self.without_rigid(out)


def rigid_motions(X: Array, length: float) -> Array:
    """Three translations and three rotations (w x X) / length of points X (n, 3), as columns (3 n, 6)."""
    out = np.zeros((len(X), 3, 6))
    out[:, range(3), range(3)] = 1.0
    for k in range(3):
        out[:, :, 3 + k] = np.cross(np.eye(3)[k], X) / length
    return out.reshape(-1, 6)
