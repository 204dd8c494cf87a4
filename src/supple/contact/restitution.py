"""Newton's law of restitution: contacts that close at speed part with e times the speed of approach.

    w = u;   while some w_i < -rest and gap_i + h w_i < 0:   q >= 0 with (W q)_i = -(1 + e_i) w_i of these,   w += W q

w: normal velocities of all contacts, W: what unit impulses along the normals change of them. A blow is so passed on
within the step, from contact to contact. Those that were struck get the end velocity w + a as their target, a: what
forces change in the step, and the law of the step keeps it: N = k h (target - n . u), k = RIGID m/h². Impulses are
those of the law, equal and opposite, and friction is Coulomb's with them. The blow falls where the step begins.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from supple.contact.contact_set import ContactSet

Array = np.ndarray
RIGID = 1e6
"""h² k/m of contacts in a blow: the inverse of the part of the speed by which they miss their target."""
REST = 2.0
"""Times what forces change in a step: slower contacts have no restitution, so that bodies come to rest."""
MOST_BLOWS = 1000
"""Blows that are passed on within one step."""


class Approach(NamedTuple):
    """Normal velocities (k,) [m/s] of contacts. before: at the start of a step; change: by forces within it;
    response(): W (k, k) [1/kg]."""

    before: Array
    change: Array
    response: Callable[[], Array]


def may_rebound(found: ContactSet, before: Array, h: float, g: float) -> bool:
    """Whether any contact may close at speed within h [s]; before (k,) [m/s]: of the gaps; g [m/s²]: gravity."""
    closes = (before < -REST * g * h) & (found.gap + h * before < g * h * h)
    return bool((closes & ~np.isnan(found.restitution)).any())


def rebound_targets(found: ContactSet, approach: Approach, h: float, g: float) -> Array:
    """Velocities (k,) [m/s] at which the gaps of contacts that are struck within h [s] open; nan of all others."""
    e, w, change = found.restitution, approach.before.copy(), approach.change
    rest = REST * np.maximum(g * h, np.abs(change))
    struck, W = np.zeros(found.size, dtype=bool), None
    for _ in range(MOST_BLOWS):
        hit = np.flatnonzero(~np.isnan(e) & (w < -rest) & (found.gap + h * (w + np.minimum(change, 0.0)) < 0))
        if not len(hit):
            break
        W = approach.response() if W is None else W
        q, _ = nnls(W[np.ix_(hit, hit)], -(1 + e[hit]) * w[hit])
        if not q.any():
            break
        w += W[:, hit] @ q
        struck[hit] = True
    return np.where(struck, np.maximum(0.0, w + change), np.nan)


def rebounding(found: ContactSet, target: Array, h: float) -> ContactSet:
    """With the law of a step of h [s] that opens gaps at target velocities (k,) [m/s], nan: as it is."""
    struck = ~np.isnan(target)
    k = np.where(struck, np.maximum(found.stiffness, RIGID * found.mass / h**2), found.stiffness)
    part = np.divide(k, found.stiffness, out=np.ones(found.size), where=found.stiffness > 0)
    return found._replace(
        gap=np.where(struck, -h * np.nan_to_num(target), found.gap),
        stiffness=k,
        tangential_stiffness=part * found.tangential_stiffness,
        dashpot=np.where(struck, 0.0, found.dashpot),
        tangential_dashpot=np.where(struck, 0.0, found.tangential_dashpot),
    )
