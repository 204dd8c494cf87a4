"""The contract of a body: what a scene, contact, records and solvers ask of every kind, and nothing else.

`scene.add` refuses a body that lacks a part of `Body`. What only some kinds can do is in `supple.bodies.capabilities`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import Any, NamedTuple, Protocol

import numpy as np

from supple.bodies.coordinates import Coordinates
from supple.bodies.placement import Placement
from supple.bodies.protocols import Mapping, PlacedBody
from supple.bodies.surfaces import MappedSurface, NumberedSurface, RenderSurface
from supple.errors import InputError

Array = np.ndarray
Numbers = str | Sequence[int] | Array
Surface = NumberedSurface | MappedSurface


class Method(Enum):
    """How a body is advanced in a scene of several kinds."""

    IMPLICIT = "with all other implicit bodies, in one matrix"
    ELIMINATION = "by its own elimination along a tree"
    SWEEP = "by its own explicit sweep, in many small steps"


class Embedding(NamedTuple):
    """Places in a body as a mapping; numbers (k,): of the body's own points that stand for them, where they do."""

    mapping: Mapping
    numbers: Array | None = None


class Body(Protocol):
    """A kind of body. Positions are in its own axes [m] unless they are said to be of the world."""

    @property
    def kind(self) -> str:
        """Its name in files and reports."""
        ...

    @property
    def method(self) -> Method:
        """How it is advanced."""
        ...

    @property
    def coordinates(self) -> Coordinates:
        """How its state is laid out."""
        ...

    @property
    def total_mass(self) -> float:
        """[kg]."""
        ...

    @property
    def rest_points(self) -> Array:
        """Its points at rest (n, 3): nodes, particles, centres of voxels, or points of its surface."""
        ...

    def place(self, placement: Placement) -> PlacedBody:
        """The body in the world: coordinates, masses and forces inside it."""
        ...

    def point_numbers(self, selector: Numbers) -> Array:
        """Numbers (k,) of the points that a region's name, or numbers, select."""
        ...

    def point_mapping(self, numbers: Array | None) -> Mapping | None:
        """Its points of these numbers, or all; None where all of them are its coordinates as they stand."""
        ...

    def embed(self, local: Array) -> Embedding:
        """Places (k, 3) of the body, as points that follow it."""
        ...

    def contact_surface(self) -> Surface:
        """What touches other bodies."""
        ...

    def render_surface(self) -> RenderSurface:
        """What is recorded and drawn."""
        ...


REQUIRED = (
    "kind", "method", "coordinates", "total_mass", "rest_points", "place", "point_numbers", "point_mapping", "embed",
    "contact_surface", "render_surface",
)  # fmt: skip


def is_body(thing: object) -> bool:
    """Whether a thing means to be a body: it can be placed, or has points at rest."""
    return any(hasattr(type(thing), name) for name in ("place", "rest_points"))


def check_body(thing: Any) -> None:
    """Refuse a body that lacks a part of the contract; attributes of the class are not evaluated."""
    missing = [name for name in REQUIRED if not (hasattr(type(thing), name) or hasattr(thing, name))]
    if missing:
        raise InputError(
            f"a body lacks {', '.join(missing)}",
            where=type(thing).__name__,
            fix="supple.bodies.body_protocol.Body says what every body has.",
        )
    if not isinstance(thing.method, Method):
        raise InputError(
            "a body's method is unknown",
            where=type(thing).__name__,
            value=thing.method,
            allowed=", ".join(f"Method.{m.name}" for m in Method),
        )
