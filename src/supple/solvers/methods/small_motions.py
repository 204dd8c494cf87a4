"""Small motions of a whole scene about a state: its forces, M and K = -df/dx, trees, joints and contacts included.

    K = K_bodies + K_trees + J^T k J,      k: n n^T stiffness, and the tangential one where a contact sticks

Contacts are held as they are: those that push at the state stay closed with their stiffness. What moves with a tree's
coordinates is differenced, since J of its points changes with them; all else is the system's own tangent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse

from supple.algebra.dense import rotations
from supple.bodies.protocols import DenseMass
from supple.contact.bound import BoundContact
from supple.contact.contact_set import ContactSet
from supple.interaction.contact_kernels import OPEN, STICKS
from supple.scene.kinematics import Kinematics
from supple.scene.slot_values import SlotArrays
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System

Array = np.ndarray
INSTANT = 1e-9  # [s], a step in which nothing moves
MOVE = 1e-6  # [m] or [rad], of differences


class Closed(NamedTuple):
    """The contacts of one description that push. forces (k, 3) [N] on the first sides, stiffness (k, 3, 3) [N/m]."""

    bound: BoundContact
    contacts: ContactSet
    forces: Array
    stiffness: Array

    def relative(self, kin: Kinematics, pushed: SlotArrays) -> Array:
        """J dv (k, 3) of velocity-like vectors of every slot."""
        out = self.contacts.relative(self.bound.vertices(pushed))
        for contact, side, slot, arm in self._carried(kin):
            move, turn = pushed[slot.index][0, :3], pushed[slot.index][0, 3:6]
            out[contact] += (1 - 2 * side) * (move + np.cross(_rotation(kin, slot) @ turn, arm))
        return out

    def add_force(self, kin: Kinematics, f_out: list[Array]) -> None:
        """J^T f on every slot, before it is pulled back."""
        parts = [np.zeros((slot.coordinates.count, 3)) for slot in self.bound.slots]
        for k, points in enumerate(self.contacts.points):
            for vertex, weight in zip(points, self.contacts.weights[k]):
                if vertex >= 0:
                    owner = int(self.bound.owner(np.array([vertex]))[0])
                    parts[owner][vertex - self.bound.starts[owner]] += weight * self.forces[k]
        for slot, part in zip(self.bound.slots, parts):
            f_out[slot.index] += part
        for contact, side, slot, arm in self._carried(kin):
            f = (1 - 2 * side) * self.forces[contact]
            f_out[slot.index][0, :3] += f
            f_out[slot.index][0, 3:6] += _rotation(kin, slot).T @ np.cross(arm, f)

    def _carried(self, kin: Kinematics) -> list[tuple[int, int, Slot, Array]]:
        """Contact, side, body and lever arm (3,) [m] of the sides that hang on frames."""
        out = []
        for contact, side in np.argwhere(self.contacts.carrier >= 0).tolist():
            slot = self.bound.slots[self.contacts.carrier[contact, side]]
            while not slot.is_body:
                slot = slot.parents[0]
            arm = _rotation(kin, slot) @ self.contacts.core[contact, side] + self.contacts.shift[contact, side]
            out.append((contact, side, slot, arm))
        return out


def _rotation(kin: Kinematics, slot: Slot) -> Array:
    return rotations.to_matrix(kin.x[slot.index][0, 3:7])


def closed_contacts(system: System, kin: Kinematics, memory: dict[str, Array]) -> list[Closed]:
    """The contacts that push at an instant, with what the state remembers of them."""
    out = []
    for bound in system.contacts:
        found = bound.find(kin, INSTANT, _nothing_kept(bound.prefix) | memory)
        law = found.forces(np.zeros((found.size, 3)), INSTANT, symmetric=True)
        pushing = law.mode != OPEN
        contacts, n = found.chosen(pushing), found.normal[pushing]
        along = np.eye(3) - n[:, :, None] * n[:, None, :]
        sticks = (law.mode[pushing] == STICKS) & (contacts.friction > 0)
        tangential = np.where(sticks, contacts.tangential_stiffness, 0.0)[:, None, None]
        stiffness = contacts.stiffness[:, None, None] * (np.eye(3) - along) + tangential * along
        out.append(Closed(bound, contacts, law.force[pushing], stiffness))
    return out


def _nothing_kept(prefix: str) -> dict[str, Array]:
    """What a contact remembers that has met nothing: depths are then those of now, not of an overlap at the start."""
    none = np.zeros((0, 3))
    kept = {"key": np.zeros(0, dtype=np.int64), "slip": none, "push": none, "offset": np.zeros(0)}
    return {f"{prefix}{name}": values for name, values in kept.items()}


class SmallMotions(NamedTuple):
    """f (v_size,) [N], joints aside; M, K (v_size, v_size); G: of the joints, (rows, v_size)."""

    f: Array
    M: Any
    K: Any
    G: Array


def is_special(system: System) -> bool:
    """Whether a scene has what the system's own matrices do not know: trees, or contacts."""
    return bool(system.contacts) or any(isinstance(mass, DenseMass) for _, _, mass in system.masses)


