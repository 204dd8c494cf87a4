"""The contacts of one step of a scene, seen by its parts: who is on which side, and how each side moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.algebra.sparse.block_rows import BlockRows
from supple.contact.bound import BoundContact
from supple.contact.contact_set import ContactForces, ContactSet, contact_jacobian
from supple.scene.kinematics import Kinematics

Array = np.ndarray


@dataclass(eq=False)
class Meeting:
    """The sets of contacts of all `bound`; parts: which part each of its bodies is in, for each of them."""

    bound: list[BoundContact]
    sets: list[ContactSet]
    parts: list[Array]

    @property
    def count(self) -> int:
        """Number of contacts."""
        return sum(s.size for s in self.sets)

    def owners(self, number: int) -> Array:
        """The part of each point (k, 4) of a set, -1 where there is none."""
        points = self.sets[number].points
        return np.where(points >= 0, self.parts[number][self.bound[number].owner(np.maximum(points, 0))], -1)

    def carriers(self, number: int) -> Array:
        """The part of each carrier (k, 2) of a set, -1 where there is none."""
        carrier = self.sets[number].carrier
        return np.where(carrier >= 0, self.parts[number][np.maximum(carrier, 0)], -1)

    def has(self, part: int) -> Array:
        """Contacts (k,) of all sets with a point in a part."""
        masks = [
            (self.owners(n) == part).any(axis=1) | (self.carriers(n) == part).any(axis=1) for n in range(len(self.sets))
        ]
        return np.concatenate([*masks, np.zeros(0, dtype=bool)])

    def side(self, part: int) -> list[ContactSet]:
        """The sets with the points of one part alone."""
        out = []
        for n, s in enumerate(self.sets):
            points = np.where(self.owners(n) == part, s.points, -1)
            out.append(s._replace(points=points, carrier=np.where(self.carriers(n) == part, s.carrier, -1)))
        return out

    def chosen(self, mask: Array) -> Meeting:
        """Some of the contacts (k,)."""
        sets = [s.chosen(own) for s, own in zip(self.sets, self.split(mask))]
        return Meeting(self.bound, sets, self.parts)

    def split(self, values: Array) -> list[Array]:
        """Values of all contacts (k, ...), set by set."""
        return np.split(values, np.cumsum([s.size for s in self.sets])[:-1])

    @property
    def pushes(self) -> Array:
        """Forces on the first sides in the step before, (k, 3) [N]."""
        return np.concatenate([*(s.push for s in self.sets), np.zeros((0, 3))])

    def jacobian(self, part: int, kin: Kinematics, v_size: int, columns: Array, h: float) -> BlockRows:
        """J (3 k, columns) of a part's points during a step of h [s]; the sets take on how their ways depart."""
        sides = zip(self.bound, self.side(part))
        rows = [contact_jacobian(kin, s, c, v_size, h) for c, s in sides]
        self.sets = [s.departing(way) for s, (_, way) in zip(self.sets, rows)]
        place = np.zeros(v_size // 3, dtype=np.int64)
        place[columns[::3] // 3] = np.arange(len(columns) // 3)
        return BlockRows.stacked([J for J, _ in rows], v_size // 3).moved(place, len(columns) // 3)

    def remember(self, forces: ContactForces, h: float, memory: dict[str, Array]) -> None:
        """Keep forces (k, ...) of all contacts, once a step has been taken."""
        values = [self.split(value) for value in forces]
        for n, (c, s) in enumerate(zip(self.bound, self.sets)):
            c.remember(s, ContactForces(*(value[n] for value in values)), h, memory)
