"""`RigidStep`: a linearised implicit step of free rigid bodies, alone or touching by convex shapes, in compiled loops.

The equations are those of `ImplicitEuler` and `ContactStep`; without springs, joints and filters A is the mass, and
nothing has to be propagated or assembled. Systems with anything else take the general way, and so does a step
that does not settle.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse

from supple.bodies.rigid.mass import FrameMass
from supple.contact.bound import BoundContact
from supple.contact.carried_kernels import compute_ahead, compute_carried_rows
from supple.contact.contact_set import ContactForces, ContactSet
from supple.contact.restitution import Approach, may_rebound, rebound_targets, rebounding
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.coupling.contact_steps import TOLERANCE
from supple.solvers.report import Outcome, StepReport
from supple.solvers.rigid.motion_kernels import compute_gains, compute_moved
from supple.solvers.rigid.step_kernels import Law, RigidContacts, solve_rigid

Array = np.ndarray
MOST_BODIES = 1000
"""Beyond so many the table of which blocks there are is too large."""
MAX_ITERATIONS = 100


@dataclass(eq=False)
class RigidStep:
    """A system of rigid bodies with at most one contact among them. M (n, 6, 6); weight (n, 6); place: row of each body
    of the contact."""

    contact: BoundContact | None
    mass: FrameMass
    M: Array
    weight: Array
    place: Array

    @classmethod
    def of(cls, system: System) -> RigidStep | None:
        """None where the system has anything but free rigid bodies and at most one contact of their shapes, or where
        obstacles move."""
        bodies, masses = system.bodies, system.masses
        if system.forces or system.joints or len(system.filter) or len(system.contacts) > 1:
            return None
        if [m.slot for m in masses] != bodies:
            return None
        if not all(type(m.mass) is FrameMass and len(m.mass.mass) == 1 for m in masses):
            return None
        contact = system.contacts[0] if system.contacts else None
        if contact is not None and not _is_of_shapes(contact, len(bodies)):
            return None
        mass = masses[0].mass.joined([m.mass for m in masses[1:]])
        M = np.zeros((len(bodies), 6, 6))
        M[:, :3, :3] = mass.mass[:, None, None] * np.eye(3)
        M[:, 3:, 3:] = mass.inertia
        weight = np.zeros((len(bodies), 6))
        mass.add_product(mass.gravity_field(system.gravity), weight, 1.0)
        row, place = {slot.v_start: k for k, slot in enumerate(bodies)}, np.zeros(0, dtype=np.int64)
        if contact is not None and contact.rigid is not None:
            place, numbers = np.full(len(contact.names) + 1, -1), contact.rigid.numbers[: contact.rigid.body_count]
            place[numbers] = [row[k] for k in contact.rigid.v_at[:, 0].tolist()]
        return cls(contact, mass, M, weight, place)

    def step(self, system: System, state: State, h: float, tolerance: float) -> StepReport | None:
        """Advance the state by h [s]; None, and the state as it was, where contacts do not settle to the tolerance."""
        x, v = state.x.reshape(-1, 7), state.v.reshape(-1, 6)
        b = np.empty_like(v)
        compute_gains(self.M, self.weight, v, h, b)
        if self.contact is None or self.contact.rigid is None:
            v_1, iterations = v + self.mass.solve(b), 1
            way = h * v_1
        else:
            with system.timings.measure("find contacts"):
                found = self.contact.find_shapes(state.x, state.v, h, state.memory)
            with system.timings.measure("contact rows"):
                body = self.place[found.carrier]
                B, departure = self._rows(found, body, x, v, h)
                found = self._rebounding(self.contact, found.departing(departure), body, B, b, v, h)
            with system.timings.measure("linear solve"):
                d, pushes, law, iterations, left = _solve(found, body, B, self.M, b, v, h)
            if not left <= tolerance:
                return None
            v_1 = v + d
            way = h * v_1
            u = _relative(body, B, v_1) if self.contact.has_static_friction else np.zeros((found.size, 3))
            self.contact.remember(found, ContactForces(pushes, law.tangent, law.slip, law.mode), u, h, state.memory)
            self.contact.rigid.shorten(state.x, v_1.ravel(), h, way.reshape(-1))
        moved = np.empty_like(x)
        compute_moved(x, way, moved)
        state.v, state.x, state.t = v_1.ravel(), moved.ravel(), state.t + h
        return StepReport(Outcome.SOLVED if state.is_finite else Outcome.NOT_FINITE, iterations, 0, 0.0)

    def _rebounding(
        self, contact: BoundContact, found: ContactSet, body: Array, B: Array, b: Array, v: Array, h: float
    ) -> ContactSet:
        """With the law that lets contacts part that are struck within the step."""
        g = contact.gravity
        if not contact.has_restitution or not found.size:
            return found
        G = _normal_rows(found.normal, body, B, len(v))
        before = G @ v.ravel()
        if not may_rebound(found, before, h, g):
            return found
        change = np.linalg.solve(self.M, b[:, :, None]).ravel()

        def response() -> Array:
            rows = G.toarray().reshape(-1, len(v), 6)
            moved = np.linalg.solve(self.M, rows.transpose(1, 2, 0))
            return np.asarray(G @ moved.reshape(-1, len(rows)))

        return rebounding(found, rebound_targets(found, Approach(before, G @ change, response), h, g), h)

    def _rows(self, found: ContactSet, body: Array, x: Array, v: Array, h: float) -> tuple[Array, Array]:
        R, blocks = np.empty((len(x), 2, 3, 3)), np.empty((found.size, 2, 2, 3, 3))
        way = np.empty((found.size, 3))
        compute_ahead(x, v, h, R)
        compute_carried_rows(body, found.core, found.shift, R, v, h, blocks, way)
        return np.ascontiguousarray(blocks[:, :, 1]), way


def _is_of_shapes(contact: BoundContact, count: int) -> bool:
    """Whether so many bodies touch each other and what stays in place by convex shapes alone."""
    return count <= MOST_BODIES and contact.rigid is not None and not contact.touches_surfaces and not contact.moving


def _relative(body: Array, B: Array, v: Array) -> Array:
    """Relative velocities (k, 3) [m/s] of contacts, of bodies' velocities (n, 6)."""
    there = (body >= 0)[:, :, None]
    own, turning = np.where(there, v[body], 0.0), np.where(there[..., None], B, 0.0)
    return np.asarray(own[:, 0, :3] - own[:, 1, :3] + np.einsum("ksij,ksj->ki", turning, own[:, :, 3:]))


