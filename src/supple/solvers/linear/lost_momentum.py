"""Momentum that an iterative solution leaves open, given back to the bodies it was taken from.

    A d = f - r,   r: the residual;    d += P (P^T M P)^-1 P^T r       P: the rigid motions of each body

Forces of laws are taken as they were found with d, equal and opposite, and inner forces have no sum. So each body ends
with the momentum that what acts gives it, to round-off, whatever the tolerance of the solution was. Bodies on joints
move together along straight lines, so that joints stay closed; those that joints hold in the world have no momentum of
their own. Bodies of points on no joints turn too; in `free_flight` they keep all of it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.scene.slots import Slot
from supple.scene.system import System
from supple.solvers.linear.free_flight import FreeFlight, fliers, hangs_on

Array = np.ndarray


class _Group(NamedTuple):
    """Bodies that joints connect, and their mass [kg] with that of points that hang on them."""

    slots: list[Slot]
    mass: float


def given_back(system: System, x: Array, lost: Array, flight: FreeFlight | None = None) -> Array:
    """Velocities (n,) [m/s] of all bodies at flat positions x that make up for a residual (n,) [kg m/s]; none of what
    filters hold, and no spin of those in flight, which is known."""
    out = np.zeros_like(lost)
    for slots, mass in _free_groups(system):
        speed = np.sum([slot.view_v(lost)[:, :3].sum(axis=0) for slot in slots], axis=0) / mass
        for slot in slots:
            slot.view_v(out)[:, :3] += speed
    flying = () if flight is None else flight.fliers
    for flier in fliers(system):
        if flier not in flying:
            flier.turn(x, lost, out)
    return out


def _free_groups(system: System) -> list[_Group]:
    """Of bodies of which neither filters nor the world hold anything."""
    if "free groups" not in system.memo:
        start, blocks = system.initial_state(), system.filter.blocks
        kin = system.propagate(start.t, start.x, start.v)
        found = []
        for slots in _joined(system):
            held = any(((blocks >= s.block_start) & (blocks < s.block_start + s.block_count)).any() for s in slots)
            hanging = [(m, at) for _, at, m in system.masses if any(hangs_on(at, slot) for slot in slots)]
            mass = float(sum(m.first_moment(kin.x[at.index])[0] for m, at in hanging))
            if mass > 0 and not held and all(slot.is_body for slot in slots):
                found.append(_Group(slots, mass))
        system.memo["free groups"] = found
    known: list[_Group] = system.memo["free groups"]
    return known


def _joined(system: System) -> list[list[Slot]]:
    """All bodies, by what joints connect; with the slot of the world where one holds them in it."""
    groups = [[slot] for slot in system.bodies]
    for _, at, _ in system.joints:
        ends = _ends(at)
        near = [group for group in groups if any(slot in ends for slot in group)]
        world = [slot for slot in ends if not slot.is_body]
        groups = [group for group in groups if group not in near] + [sum(near, world)]
    return groups


def _ends(slot: Slot) -> list[Slot]:
    """The slots of bodies and of the world that a slot depends on."""
    return [slot] if not slot.parents else [end for parent in slot.parents for end in _ends(parent)]
