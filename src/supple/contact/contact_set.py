"""`ContactSet`: the contacts of one step, with what their law needs, and J from bodies to their relative velocities.

    u = sum_m w_m J_m v         velocity of the first side less that of the second, at the contact

Weights and normals are frozen during the step; J of points on frames is that of the step's end, as it is foreseen. A
contact is known from one step to the next by its key: the vertex and the body it touches, or the two edges.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from supple.algebra.sparse.block_rows import BlockRows
from supple.contact.law_kernels import OPEN, compute_contacts
from supple.scene.kinematics import Kinematics
from supple.scene.mapped.floating_points import FloatingPoints
from supple.scene.mapped.layered_points import LayeredPoints
from supple.scene.mapped.mappings import FramePoints, JacobianRows
from supple.scene.slots import Slot

Array = np.ndarray
Carried = FramePoints | FloatingPoints | LayeredPoints


class ContactForces(NamedTuple):
    """force (k, 3) [N] on the first sides; tangent (k, 3, 3) [N s/m], -df/du; slip (k, 3) [m]; mode (k,)."""

    force: Array
    tangent: Array
    slip: Array
    mode: Array

    @classmethod
    def none(cls, k: int) -> ContactForces:
        """Of k open contacts."""
        return cls(np.zeros((k, 3)), np.zeros((k, 3, 3)), np.zeros((k, 3)), np.full(k, OPEN, dtype=np.int8))

    def put(self, mask: Array, parts: list[ContactForces]) -> None:
        """Write those of several sets, one after another, to the contacts of a mask (k,)."""
        for own, name in zip(self, self._fields):
            if parts:
                own[mask] = np.concatenate([getattr(part, name) for part in parts])


class ContactSet(NamedTuple):
    """points (k, 4): vertices in the numbering of all surfaces, -1: none; weights (k, 4); normal (k, 3); gap (k,) [m].

    body (k, 2): number of the body of each side, obstacles after the bodies. place (k, 3) [m]. stiffness (k,) [N/m],
    tangential_stiffness (k,) [N/m], dashpot, tangential_dashpot (k,) [N s/m], friction (k,). slip (k, 3) [m] at the
    start of the step. push (k, 3) [N]: force on the first sides in the step before.
    """

    points: Array
    weights: Array
    normal: Array
    gap: Array
    body: Array
    place: Array
    stiffness: Array
    tangential_stiffness: Array
    dashpot: Array
    tangential_dashpot: Array
    friction: Array
    slip: Array
    key: Array
    push: Array

    @property
    def size(self) -> int:
        """Number of contacts."""
        return len(self.gap)

    @property
    def is_symmetric(self) -> bool:
        """Whether the tangent of the forces is: friction that grows with pressure makes it unsymmetric."""
        return not self.friction.any()

    def chosen(self, mask: Array) -> ContactSet:
        """Some of the contacts."""
        return ContactSet(*(part[mask] for part in self))

    def departing(self, way: Array) -> ContactSet:
        """With relative ways that depart by `way` (k, 3) [m] from h u, in gaps and in slips."""
        return self._replace(gap=self.gap + np.einsum("ki,ki->k", self.normal, way), slip=self.slip + way)

    def forces(self, u: Array, h: float, *, symmetric: bool) -> ContactForces:
        """Forces at relative velocities u (k, 3) [m/s] at the end of a step of h [s]; see `law_kernels`."""
        out = ContactForces.none(self.size)
        compute_contacts(
            h,
            self.gap,
            self.normal,
            self.slip,
            self.stiffness,
            self.tangential_stiffness,
            self.dashpot,
            self.tangential_dashpot,
            self.friction,
            np.ascontiguousarray(u),
            symmetric,
            *out,
        )
        return out

    def relative(self, values: Array) -> Array:
        """sum_m w_m values[point m] (k, 3), of values (vertices, 3)."""
        used = np.where(self.points >= 0, self.points, 0)
        weights = np.where(self.points >= 0, self.weights, 0.0)
        return np.einsum("km,kmi->ki", weights, values[used])


class PointRows(NamedTuple):
    """J of some points in blocks of the system, and how their way over a step departs from h J v, (points, 3) [m]."""

    J: JacobianRows
    departure: Array


def point_rows(kin: Kinematics, slot: Slot, points: Array, h: float) -> PointRows:
    """Of some points of a slot during a step of h [s]: not more work than there are points.

    Points carried by frames have J where the velocities of the start bring them: a force that acts at the end of the
    step has its lever arm there, and a wheel that rolls is not held back by a force that acts h v behind it.
    """
    mapping: Any = slot.mapping
    if slot.constant_rows is None and isinstance(mapping, Carried) and slot.parents[0].is_body:
        parent = slot.parents[0]
        x, v = kin.x[parent.index], kin.v[parent.index]
        if isinstance(mapping, FramePoints):
            part: Any = FramePoints(mapping.local[points], mapping.frame[points])
        elif isinstance(mapping, FloatingPoints):
            part = FloatingPoints(mapping.local[points], mapping.shapes[points])
        else:
            part = LayeredPoints(mapping.local[points], mapping.weights[points])
        ahead = parent.coordinates.retract(x, h * v)
        tangent = part.linearize(ahead)
        departure = part.apply(ahead) - kin.x[slot.index][points] - h * tangent.product(v)
        rows = tangent.jacobian_rows()
        return PointRows(JacobianRows(rows.ptr, rows.cols + parent.block_start, rows.blocks), departure)
    rows = kin.rows(slot)
    length = np.diff(rows.ptr)[points]
    ptr = np.concatenate([[0], np.cumsum(length)])
    at = np.repeat(rows.ptr[points] - ptr[:-1], length) + np.arange(ptr[-1])
    return PointRows(JacobianRows(ptr, rows.cols[at], rows.blocks[at]), np.zeros((len(points), 3)))


def contact_jacobian(
    kin: Kinematics, contacts: ContactSet, slots: list[Slot], starts: Array, v_size: int, h: float
) -> tuple[BlockRows, Array]:
    """J (3 k, v_size) of the contacts' relative velocities, and how the relative ways over a step of h [s] depart from
    h J v, (k, 3) [m]; starts (bodies + 1,): first vertices."""
    contact, side = np.nonzero(contacts.points >= 0)
    vertex, weight = contacts.points[contact, side], contacts.weights[contact, side]
    owner = np.searchsorted(starts, vertex, side="right") - 1
    rows, cols, blocks, departure = [], [], [], np.zeros((contacts.size, 3))
    for number in np.unique(owner):
        mine = owner == number
        J, way = point_rows(kin, slots[number], vertex[mine] - starts[number], h)
        np.add.at(departure, contact[mine], weight[mine, None] * way)
        of = np.repeat(np.arange(mine.sum()), np.diff(J.ptr))
        rows.append(contact[mine][of])
        cols.append(J.cols)
        blocks.append(weight[mine][of, None, None] * J.blocks)
    row = np.concatenate([*rows, np.zeros(0, dtype=np.int64)])
    order = np.argsort(row, kind="stable")
    ptr = np.searchsorted(row[order], np.arange(contacts.size + 1))
    data = np.concatenate([*blocks, np.zeros((0, 3, 3))])[order]
    indices = np.concatenate([*cols, np.zeros(0, dtype=np.int64)])[order]
    return BlockRows.of(ptr, indices, data, v_size // 3), departure
