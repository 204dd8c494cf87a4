"""What contacts remember from one step to the next, in the memory of a state: slips, offsets, forces, sides."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from supple.contact.binding.named_pairs import NamedPairs
from supple.contact.binding.pair_tables import element_size
from supple.contact.contact_set import ContactForces, ContactSet
from supple.contact.notices import depth_notice
from supple.contact.sticking import LET_GO, loosened
from supple.contact.stopping import Raised
from supple.errors import ContactWarning, InputError
from supple.interaction.contact_kernels import OPEN

if TYPE_CHECKING:
    from supple.contact.bound import BoundContact

Array = np.ndarray
ANEW = "anew"
"""In a state's memory: bodies may touch that might not before."""
DEEP = 0.02
"""Part of the length of an edge beyond which bodies count as overlapping at the start."""


class Touching(NamedTuple):
    """Contacts that push: names of the two sides, in the order of the scene, obstacles last; place (k, 3) [m], normal
    (k, 3) towards the first, force (k, 3) [N] on the first."""

    bodies: Sequence[tuple[str, str]]
    place: Array
    normal: Array
    force: Array


def recalled(bound: BoundContact, found: ContactSet, h: float, memory: dict[str, Array]) -> ContactSet:
    """With what is known of contacts, and gaps as seen while bodies that overlapped are pushed apart."""
    known = memory.get(f"{bound.prefix}key")
    if known is None:
        memory[f"{bound.prefix}key"] = found.key
        memory[f"{bound.prefix}slip"] = memory[f"{bound.prefix}push"] = found.slip
        memory[f"{bound.prefix}offset"] = _start(bound, found)
        if bound.has_static_friction:
            memory[f"{bound.prefix}loose"] = found.loose
        known = found.key
    elif memory.pop(f"{bound.prefix}{ANEW}", None) is not None:
        known = _begin_more(bound, found, known, memory)
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known[order], found.key), max(len(known) - 1, 0))
    if not len(known):
        return _limited(bound, found)
    same = known[order[at]] == found.key
    slip = np.where(same[:, None], memory[f"{bound.prefix}slip"][order[at]], 0.0)
    before = memory.get(f"{bound.prefix}push", np.zeros((len(known), 3)))  # an older record has none
    push = np.where(same[:, None], before[order[at]], 0.0)
    offset = np.where(same, memory[f"{bound.prefix}offset"][order[at]], 0.0)
    gap = found.gap + np.maximum(0.0, offset - bound.contact.push_speed * h)
    if bound.has_static_friction:
        before = memory.get(f"{bound.prefix}loose", np.zeros(len(known)))
        found = _limited(bound, found._replace(loose=np.where(same, before[order[at]], found.loose)))
    return found._replace(slip=slip, gap=gap, push=push)


def _limited(bound: BoundContact, found: ContactSet) -> ContactSet:
    """With the kinetic friction of contacts that have let go."""
    slides = bound.rough[found.body[:, 0], found.body[:, 1]]
    return found._replace(friction=np.where(found.loose < LET_GO, found.friction, slides))


def look_anew(bound: BoundContact, memory: dict[str, Array]) -> None:
    """Bodies may touch from now on that might not before: where they overlap, they are pushed apart as at the
    start."""
    if f"{bound.prefix}key" in memory:
        memory[f"{bound.prefix}{ANEW}"] = np.ones(1)


def _begin_more(bound: BoundContact, found: ContactSet, known: Array, memory: dict[str, Array]) -> Array:
    """Remember contacts that are new beside those that are known; the keys of all."""
    new = found.chosen(~np.isin(found.key, known))
    start = {"key": new.key, "slip": new.slip, "push": new.slip, "offset": _start(bound, new)}
    start |= {"loose": new.loose} if f"{bound.prefix}loose" in memory else {}
    for name, values in start.items():
        memory[f"{bound.prefix}{name}"] = np.concatenate([memory[f"{bound.prefix}{name}"], values])
    return memory[f"{bound.prefix}key"]


