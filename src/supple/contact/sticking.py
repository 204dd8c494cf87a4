"""Static and kinetic friction: which coefficient holds for a contact in a step, decided where the step begins.

    mu     = mu_s  while l < 1,  else mu_k                    the limit of the law in a step, the same to its end
    l     += |s_0 + h P u - s| / (REACH |s|)   where it slides;  s: stretch at the limit, mu N/k_t
    l      = 0   where it opens, or sticks and P u . s_0 <= 0: it has come to rest, or turned back
    l      = 1   of a new one with  |P u| > mu_s (v + g h)  and  h |P u| > (1 + REACH) mu_s N/k_t: it slides already

A contact lets go, l = 1, once it has slid REACH times as far as its spring is stretched. A face is pressed unevenly:
its contacts reach their limits one after another, and the first ones hold on at theirs until the last one does. So the
face holds mu_s times the whole normal force. Those with less than a fifth of the largest pressure let go before, which
costs little. A step has one limit, so that its law stays continuous; the force falls with the next step.

A new contact slides already where friction that stops its approach v and bears the weight could not stop it within the
step, and where it would let go within it, with N at rest. u is that of the start. A body that slides finds new contacts
as it goes, which would hold it back otherwise, each for a step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from supple.contact.contact_set import ContactForces, ContactSet
from supple.errors import InputError
from supple.interaction.law_kernels import OPEN, SLIDES, STICKS
from supple.interaction.obstacles import Obstacle

if TYPE_CHECKING:
    from supple.contact.contact import Contact

Array = np.ndarray
LET_GO = 1.0
"""l of a contact that slides."""
REACH = 4.0
"""How far a contact slides before it lets go, over the stretch of its spring."""


def frictions(contact: Contact, names: list[str], obstacles: Mapping[str, Obstacle]) -> tuple[Array, Array]:
    """Kinetic and static coefficients of every two names, (n, n) each.

    The first that is given holds: of the pair, of the obstacle, of the contact. The first of them that has a friction
    and no static friction has both alike.
    """
    kinetic, static = np.empty((2, len(names), len(names)))
    for i, one in enumerate(names):
        for j, two in enumerate(names):
            own = [(o.friction, o.static_friction) for o in (obstacles.get(one), obstacles.get(two)) if o is not None]
            pair = contact.pair_friction(one, two)
            given = [(pair, None), *own, (contact.friction, contact.static_friction)]
            kinetic[i, j] = next(k for k, _ in given if k is not None)
            static[i, j] = next(k if s is None else s for k, s in given if k is not None or s is not None)
            if static[i, j] < kinetic[i, j] and len(own) < 2:
                raise InputError(
                    f"static friction of '{one}' and '{two}' is smaller than their friction",
                    where="Contact",
                    value=static[i, j],
                    allowed=f">= {kinetic[i, j]:g}",
                    fix="Give the obstacle a friction of its own, at most its static_friction.",
                )
    return kinetic, static


def already_loose(contacts: ContactSet, u: Array, h: float, g: float, depth: Array) -> Array:
    """l (k,) of contacts that are new, with relative velocities u (k, 3) [m/s] where a step of h [s] begins; g [m/s²];
    depth (k,) [m] to which they sink at rest."""
    n = contacts.normal
    speed = np.einsum("ki,ki->k", n, u)
    along = np.linalg.norm(u - speed[:, None] * n, axis=1)
    stretch = contacts.friction * depth * contacts.stiffness / contacts.tangential_stiffness
    slides = along > contacts.friction * (np.maximum(0.0, -speed) + g * h)
    return np.where(slides & (h * along > (1.0 + REACH) * stretch), LET_GO, 0.0)


def loosened(contacts: ContactSet, forces: ContactForces, u: Array, h: float) -> Array:
    """l (k,) after a step of h [s] that ended with relative velocities u (k, 3) [m/s]."""
    n, s = contacts.normal, contacts.slip
    u_t, s = (a - np.einsum("ki,ki->k", n, a)[:, None] * n for a in (u - contacts.drift, s))
    slid = np.linalg.norm(s + h * u_t - forces.slip, axis=1)
    stretch = REACH * np.linalg.norm(forces.slip, axis=1)
    part = np.divide(slid, stretch, out=np.ones_like(slid), where=slid < stretch)
    loose = np.where(forces.mode == SLIDES, np.minimum(LET_GO, contacts.loose + part), contacts.loose)
    rests = (forces.mode == STICKS) & (np.einsum("ki,ki->k", u_t, s) <= 0)
    return np.where(rests | (forces.mode == OPEN), 0.0, loose)
