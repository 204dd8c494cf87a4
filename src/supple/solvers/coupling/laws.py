"""Laws between points in one step: forces at its end by relative velocities u over it, and their tangent.

    l = f(u),   linearised  l = f_* + T (u_* - u),   T = -df/du

`Law` is what contacts, springs and a person's own forces have in common. A spring of i and j has

    u = v_i - v_j,   d = d_0 - theta h u,   l = k (L - L0) n + c (n . d') n   on i, the opposite on j, see `SpringForce`

where theta = 1, the end of the step, but for springs among trees, whose own equations hold before it.

A force of another form acts on the points one by one, u are their velocities, and T couples them all.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sparse

from supple.bodies.protocols import Force, LocalState
from supple.contact.contact_set import ContactForces
from supple.interaction.springs import SpringForce
from supple.scene.system import BoundForce
from supple.solvers.coupling.across import LATTICE
from supple.solvers.coupling.coupled_points import CoupledPoints

Array = np.ndarray


class Law(Protocol):
    """A law on k relative velocities: contacts (`ContactSet`), springs (`SpringLaw`), forces on points (`PointLaw`)."""

    @property
    def size(self) -> int: ...
    @property
    def is_symmetric(self) -> bool: ...
    def forces(self, u: Array, h: float, *, symmetric: bool) -> ContactForces: ...
    def chosen(self, mask: Array) -> Any: ...


@dataclass(frozen=True, eq=False)
class SpringLaw:
    """Springs of stiffness, rest_length, damping (k,) each; d (k, 3) [m]: from the first point to the second where the
    velocities of the start bring them, less the relative way h u. theta: where in the step they are taken."""

    label: str
    spring: SpringForce
    d: Array
    theta: float = 1.0

    @property
    def size(self) -> int:
        """k."""
        return len(self.d)

    @property
    def is_symmetric(self) -> bool:
        """The turning of a damper along its line is not."""
        return not np.any((self.spring.damping > 0) & (self.spring.rest_length > 0))

    def forces(self, u: Array, h: float, *, symmetric: bool) -> ContactForces:
        """On the first points, at relative velocities u (k, 3) [m/s] over a step of h [s]."""
        k, out = self.size, ContactForces.none(self.size)
        state = LocalState(
            0.0, np.concatenate([np.zeros((k, 3)), self.d - self.theta * h * u]), np.concatenate([np.zeros((k, 3)), -u])
        )
        f = np.zeros((2 * k, 3))
        self.spring.add_force(state, f)
        tangent = self.spring.linearize(state)
        return out._replace(force=f[:k], tangent=self.theta * h * tangent.elastic + tangent.viscous)

    def chosen(self, mask: Array) -> SpringLaw:
        """Some of the springs."""
        s, n = self.spring, int(mask.sum())
        pairs = np.stack([np.arange(n), n + np.arange(n)], axis=1)
        part = SpringForce(pairs, s.stiffness[mask], s.rest_length[mask], s.damping[mask])
        return SpringLaw(self.label, part, self.d[mask], self.theta)


@dataclass(frozen=True, eq=False)
class PointLaw:
    """A force on points one by one, x (k, 3) [m]: where they end, less the way h u; t [s]: at the end."""

    label: str
    force: Force
    x: Array
    t: float
    is_symmetric = False

    @property
    def size(self) -> int:
        """k."""
        return len(self.x)

    def forces(self, u: Array, h: float, *, symmetric: bool) -> ContactForces:
        """On the points, at their velocities u (k, 3) [m/s] over a step of h [s]."""
        f, k = np.zeros((self.size, 3)), np.arange(self.size)
        if not self.size:
            return ContactForces.none(0)
        self.force.add_force(LocalState(self.t, self.x + h * u, u), f)
        T = self._tangent(u, h).reshape(self.size, 3, self.size, 3)
        return ContactForces.none(self.size)._replace(force=f, tangent=T[k, :, k])

    def between(self, u: Array, h: float) -> Array:
        """T (3 k, 3 k) [N s/m] between points, without the blocks on its diagonal."""
        T, k = self._tangent(u, h).reshape(self.size, 3, self.size, 3), np.arange(self.size)
        T[k, :, k] = 0.0
        return T.reshape(3 * self.size, -1)

    def _tangent(self, u: Array, h: float) -> Array:
        tangent = self.force.linearize(LocalState(self.t, self.x + h * u, u))
        T = np.zeros((3 * self.size, self.size, 3))
        for column, e in zip(T, np.eye(3 * self.size)):
            tangent.add_product(e.reshape(-1, 3), column, -h, -1.0)
        return T.reshape(3 * self.size, -1).T

    def chosen(self, mask: Array) -> PointLaw:
        """All of the points, or none: they belong together."""
        return self if mask.all() else replace(self, x=self.x[:0])


@dataclass(frozen=True, eq=False)
class JointPoints:
    """Points (k, 3) [m] that joints hold to a lattice, at the start; drift (k, 3) [m/s]: what their way over the step
    has beside their velocities. No law: their forces are found while the lattice is swept."""

    x: Array
    drift: Array
    is_symmetric = True

    @property
    def size(self) -> int:
        """k."""
        return len(self.x)

    def forces(self, u: Array, h: float, *, symmetric: bool) -> ContactForces:
        """None before the sweep."""
        return ContactForces.none(self.size)

    def chosen(self, mask: Array) -> JointPoints:
        """Some of the points."""
        return JointPoints(self.x[mask], self.drift[mask])


@dataclass(frozen=True, eq=False)
class CoupledLaw:
    """A law with the points it acts on: u = W (their velocities), W (3 k, 3 count)."""

    law: SpringLaw | PointLaw | JointPoints
    points: CoupledPoints
    W: sparse.csr_array

    @classmethod
    def of(cls, acting: BoundForce, points: CoupledPoints, t: float, theta: float) -> CoupledLaw:
        """A force across parts in a step that ends at t [s]; theta: where in it springs are taken."""
        label, slot, force = acting
        x = points.x + points.departure
        if not isinstance(force, SpringForce):
            return cls(PointLaw(label, force, x, t), points, sparse.csr_array(sparse.eye_array(3 * len(x))))
        k, (i, j) = len(force.pairs), force.pairs.T
        ones, row = np.ones(k), np.arange(k)
        W = sparse.csr_array((np.r_[ones, -ones], (np.r_[row, row], np.r_[i, j])), shape=(k, slot.coordinates.count))
        pairs = np.stack([row, k + row], axis=1)
        spring = SpringForce(pairs, force.stiffness, force.rest_length, force.damping)
        return cls(SpringLaw(label, spring, x[j] - x[i], theta), points, sparse.csr_array(sparse.kron(W, np.eye(3))))

    @classmethod
    def joined(cls, points: CoupledPoints, h: float) -> CoupledLaw:
        """Points that joints hold to a lattice, in a step of h [s]."""
        law = JointPoints(points.x, points.departure / h)
        return cls(law, points, sparse.csr_array(sparse.eye_array(3 * law.size)))

    @property
    def size(self) -> int:
        """k."""
        return self.law.size

    def chosen(self, mask: Array) -> CoupledLaw:
        """Some of the rows."""
        return CoupledLaw(self.law.chosen(mask), self.points, self.W[np.flatnonzero(np.repeat(mask, 3))])

    def has(self, part: dict[str, int], kind: int) -> Array:
        """Which of the k depend on a kind of part; points that one force binds together do so together."""
        on = np.asarray(self.points.touches(self.W, part, kind).reshape(-1, 3).any(axis=1))
        if isinstance(self.law, JointPoints):
            return on | (kind == LATTICE)
        return on if isinstance(self.law, SpringLaw) else np.full(len(on), on.any())