def _start(bound: BoundContact, found: ContactSet) -> Array:
    """How deep contacts begin, where that is more than touching; says so, or refuses."""
    depth = -found.gap
    deep = depth > DEEP * element_size(bound.surface)
    if not deep.any():
        return np.zeros(found.size)
    worst = int(np.argmax(depth))
    one, two = (bound.names[k] for k in found.body[worst])
    place = ", ".join(f"{c:.4g}" for c in found.place[worst])
    what = f"'{one}' and '{two}' overlap at the start, by {depth[worst]:.3g} m at ({place})"
    if bound.contact.overlap == "refuse":
        raise InputError(what, where="Contact", fix="Move them apart, or use overlap='push'.")
    warnings.warn(
        f"{what}; overlapping bodies are pushed apart at {bound.contact.push_speed:g} m/s.",
        ContactWarning,
        stacklevel=6,
    )
    return np.where(deep, depth, 0.0)


def remember(
    bound: BoundContact, contacts: ContactSet, forces: ContactForces, u: Array, h: float, memory: dict[str, Array]
) -> None:
    """Keep slips, offsets and forces of a step that has been taken. Open contacts forget theirs. u (k, 3) [m/s]:
    relative velocities at its end."""
    p, offset = bound.prefix, np.zeros(contacts.size)
    if f"{p}key" in memory and memory[f"{p}offset"].any():
        old = dict(zip(memory[f"{p}key"].tolist(), memory[f"{p}offset"].tolist()))
        before = np.array([old.get(key, 0.0) for key in contacts.key.tolist()])
        offset = np.maximum(0.0, before - bound.contact.push_speed * h)
    pushing = (forces.mode != OPEN) | forces.force.any(axis=1)  # a lattice may have parted from it within the step
    kept = pushing | (offset > 0)
    memory[f"{p}key"], memory[f"{p}offset"] = contacts.key[kept], offset[kept]
    memory[f"{p}slip"], memory[f"{p}push"] = forces.slip[kept], forces.force[kept]
    if bound.has_static_friction:
        memory[f"{p}loose"] = loosened(contacts, forces, u, h)[kept]
    memory[f"{p}sides"] = bound.detector.sides.to_array()
    memory[f"{p}body"], memory[f"{p}place"] = contacts.body[pushing], contacts.place[pushing]
    memory[f"{p}normal"], memory[f"{p}force"] = contacts.normal[pushing], forces.force[pushing]
    if not bound.has_warned:
        bound.warn(depth_notice(bound.stopping, bound.names, contacts, forces))
    stiff = pushing & (contacts.raised > 0)
    memory[f"{p}group"], memory[f"{p}raised"] = contacts.group[stiff], contacts.raised[stiff]
    memory[f"{p}stops"] = contacts.stops[stiff]


def raised(bound: BoundContact, memory: dict[str, Array]) -> Raised:
    """How stiff contacts that meet at speed were in the last step."""
    p, none = bound.prefix, Raised.none(0)
    group, modulus = memory.get(f"{p}group", none.group), memory.get(f"{p}raised", none.modulus)
    return Raised(group, modulus, memory.get(f"{p}stops", np.full(len(group), np.inf)))  # an older record has none


def touching(bound: BoundContact, memory: dict[str, Array]) -> Touching:
    """The contacts that pushed in the last step, from a state's memory."""
    p = bound.prefix
    if f"{p}force" not in memory:
        return Touching([], np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)))
    sides = memory[f"{p}body"]
    sign = np.where(sides[:, 0] > sides[:, 1], -1.0, 1.0)[:, None]  # a surface may have met the one before it
    pairs = NamedPairs(bound.names, np.sort(sides, axis=1))
    return Touching(pairs, memory[f"{p}place"], sign * memory[f"{p}normal"], sign * memory[f"{p}force"])
