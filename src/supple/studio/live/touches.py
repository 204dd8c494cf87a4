"""Touches: points of a running system of all sorts that its kernels tell apart, so that each is pulled at once before a
person does.

What a pull needs depends on the body (its class, its elements, whether it is damped), on what acts on it (joints,
springs, winds), and on how the point follows it: within an element or beyond it, on one domain of a tree or on several
that are one at a seam. Two points for which all this is alike need the same kernels. Numba tells arrays apart by their
types, not by their values: so numbers count only as zero or not, and arrays by their types and whether each axis has
none, one or several, as a point on one domain and on several.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, is_dataclass
from enum import Enum
from typing import Any

import numpy as np

from supple.bodies.carried import carriers_of
from supple.errors import SuppleError
from supple.record.surfaces import Surface
from supple.scene.kinematics import hanging_on
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import System
from supple.studio.picking import Picked
from supple.studio.pulling import point_at

Array = np.ndarray
DEEP = 3
"""How deep the parts of a body or of a mapping are told apart."""
BEYOND = 1e-6
"""How far outside a point beyond a body is, over the body's size: farther than single precision rounds."""


def touches(system: System, surfaces: Sequence[Surface], start: State) -> Iterator[Picked]:
    """One point of each sort, where it is at the start."""
    seen: set[tuple[Any, ...]] = set()
    for number, surface in enumerate(surfaces):
        body = sort_of_body(system, surface)
        if body in seen:
            continue
        seen.add(body)
        for place in places(surface, surface.points(start).astype(float)):
            try:
                mapping = point_at(surface.slot.node, place).mapping
            except SuppleError:  # a point that cannot be pulled
                continue
            if (sort := (*body, structure(mapping))) not in seen:
                seen.add(sort)
                yield Picked(number, place, place)


def places(surface: Surface, points: Array) -> list[Array]:
    """Points of a surface that may differ in how they follow the body, (3,) [m] each: a corner, one on a seam, one
    within a triangle, and one just beyond it. points (n, 3) [m]: those of the surface."""
    found = [points[0]]
    carriers = carriers_of(surface.shown)
    if carriers is not None and len(carriers.seams):
        found.append(points[carriers.seams[0]])
    if len(surface.triangles):
        a, b, c = points[surface.triangles[0]]
        normal, middle = np.cross(b - a, c - a), (a + b + c) / 3
        size, length = float(np.linalg.norm(np.ptp(points, axis=0))), float(np.linalg.norm(normal))
        found += [middle, middle + (BEYOND * size / length if length > 0 else 0.0) * normal]
    return found


def sort_of_body(system: System, surface: Surface) -> tuple[Any, ...]:
    """What tells bodies apart: the body itself, what is seen of it, and what acts on it."""
    slot, carriers = surface.slot, carriers_of(surface.shown)
    acting: list[tuple[Slot, Any]] = [(bound.slot, bound.force) for bound in system.forces] + [
        (bound.slot, bound.rows) for bound in system.joints
    ]
    own = frozenset(type(one).__qualname__ for on, one in acting if slot.index in hanging_on([on]))
    seams = carriers is not None and len(carriers.seams) > 0
    return structure(slot.body), own, seams, len(surface.triangles) > 0


def structure(value: Any, deep: int = DEEP) -> Any:
    """What of a value may choose the kernels that it needs: types, and of plain values whether they are zero.

    >>> structure(np.zeros(3)) == structure(np.ones(5)), structure(0.5) == structure(2.0)
    (True, True)
    """
    if isinstance(value, np.ndarray):
        return value.dtype.str, bool(value.flags.c_contiguous), tuple(min(size, 2) for size in value.shape)
    if isinstance(value, bool | Enum) or value is None:
        return value
    if isinstance(value, str) and deep == DEEP - 1:  # a choice of the body; deeper ones are names
        return value
    if isinstance(value, int | float | np.number):
        return "number", bool(value != 0)
    if deep and is_dataclass(value):
        parts = tuple((part.name, structure(getattr(value, part.name), deep - 1)) for part in fields(value))
        return type(value).__qualname__, parts
    if deep and isinstance(value, dict):
        return "dict", frozenset(structure(part, deep - 1) for part in value.values())
    if deep and isinstance(value, list | tuple):
        return type(value).__qualname__, frozenset(structure(part, deep - 1) for part in value)
    return type(value).__qualname__
