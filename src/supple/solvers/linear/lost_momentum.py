"""Linear momentum that an iterative solution leaves open, given back to the bodies it was taken from.

    A d = f - r,   r: the residual;    d += P (P^T M P)^-1 P^T r       P: the translations of each body

Forces of laws are taken as they were found with d, equal and opposite, and inner forces have no sum. So each body ends
with the momentum that what acts gives it, to round-off, whatever the tolerance of the solution was.
"""

from __future__ import annotations

import numpy as np

from supple.scene.slots import Slot
from supple.scene.system import System

Array = np.ndarray


def given_back(system: System, lost: Array) -> Array:
    """Velocities (n,) [m/s] of all bodies that make up for a residual (n,) [kg m/s]; none of what filters hold."""
    out = np.zeros_like(lost)
    for slot, mass in _free_bodies(system):
        slot.view_v(out)[:, :3] += slot.view_v(lost)[:, :3].sum(axis=0) / mass
    return out


def _free_bodies(system: System) -> list[tuple[Slot, float]]:
    """Bodies of which nothing is held, with their masses [kg] and those of points that hang on them."""
    if "free bodies" not in system.memo:
        start, blocks = system.initial_state(), system.filter.blocks
        kin = system.propagate(start.t, start.x, start.v)
        found = []
        for slot in system.bodies:
            held = (blocks >= slot.block_start) & (blocks < slot.block_start + slot.block_count)
            mass = sum(m.first_moment(kin.x[at.index])[0] for _, at, m in system.masses if _hangs_on(at, slot))
            if mass > 0 and not held.any():
                found.append((slot, float(mass)))
        system.memo["free bodies"] = found
    known: list[tuple[Slot, float]] = system.memo["free bodies"]
    return known


def _hangs_on(slot: Slot, body: Slot) -> bool:
    return slot is body or any(_hangs_on(parent, body) for parent in slot.parents)
