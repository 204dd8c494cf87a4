"""Measures of a state: energies, momenta, centres of mass, and how far each body has moved and turned.

    A = sum_i m_i (x_i - c)(X_i - C)^T,  R = argmax tr(R^T A)      orientation of a soft body (Kabsch)

R takes the body's own axes to the world, so that it is the placement's rotation at the start. Where the
points lie on a line the shortest turn is taken; a single point keeps the placement's rotation. The points of a voxel
body are the centres of its voxels; one voxel alone has its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.capabilities import Foreseeing, Gapped, Massed
from supple.bodies.protocols import GivenForce
from supple.bodies.traits import has_energy, is_passive
from supple.errors import check_instance
from supple.scene.kinematics import hanging_on
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.solvers.methods.lattice_obstacles import MET

Array = np.ndarray
FLAT = 1e-9  # singular values below this part of the largest count as zero


@dataclass(frozen=True)
class Measures:
    """kinetic, potential [J]; momentum (6,): linear [kg m/s], angular about the origin [kg m²/s]; centre (3,)
    [m]; outer: the part of the potential that gravity and constant loads have [J].
    """

    kinetic: float
    potential: float
    momentum: Array
    centre_of_mass: Array
    outer: float = 0.0

    @property
    def total(self) -> float:
        """Mechanical energy [J]."""
        return self.kinetic + self.potential


@dataclass(frozen=True)
class BodyMeasures:
    """centre_of_mass (3,) [m]; displacement of it since the start (3,) [m]; orientation: quaternion (w, x, y,
    z).
    """

    name: str
    kind: str
    centre_of_mass: Array
    displacement: Array
    orientation: Array

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {
            "name": self.name,
            "kind": self.kind,
            "centre_of_mass": self.centre_of_mass.tolist(),
            "displacement": self.displacement.tolist(),
            "orientation": self.orientation.tolist(),
        }


def measure(system: System, state: State) -> Measures:
    """Energies, momenta and centre of mass of all bodies."""
    _check(system, state, "measure")
    kin = system.propagate(state.t, state.x, state.v, state.memory, only=_measured_slots(system))
    kinetic = system.kinetic_energy(kin)  # first: a tree finds all its measures where it is told its velocities
    stored, outer = system.potential_parts(kin)
    return Measures(
        kinetic,
        stored + outer,
        np.asarray(system.momentum(kin), dtype=float),
        np.asarray(system.centre_of_mass(kin), dtype=float),
        outer,
    )


def _check(system: System, state: State, where: str) -> None:
    check_instance(system, System, "a compiled scene", where=where)
    check_instance(state, State, "a state", where=where)


def _measured_slots(system: System) -> frozenset[int]:
    """Slots with energy or mass; winds and loads given in time have none, and surfaces only contacts look at."""
    if "measured slots" not in system.memo:
        known = [f for f in system.forces if has_energy(f.force)]
        stored = [f for f in known if is_passive(f.force) or not isinstance(f.force, GivenForce)]
        system.memo["measured slots"] = hanging_on([f.slot for f in stored] + [m.slot for m in system.masses])
    found: frozenset[int] = system.memo["measured slots"]
    return found


def measure_bodies(system: System, state: State) -> list[BodyMeasures]:
    """Where each body is, how far it moved and how it is turned."""
    _check(system, state, "measure_bodies")
    start = system.initial_state()
    kin = system.propagate(state.t, state.x, state.v)
    kin0 = system.propagate(0.0, start.x, start.v)
    out = []
    for slot in system.bodies:
        centre = np.asarray(system.centre_of_mass(kin, slot), dtype=float)
        before = np.asarray(system.centre_of_mass(kin0, slot), dtype=float)
        turned = orientation(slot, system.positions(start, slot), system.positions(state, slot))
        out.append(BodyMeasures(slot.name, slot.body.kind, centre, centre - before, turned))
    return out


def measure_gaps(system: System, state: State) -> dict[str, float]:
    """The largest gap [m] between domains of each tree, by the tree's name: see `TreeBody.largest_gap`."""
    if "gapped" not in system.memo:
        system.memo["gapped"] = [slot for slot in system.bodies if isinstance(slot.body, Gapped)]
    return {slot.name: slot.body.largest_gap(slot.view_x(state.x)) for slot in system.memo["gapped"]}


def foresee(system: System, states: Sequence[State], number: int) -> None:
    """Before the state of this number is looked at: bodies that can find what will be asked of it, and of those that
    follow, in one call; and a solver of lattices, where they push obstacles."""
    if number == 0 and len(states) > 1 and MET in system.memo:
        system.memo[MET].foresee(states)
    if "foreseeing" not in system.memo:
        system.memo["foreseeing"] = [slot for slot in system.bodies if isinstance(slot.body, Foreseeing)]
    for slot in system.memo["foreseeing"]:
        sight = slot.body.foresight
        seen = states[number : number + sight]
        if number % sight == 0 and len(seen) > 1:
            x, v = [slot.view_x(state.x)[0] for state in seen], [slot.view_v(state.v)[0] for state in seen]
            slot.body.foresee(np.array(x), np.array(v))


def orientation(slot: Slot, x0: Array, x: Array) -> Array:
    """Quaternion (4,) from a body's own axes to the world, for positions x0 at the start and x now."""
    if slot.coordinates.is_frame:
        return x[0, 3:7].copy()
    x0, x = x0[:, :3], x[:, :3]  # of voxels, their centres
    mass = node_mass(slot)[:, None]
    a = x0 - (mass * x0).sum(axis=0) / mass.sum()
    b = x - (mass * x).sum(axis=0) / mass.sum()
    return rotations.multiply(best_rotation(a, b, mass), slot.node.placement.rotation)


def node_mass(slot: Slot) -> Array:
    """Weights of a soft body's points, (n,) [kg]; all alike where the body does not know them."""
    return slot.body.point_masses() if isinstance(slot.body, Massed) else np.ones(slot.coordinates.count)


def best_rotation(a: Array, b: Array, weight: Array) -> Array:
    """Quaternion (4,) that best turns centred points a into b, (n, 3) each, weight (n, 1)."""
    identity = np.array([1.0, 0.0, 0.0, 0.0])
    covariance = (weight * b).T @ a
    if not np.isfinite(covariance).all():
        return identity
    U, s, Vt = np.linalg.svd(covariance)
    if s[0] <= FLAT * float((weight * a * a).sum()):
        return identity
    if s[1] <= FLAT * s[0]:
        return _shortest_turn(Vt[0], U[:, 0])
    sign = np.sign(np.linalg.det(U) * np.linalg.det(Vt))
    return rotations.from_matrix(U @ np.diag([1.0, 1.0, sign]) @ Vt)


def _shortest_turn(a: Array, b: Array) -> Array:
    axis, cosine = np.cross(a, b), float(a @ b)
    if cosine < -1 + FLAT:
        axis = np.cross(a, np.eye(3)[np.argmin(np.abs(a))])
        return np.concatenate([[0.0], axis / np.linalg.norm(axis)])
    return rotations.normalise(np.concatenate([[1.0 + cosine], axis]))
