"""Motion of all frames of a tree in the world, and the way back of forces: v = J (q', root), Q = J^T f.

    R_j = R_i R,   o_j = o_i + R_i x,   w_j = R^T (w_i + w_ij),   v_j = v_i + R_i (w_i x x + v_ij)       [BZ11, eq. 11]
    Q_i += Gamma^T R tau_j + ah^T R f_j,   tau_i += R tau_j + x x R f_j,   f_i += R f_j                  leaves to root

Origins o and their velocities v are in world axes, angular velocities w, torques and forces in the domain's own.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.tree.model import TreeModel
from supple.modal.inertia_kernels import domain_inertia
from supple.modal.interfaces.interface_kernels import InterfaceMotion, interface_motion

Array = np.ndarray


class _Joining(NamedTuple):
    """Children of one level on one interface of one class: children, parents (k,), rows (k,) of these in their
    class."""

    children: Array
    parents: Array
    number: int
    interface: int
    rows: Array


@dataclass(frozen=True, eq=False)
class TreeKinematics:
    """How the frames of a model follow from its coordinates."""

    model: TreeModel

    @cached_property
    def joinings(self) -> list[_Joining]:
        """All children, parents first."""
        model = self.model
        row = np.empty(model.domain_count, dtype=np.int64)
        for number in range(len(model.classes)):
            row[model.members(number)] = np.arange(len(model.members(number)))
        child = np.arange(1, model.domain_count)
        above = model.parent[1:]
        keys = np.stack([model.levels[1:], model.domain_class[above], model.parent_interface[1:]], axis=1)
        order = np.lexsort(keys.T[::-1])
        cuts = np.flatnonzero((np.diff(keys[order], axis=0) != 0).any(axis=1)) + 1
        out = []
        for part in np.split(order, cuts) if len(order) else []:
            parents = above[part]
            number, interface = keys[part[0], 1], keys[part[0], 2]
            out.append(_Joining(child[part], parents, int(number), int(interface), row[parents]))
        return out

    def motion(self, q: Array, v: Array, frame: Array, velocity: Array) -> TreeMotion:
        """Frames and their velocities for coordinates q, v (n,), the root's frame (7,) and velocity (6,)."""
        model = self.model
        d = model.domain_count
        R, o, u, w = np.empty((d, 3, 3)), np.empty((d, 3)), np.empty((d, 3)), np.empty((d, 3))
        R[0], o[0] = rotations.to_matrix(frame[3:]), frame[:3]
        u[0], w[0] = velocity[:3], velocity[3:]
        interfaces: dict[tuple[int, int], InterfaceMotion] = {}
        for number, kind in enumerate(model.classes):
            where = model.coordinates_of(number)
            for interface, fit in enumerate(kind.fits):
                interfaces[number, interface] = interface_motion(fit, q[where], v[where])
        for join in self.joinings:
            face, k, i = interfaces[join.number, join.interface], join.rows, join.parents
            s = model.scale[i][:, None]
            x = s * face.x[k]
            o[join.children] = o[i] + _times(R[i], x)
            u[join.children] = u[i] + _times(R[i], np.cross(w[i], x) + s * face.v[k])
            w[join.children] = _back(face.R[k], w[i] + face.omega[k])
            R[join.children] = R[i] @ face.R[k]
        return TreeMotion(self, q, v, R, o, u, w, interfaces)


def _times(R: Array, a: Array) -> Array:
    return np.einsum("nij,nj->ni", R, a)


def _back(R: Array, a: Array) -> Array:
    return np.einsum("nji,nj->ni", R, a)


@dataclass(frozen=True, eq=False)
class TreeMotion:
    """R (d, 3, 3); origins o [m], their velocities u [m/s] (d, 3) in world axes; spins w [rad/s] (d, 3) in own axes."""

    kinematics: TreeKinematics
    q: Array
    v: Array
    R: Array
    o: Array
    u: Array
    w: Array
    interfaces: dict[tuple[int, int], InterfaceMotion]

    @property
    def margin(self) -> float:
        """The smallest margin of a fitted frame: 1 or 2 at rest; near 0 a frame is lost."""
        return min((float(face.margin.min()) for face in self.interfaces.values()), default=2.0)

    def pull(self, forces: Array, wrenches: Array) -> tuple[Array, Array]:
        """Forces on all coordinates (n,) and the root's wrench (6,), of local forces (n,) and wrenches (d, 6).

        Wrenches are (torque about the domain's origin, force) in the domain's axes.
        """
        model = self.kinematics.model
        Q, tau, f = forces.copy(), wrenches[:, :3].copy(), wrenches[:, 3:].copy()
        for join in reversed(self.kinematics.joinings):
            face, k, i = self.interfaces[join.number, join.interface], join.rows, join.parents
            s = model.scale[i][:, None]
            R, fit = face.R[k], model.classes[join.number].fits[join.interface]
            T, F = _times(R, tau[join.children]), _times(R, f[join.children])
            if fit.a_hat.shape[1]:
                part = np.einsum("nil,ni->nl", face.Gamma[k], T) + (s * F) @ fit.a_hat
                np.add.at(Q, model.q_starts[i][:, None] + np.arange(fit.a_hat.shape[1]), part)
            np.add.at(tau, i, T + np.cross(s * face.x[k], F))
            np.add.at(f, i, F)
        return Q, np.concatenate([tau[0], f[0]])

    def measures(self) -> TreeMeasures:
        """Energies, momenta and first moment of the whole."""
        model = self.kinematics.model
        kinetic, elastic, P, L, S_all = 0.0, 0.0, np.zeros(3), np.zeros(3), np.zeros(3)
        for number, kind in enumerate(model.classes):
            members = model.members(number)
            where = model.coordinates_of(number)
            q, v, w, s = self.q[where], self.v[where], self.w[members], model.scale[members]
            R, o, u = self.R[members], self.o[members], _back(self.R[members], self.u[members])
            found = domain_inertia(kind.integrals, q, v, w)
            rho = model.density[members]
            m, cube, fifth = kind.integrals.mass * s**3 * rho, (s**4 * rho)[:, None], s**5 * rho
            S = cube * found.S
            spin = fifth[:, None] * (np.einsum("nij,nj->ni", found.J, w) + np.einsum("nil,nl->ni", found.H, v))
            flow = cube * (v @ kind.integrals.U_bar.T)
            own = fifth * np.einsum("nl,lp,np->n", v, kind.integrals.W4, v)
            turned = fifth * np.einsum("ni,nil,nl->n", w, found.H, v)
            p = m[:, None] * u + np.cross(w, S) + flow  # momentum in own axes
            l = spin + np.cross(S, u)
            kinetic += 0.5 * float(((p + flow) * u).sum() + (l * w).sum() + turned.sum() + own.sum())
            moved = _times(R, p)
            P += moved.sum(axis=0)
            L += (_times(R, l) + np.cross(o, moved)).sum(axis=0)
            S_all += (m[:, None] * o + _times(R, S)).sum(axis=0)
            if kind.force is not None:
                elastic += float((model.tuning[members] ** 2 * s**3) @ kind.force.energy(q))
        return TreeMeasures(kinetic, elastic, np.concatenate([P, L]), S_all)


class TreeMeasures(NamedTuple):
    """kinetic, elastic [J]; momentum (6,): linear, angular about the world's origin; first_moment (3,) [kg m]."""

    kinetic: float
    elastic: float
    momentum: Array
    first_moment: Array

    def energy(self, gravity: Array) -> float:
        """Kinetic, elastic and gravity's energy [J]."""
        return self.kinetic + self.elastic - float(np.asarray(gravity) @ self.first_moment)