def _normal_rows(normal: Array, body: Array, B: Array, n: int) -> sparse.csr_array:
    """What n bodies' velocities (6 n,) make of the normal velocities of k contacts, (k, 6 n)."""
    contact, side = np.nonzero(body >= 0)
    along = normal[contact] * (1.0 - 2.0 * side)[:, None]
    turning = np.einsum("ki,kij->kj", normal[contact], B[contact, side])
    cols = 6 * body[contact, side][:, None] + np.arange(6)
    values = np.hstack([along, turning])
    shape = (len(normal), 6 * n)
    return sparse.csr_array((values.ravel(), (np.repeat(contact, 6), cols.ravel())), shape=shape)


def _solve(
    found: ContactSet, body: Array, B: Array, M: Array, b: Array, v: Array, h: float
) -> tuple[Array, Array, Law, int, float]:
    """Change of velocity (n, 6), forces (k, 3) [N], the law there, iterations, what is left open."""
    contacts = RigidContacts(
        body,
        B,
        found.gap,
        found.normal,
        found.slip,
        found.stiffness,
        found.tangential_stiffness,
        found.dashpot,
        found.tangential_dashpot,
        found.friction,
    )
    limits = MAX_ITERATIONS, TOLERANCE
    d, pushes, law = np.empty_like(b), np.empty((found.size, 3)), Law(*ContactForces.none(found.size))
    symmetric = not found.friction.any()
    iterations, left = solve_rigid(contacts, M, b, v, h, symmetric, limits, d, pushes, law)
    return d, pushes, law, int(iterations), float(left)
