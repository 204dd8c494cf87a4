"""`ContactSet`: the contacts of one step, with what their law needs, and J from bodies to their relative velocities.

    u = sum_m w_m J_m v         velocity of the first side less that of the second, at the contact

Weights and normals are frozen during the step; J of points on frames is that of the step's end, as it is foreseen. A
contact is known from one step to the next by its key: the vertex and the body it touches, the two edges, or the
features of two shapes. Contacts of shapes have no vertices: their sides hang on frames, see `carried_kernels`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.algebra.sparse.block_rows import BlockRows
from supple.bodies.protocols import JacobianRows, is_carried, knows_positions
from supple.contact.binding.assembly_kernels import compute_relative
from supple.contact.carried_kernels import compute_ahead, compute_carried_rows
from supple.interaction.contact_kernels import OPEN, compute_contacts
from supple.scene.kinematics import Kinematics
from supple.scene.slots import Slot

if TYPE_CHECKING:
    from supple.contact.bound import BoundContact

Array = np.ndarray


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
    start of the step. push (k, 3) [N]: force on the first sides in the step before. carrier (k, 2): number of the body
    whose frame carries a side, -1: none; core (k, 2, 3) [m]: where, in its axes; shift (k, 2, 3) [m]: from there to the
    place, in the world's. group (k,): of contacts that stop an impact together; raised (k,) [N/m³]: pressure a depth
    for that, 0 where the usual one does. restitution (k,): speed after an impact over that before, nan: as the law has
    it; mass (k,) [kg]: the smaller one of both sides, where there is a restitution. drift (k, 3) [m/s]: mean velocity
    of the obstacle in the step, less which relative velocities are the law's. loose (k,): how far contacts have let go
    at the start of the step, see `sticking`; friction is their limit in this step. stops (k,) [N/m]: stiffness of a
    whole group where its pressure a depth is raised.
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
    carrier: Array
    core: Array
    shift: Array
    group: Array
    raised: Array
    restitution: Array
    mass: Array
    drift: Array
    loose: Array
    stops: Array

    @property
    def size(self) -> int:
        """Number of contacts."""
        return len(self.gap)

    @property
    def is_symmetric(self) -> bool:
        """Whether the tangent of the forces is: friction that grows with pressure makes it unsymmetric."""
        return not self.friction.any()

    @classmethod
    def bare(cls, points: Array, weights: Array, normal: Array, gap: Array, body: Array) -> ContactSet:
        """k contacts without a law, a place and what is remembered of them."""
        k = len(gap)
        zero, none = np.zeros(k), np.zeros((k, 3))
        return cls(
            points,
            weights,
            normal,
            gap,
            body,
            none,
            zero,
            zero,
            zero,
            zero,
            zero,
            none,
            np.zeros(k, dtype=np.int64),
            none,
            np.full((k, 2), -1),
            np.zeros((k, 2, 3)),
            np.zeros((k, 2, 3)),
            np.zeros(k, dtype=np.int64),
            zero,
            np.full(k, np.nan),
            zero,
            none,
            zero,
            zero,
        )

    @classmethod
    def empty(cls) -> ContactSet:
        """No contacts."""
        whole = np.zeros((0, 4), dtype=np.int64)
        return cls.bare(whole, np.zeros((0, 4)), np.zeros((0, 3)), np.zeros(0), whole[:, :2])

    def chosen(self, mask: Array) -> ContactSet:
        """Some of the contacts."""
        rows = np.flatnonzero(mask)
        return self if len(rows) == self.size else ContactSet(*(part[rows] for part in self))

    def departing(self, way: Array) -> ContactSet:
        """With relative ways that depart by `way` (k, 3) [m] from h u, in gaps and in slips."""
        return self._replace(gap=self.gap + np.einsum("ki,ki->k", self.normal, way), slip=self.slip + way)

    def forces(self, u: Array, h: float, *, symmetric: bool) -> ContactForces:
        """Forces at relative velocities u (k, 3) [m/s] at the end of a step of h [s]; see `law_kernels`."""
        k = self.size
        out = ContactForces(np.empty((k, 3)), np.empty((k, 3, 3)), np.empty((k, 3)), np.empty(k, dtype=np.int8))
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
            u - self.drift,
            symmetric,
            *out,
        )
        return out

    def relative(self, values: Array) -> Array:
        """sum_m w_m values[point m] (k, 3), of values (vertices, 3)."""
        u = np.empty((self.size, 3))
        compute_relative(self.points, self.weights, values, u)
        return u


class PointRows(NamedTuple):
    """J of some points in blocks of the system, and how their way over a step departs from h J v, (points, 3) [m]."""

    J: JacobianRows
    departure: Array


def point_rows(kin: Kinematics, slot: Slot, points: Array, h: float) -> PointRows:
    """Of some points of a slot during a step of h [s]: not more work than there are points.

    Points carried by frames have J where the velocities of the start bring them: a force that acts at the end of the
    step has its lever arm there, and a wheel that rolls is not held back by a force that acts h v behind it.
    """
    mapping = slot.mapping
    if slot.constant_rows is None and is_carried(mapping) and slot.parents[0].is_body:
        parent = slot.parents[0]
        x, v = kin.x[parent.index], kin.v[parent.index]
        part = mapping.part(points)
        ahead = parent.coordinates.retract(x, h * v)
        tangent = part.linearize(ahead)
        places = tangent.positions() if knows_positions(tangent) else part.apply(ahead)
        departure = places - kin.x[slot.index][points] - h * tangent.product(v)
        rows = tangent.jacobian_rows()
        return PointRows(JacobianRows(rows.ptr, rows.cols + parent.block_start, rows.blocks), departure)
    rows = kin.rows(slot)
    length = np.diff(rows.ptr)[points]
    ptr = np.concatenate([[0], np.cumsum(length)])
    at = np.repeat(rows.ptr[points] - ptr[:-1], length) + np.arange(ptr[-1])
    return PointRows(JacobianRows(ptr, rows.cols[at], rows.blocks[at]), np.zeros((len(points), 3)))


def contact_jacobian(
    kin: Kinematics, contacts: ContactSet, bound: BoundContact, v_size: int, h: float
) -> tuple[BlockRows, Array]:
    """J (3 k, v_size) of the contacts' relative velocities, and how the relative ways over a step of h [s] depart from
    h J v, (k, 3) [m]."""
    parts = [*_vertex_rows(kin, contacts, bound, h), _carried_rows(kin, contacts, bound, h)]
    row, cols, blocks = (np.concatenate([part[k] for part in parts]) for k in range(3))
    departure = np.zeros((contacts.size, 3))
    for part in parts:
        np.add.at(departure, part[3], part[4])
    order = np.argsort(row, kind="stable")
    ptr = np.searchsorted(row[order], np.arange(contacts.size + 1))
    return BlockRows.of(ptr, cols[order], blocks[order], v_size // 3), departure


Rows = tuple[Array, Array, Array, Array, Array]
"""Contact, column and block of each entry of J; contact and departure of each point."""


def _vertex_rows(kin: Kinematics, contacts: ContactSet, bound: BoundContact, h: float) -> list[Rows]:
    """Of the vertices of surfaces, body by body."""
    contact, side = np.nonzero(contacts.points >= 0)
    vertex, weight = contacts.points[contact, side], contacts.weights[contact, side]
    owner = bound.owner(vertex)
    out = []
    for number in np.unique(owner):
        mine = owner == number
        J, way = point_rows(kin, bound.slots[number], vertex[mine] - bound.starts[number], h)
        of = np.repeat(np.arange(mine.sum()), np.diff(J.ptr))
        blocks = weight[mine][of, None, None] * J.blocks
        out.append((contact[mine][of], J.cols, blocks, contact[mine], weight[mine, None] * way))
    return out


def _carried_rows(kin: Kinematics, contacts: ContactSet, bound: BoundContact, h: float) -> Rows:
    """Of sides that hang on frames."""
    carried = np.flatnonzero((contacts.carrier >= 0).any(axis=1))
    if not len(carried) or bound.rigid is None:
        none = np.zeros(0, dtype=np.int64)
        return none, none, np.zeros((0, 3, 3)), none, np.zeros((0, 3))
    rigid = bound.rigid
    frames, v = kin.flat_x[rigid.x_at], kin.flat_v[rigid.v_at]
    carrier = contacts.carrier[carried]
    place = np.where(carrier >= 0, np.searchsorted(rigid.numbers[: len(frames)], carrier), -1)
    R, blocks = np.empty((len(frames), 2, 3, 3)), np.empty((len(carried), 2, 2, 3, 3))
    way = np.empty((len(carried), 3))
    compute_ahead(frames, v, h, R)
    compute_carried_rows(place, contacts.core[carried], contacts.shift[carried], R, v, h, blocks, way)
    contact, side = np.nonzero(place >= 0)
    first = rigid.v_at[place[contact, side], 0] // 3
    cols = np.stack([first, first + 1], axis=1)
    return np.repeat(carried[contact], 2), cols.ravel(), blocks[contact, side].reshape(-1, 3, 3), carried, way
