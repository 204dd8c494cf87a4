"""Masses of bodies of one kind that follow each other, as one: a call costs the same for one body and for a hundred."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from supple.bodies.protocols import JoinedMass
from supple.scene.slots import can_join, join_slots

if TYPE_CHECKING:
    from supple.scene.system import BoundMass


def join_masses(masses: Sequence[BoundMass]) -> list[BoundMass]:
    """Masses on bodies that follow each other as one, where coordinates and masses allow it."""
    rows: list[list[BoundMass]] = []
    for bound in masses:
        last = rows[-1][-1] if rows else None
        if last is not None and last.slot.v_slice.stop == bound.slot.v_start and _can_join(last, bound):
            rows[-1].append(bound)
        else:
            rows.append([bound])
    return [_as_one(row) for row in rows]


def _can_join(one: BoundMass, other: BoundMass) -> bool:
    if not (one.slot.is_body and other.slot.is_body and can_join(one.slot.coordinates, other.slot.coordinates)):
        return False
    same = type(one.mass) is type(other.mass) and isinstance(one.mass, JoinedMass)
    return same and type(one.mass.joined([other.mass])) is type(one.mass)


def _as_one(row: Sequence[BoundMass]) -> BoundMass:
    first, others = row[0], row[1:]
    if not others:
        return first
    slot, mass = join_slots([bound.slot for bound in row]), first.mass.joined([bound.mass for bound in others])
    return first._replace(label=f"{first.label} and {len(others)} more", slot=slot, mass=mass)
