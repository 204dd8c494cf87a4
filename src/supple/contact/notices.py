"""Sentences about contacts that may not hold what meets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from supple.contact.binding.sinking_kernels import is_held
from supple.contact.contact_set import ContactForces, ContactSet
from supple.contact.stopping import Stopping

Array = np.ndarray
SINKS = 0.5
"""Part of the smaller width of two bodies by which an impact may sink without a word."""
DEEPEST = 0.4
"""Part of the smaller width of two bodies beyond which a contact may come out on the other side."""


def stiffness_notice(
    stopping: Stopping,
    names: Sequence[str],
    found: ContactSet,
    stiffness: float,
    area: Array,
    speed: Array,
    h: float,
) -> str | None:
    """Where a stiffness [N/m³] that was given lets an impact within h [s] sink by more than half of the smaller width.

    area (k,) [m²]; speed (k,) [m/s]: of the gaps.
    """
    if is_held(stopping.arrays, found.body, found.points, found.gap, area, speed, stiffness, h, SINKS):
        return None
    at = np.unique(stopping.groups(found), return_inverse=True)[1]
    K, width = stiffness * np.bincount(at, area)[at], stopping.pair_width(found)
    depth = np.sqrt(stopping.energy(found, speed) / np.maximum(K, np.finfo(float).tiny))
    part = np.where(found.gap + h * speed < 0, depth / width, 0.0)
    worst = int(np.argmax(part))
    if part[worst] <= SINKS:
        return None
    one, two = (names[k] for k in found.body[worst])
    return (
        f"'{one}' meets '{two}' at {-speed[worst]:.3g} m/s: with stiffness={stiffness:.3g} it sinks by "
        f"{depth[worst]:.3g} m, more than half of the {width[worst]:.3g} m there; use at least "
        f"{stiffness * (2 * part[worst]) ** 2:.2g}, or none, which takes it from the energy."
    )


def depth_notice(stopping: Stopping, names: Sequence[str], contacts: ContactSet, forces: ContactForces) -> str | None:
    """Where a contact has sunk nearly as far as the middle of what it touches, and may come out beyond."""
    if not contacts.size:
        return None
    push = np.einsum("ki,ki->k", contacts.normal, forces.force)
    depth = np.divide(push, contacts.stiffness, out=np.zeros(len(push)), where=contacts.stiffness > 0)
    part = depth / stopping.pair_width(contacts)
    worst = int(np.argmax(part))
    if part[worst] <= DEEPEST:
        return None
    one, two = (names[k] for k in contacts.body[worst])
    return (
        f"'{one}' sinks {depth[worst]:.3g} m into '{two}', {100 * part[worst]:.0f} % of the smaller width of both, and "
        "may pass through; use a larger stiffness or a smaller step."
    )
