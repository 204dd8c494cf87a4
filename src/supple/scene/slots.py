"""Slots: the places of state in a compiled system. Bodies own coordinates; mapped, joined and world points follow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from supple.bodies.body_protocol import Body
from supple.bodies.capabilities import Remembering
from supple.bodies.coordinates import Coordinates, JoinedCoordinates
from supple.bodies.protocols import JacobianRows, Mapping

Array = np.ndarray


@dataclass(eq=False)
class Slot:
    """One set of coordinates in a system.

    A body's slot has a place in the flat vectors (x_start, v_start) and a node; a mapped slot has one parent and a
    mapping; a joined slot has several parents; a world slot has fixed positions.
    """

    index: int
    name: str
    coordinates: Coordinates
    node: Any = None  # a Node; the solver of one kind knows more of its body than `body` says
    x_start: int = -1
    v_start: int = -1
    parents: tuple[Slot, ...] = ()
    mapping: Mapping | None = None
    fixed: Array | None = None
    constant_rows: JacobianRows | None = field(default=None, repr=False)

    @property
    def body(self) -> Body:
        """The body of a body's slot."""
        found: Body = self.node.held_body
        return found

    @cached_property
    def remembering(self) -> Remembering | None:
        """The body, where it has memory."""
        return self.body if self.is_body and isinstance(self.body, Remembering) else None

    @property
    def is_body(self) -> bool:
        """Whether the slot holds independent coordinates."""
        return self.node is not None

    @cached_property
    def x_slice(self) -> slice:
        """Its part of the flat positions."""
        return slice(self.x_start, self.x_start + self.coordinates.count * self.coordinates.x_width)

    @cached_property
    def v_slice(self) -> slice:
        """Its part of the flat velocities."""
        return slice(self.v_start, self.v_start + self.coordinates.count * self.coordinates.v_width)

    @property
    def block_start(self) -> int:
        """Its first 3-block in the flat velocities."""
        return self.v_start // 3

    @property
    def block_count(self) -> int:
        """How many 3-blocks its velocity has."""
        return self.coordinates.count * self.coordinates.v_width // 3

    def view_x(self, flat: Array) -> Array:
        """A body's positions in a flat vector, as (count, x_width), without a copy."""
        return flat[self.x_slice].reshape(self._x_shape)

    def view_v(self, flat: Array) -> Array:
        """A body's velocities (or forces) in a flat vector, as (count, v_width), without a copy."""
        return flat[self.v_slice].reshape(self._v_shape)

    @cached_property
    def _x_shape(self) -> tuple[int, int]:
        return self.coordinates.count, self.coordinates.x_width

    @cached_property
    def _v_shape(self) -> tuple[int, int]:
        return self.coordinates.count, self.coordinates.v_width


def joined_slots(bodies: Sequence[Slot]) -> list[Slot]:
    """Slots of rows of bodies that follow each other and whose coordinates one call can move, or of one body each."""
    rows: list[list[Slot]] = []
    for slot in bodies:
        if rows and can_join(rows[-1][-1].coordinates, slot.coordinates):
            rows[-1].append(slot)
        else:
            rows.append([slot])
    return [join_slots(row) for row in rows]


def can_join(one: Coordinates, other: Coordinates) -> bool:
    """Whether the coordinates of two bodies that follow each other may be moved as one."""
    kind = type(one)
    return kind is type(other) and isinstance(one, JoinedCoordinates) and type(one.with_count(1)) is kind


def join_slots(row: Sequence[Slot]) -> Slot:
    """One slot of all coordinates of bodies that can be joined; itself where there is one alone."""
    first = row[0]
    if len(row) == 1 or not isinstance(first.coordinates, JoinedCoordinates):
        return first
    whole = first.coordinates.with_count(sum(slot.coordinates.count for slot in row))
    return Slot(first.index, first.name, whole, node=first.node, x_start=first.x_start, v_start=first.v_start)
