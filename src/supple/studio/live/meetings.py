"""Meetings: states of a scene in which bodies touch that have not met yet, so that what their contact needs is compiled
before it happens.

Which kernels a contact needs depends on the sorts of the two bodies (`touches.structure`), or on that of one and an
obstacle. Of every two sorts that may touch, one body is brought above another, so that its lowest point lies just
inside the highest one, and moves downward; or onto an obstacle, along its normal. All others stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, islice, pairwise, product
from typing import Any

import numpy as np

from supple.contact.bound import BoundContact
from supple.errors import SuppleError
from supple.interaction.obstacles import distance
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.studio.live.touches import structure

Array = np.ndarray
SUNK = 0.02
"""How deep a body is in the other, over the margin within which contacts are found."""
SPEED = 0.2
"""At which they meet [m/s]."""
MOST_STATES = 64
"""Meetings that are tried of a contact: a scene of many sorts must not keep a person waiting."""


def meetings(system: System, start: State) -> Iterator[State]:
    """A state for every two sorts that may touch, or sort and kind of obstacle; at most `MOST_STATES` of a contact."""
    for contact in system.contacts:
        if isinstance(contact, BoundContact):
            yield from islice(_meetings_of(contact, system, start), MOST_STATES)


def _meetings_of(contact: BoundContact, system: System, start: State) -> Iterator[State]:
    vertices = contact.vertices(system.propagate(start.t, start.x, start.v, start.memory).x)
    x = [vertices[a:b] for a, b in pairwise(contact.starts)]
    bodies = [_body_of(slot) for slot in contact.slots]
    known: dict[Any, int] = {}
    sorts = [known.setdefault(None if body is None else structure(body.body), len(known)) for body in bodies]
    deep, seen, some = SUNK * contact.detector.margin, set[Any](), [k for k, own in enumerate(x) if len(own)]
    for one, two in combinations(some, 2):
        upper, lower = (one, two) if bodies[one] is not None else (two, one)
        body, pair = bodies[upper], (min(sorts[one], sorts[two]), max(sorts[one], sorts[two]))
        if body is None or contact.excluded[one, two] or pair in seen:
            continue
        low, high = x[upper][x[upper][:, 2].argmin()], x[lower][x[lower][:, 2].argmax()]
        moved = moved_state(start, body, high - low - [0.0, 0.0, deep], np.array([0.0, 0.0, -SPEED]))
        if moved is not None:
            seen.add(pair)
            yield moved
    for one, (number, obstacle) in product(some, enumerate(contact.obstacles, start=len(x))):
        body, sort = bodies[one], (sorts[one], type(obstacle))
        if body is None or contact.excluded[one, number] or sort in seen:
            continue
        away, normal = distance(obstacle, x[one])
        nearest = int(np.argmin(away))
        way = np.asarray(normal[nearest], dtype=float)
        moved = moved_state(start, body, -(float(away[nearest]) + deep) * way, -SPEED * way)
        if moved is not None:
            seen.add(sort)
            yield moved


def _body_of(slot: Slot) -> Slot | None:
    """The body that points hang on; None: on none, or on several."""
    while not slot.is_body and len(slot.parents) == 1:
        slot = slot.parents[0]
    return slot if slot.is_body else None


def moved_state(start: State, slot: Slot, way: Array, velocity: Array) -> State | None:
    """A state in which one body stands elsewhere, by a way (3,) [m], with a velocity (3,) [m/s] where it may have one;
    None where it cannot be."""
    placement = replace(slot.node.placement, at=slot.node.placement.at + way)
    for given in (velocity, np.zeros(3)):
        try:
            placed = slot.node.held_body.place(replace(placement, velocity=given))
        except SuppleError:  # one that is held starts at rest
            continue
        out = start.copy()
        slot.view_x(out.x)[:], slot.view_v(out.v)[:] = placed.x, placed.v
        return out
    return None