def all_forces(
    system: System, kin: Kinematics, multipliers: Array | None, contacts: list[Closed]
) -> tuple[Array, float]:
    """Forces on the bodies, contacts included, flat, and the sum of the sizes of their parts [N]."""
    out, scale = system.slot_forces(kin, multipliers), 0.0
    for contact in contacts:
        part = [np.zeros_like(v) for v in kin.v]
        contact.add_force(kin, part)
        kin.pull(part)
        scale += float(np.linalg.norm(contact.forces))
        for slot in system.bodies:
            out[slot.index] += part[slot.index]
    for _, slot, force in system.forces:
        part = [np.zeros_like(v) for v in kin.v]
        force.add_force(kin.local(slot), part[slot.index])
        kin.pull(part)
        scale += float(np.linalg.norm(system.gather(part)))
    for _, slot, mass in system.masses:
        scale += float(np.linalg.norm(system.gravity)) * float(mass.first_moment(kin.x[slot.index])[0])
    return system.gather(out), scale


def small_motions(system: System, state: State, multipliers: Array | None = None) -> SmallMotions:
    """About a state at rest; multipliers: of the joints."""
    kin = system.propagate(state.t, state.x, np.zeros(system.v_size), state.memory)
    contacts = closed_contacts(system, kin, state.memory)
    f, _ = all_forces(system, kin, None, contacts)
    trees = {slot.index: mass for _, slot, mass in system.masses if isinstance(mass, DenseMass)}
    rest = replace(
        system,
        forces=[bound for bound in system.forces if bound.slot.index not in trees],
        masses=[bound for bound in system.masses if bound.slot.index not in trees],
        memo={},
    )
    lin = rest.linearize(kin, multipliers=multipliers)
    M, K = lin.matrix(mass=1.0), lin.matrix(stiffness=-1.0)
    if trees or contacts:
        M, K = M.toarray(), K.toarray()
    for index, mass in trees.items():
        part = system.slots[index].v_slice
        M[part, part] = mass.matrix(kin.x[index])
        for k in np.flatnonzero(np.diag(M)[part] > 0) + part.start:
            K[:, k] = -_derivative(system, state, k, multipliers)
    if any(contact.contacts.size for contact in contacts):
        columns = [_contact_columns(kin, contacts, e) for e in np.eye(system.v_size)]
        J, k = np.array(columns).T, np.concatenate([contact.stiffness for contact in contacts])
        K = K + J.T @ np.einsum("kij,kjn->kin", k, J.reshape(len(k), 3, -1)).reshape(J.shape)
    return SmallMotions(f, M, K, dense(lin.joint_jacobian()))


def _derivative(system: System, state: State, k: int, multipliers: Array | None) -> Array:
    """df/dx along coordinate k, contacts aside, by central differences."""
    ends = []
    for sign in (1.0, -1.0):
        d = np.zeros(system.v_size)
        d[k] = sign * MOVE
        kin = system.propagate(state.t, system.retract(state.x, d), np.zeros(system.v_size), state.memory)
        ends.append(system.gather(system.slot_forces(kin, multipliers)))
    return (ends[0] - ends[1]) / (2 * MOVE)


def _contact_columns(kin: Kinematics, contacts: list[Closed], e: Array) -> Array:
    pushed = kin.push(e)
    return np.concatenate([contact.relative(kin, pushed).ravel() for contact in contacts])


class Balance(NamedTuple):
    """What is open at a state at rest. left: forces that nothing balances, over the sizes of all; gap: the largest phi
    of a joint; multipliers: of the joints, those that balance the most, the smallest of them."""

    left: float
    gap: float
    multipliers: Array


def balance(system: System, state: State, free: sparse.csr_array) -> Balance:
    """Of all forces of a state within the directions of `free`, contacts and joints included."""
    kin = system.propagate(state.t, state.x, np.zeros(system.v_size), state.memory)
    f, scale = all_forces(system, kin, None, closed_contacts(system, kin, state.memory))
    if not np.isfinite(f).all():
        return Balance(np.inf, np.inf, np.zeros(system.joint_row_count))
    open_forces = free.T @ f
    if not system.joints:
        return Balance(float(np.linalg.norm(open_forces)) / (scale or 1.0), 0.0, np.zeros(0))
    rows = dense(replace(system, forces=[], masses=[], memo={}).linearize(kin).joint_jacobian()) @ free
    found = np.linalg.lstsq(rows.T, -open_forces, rcond=1e-12)[0]
    gap = float(np.abs(system.violation(kin)).max(initial=0.0))
    return Balance(float(np.linalg.norm(open_forces + rows.T @ found)) / (scale or 1.0), gap, found)


def dense(A: Any) -> Array:
    """A matrix as an array."""
    return np.asarray(A.toarray() if sparse.issparse(A) else A)


def free_basis(system: System, state: State) -> sparse.csr_array:
    """Orthonormal columns that span the directions the filters leave free, of coordinates that move."""
    n = system.v_size
    keep = np.ones(n, dtype=bool)
    for _, slot, mass in system.masses:
        if isinstance(mass, DenseMass):
            keep[slot.v_slice] = np.diag(mass.matrix(slot.view_x(state.x))) > 0
    extra: list[tuple[int, Array]] = []
    for block, C in zip(system.filter.blocks, system.filter.projectors):
        keep[3 * block : 3 * block + 3] = False
        values, vectors = np.linalg.eigh(C)
        extra += [(int(block), vectors[:, k]) for k in range(3) if values[k] > 0.5]
    identity = sparse.eye_array(n, format="csc")[:, np.flatnonzero(keep)]
    if not extra:
        return sparse.csr_array(identity)
    rows = np.concatenate([3 * b + np.arange(3) for b, _ in extra])
    cols = np.repeat(np.arange(len(extra)), 3)
    values = np.concatenate([d for _, d in extra])
    return sparse.csr_array(sparse.hstack([identity, sparse.coo_array((values, (rows, cols)), shape=(n, len(extra)))]))
