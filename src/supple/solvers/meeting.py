"""The contacts of one step of a scene, seen by its islands: who is on which side, and how each side moves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from supple.algebra.block_rows import BlockRows
from supple.contact.bound import BoundContact
from supple.contact.contact_set import ContactForces, ContactSet, contact_jacobian
from supple.scene.kinematics import Kinematics

Array = np.ndarray


@dataclass(eq=False)
class Meeting:
    """The sets of contacts of all `bound`; islands: which island each of its bodies is in, for each of them."""

    bound: list[BoundContact]
    sets: list[ContactSet]
    islands: list[Array]

    @property
    def count(self) -> int:
        """Number of contacts."""
        return sum(s.size for s in self.sets)

    def owners(self, number: int) -> Array:
        """Island of each point (k, 4) of a set, -1 where there is none."""
        points = self.sets[number].points
        return np.where(points >= 0, self.islands[number][self.bound[number].owner(np.maximum(points, 0))], -1)

    def carriers(self, number: int) -> Array:
        """Island of each carrier (k, 2) of a set, -1 where there is none."""
        carrier = self.sets[number].carrier
        return np.where(carrier >= 0, self.islands[number][np.maximum(carrier, 0)], -1)

    def has(self, island: int) -> Array:
        """Contacts (k,) of all sets with a point in an island."""
        masks = [
            (self.owners(n) == island).any(axis=1) | (self.carriers(n) == island).any(axis=1)
            for n in range(len(self.sets))
        ]
        return np.concatenate([*masks, np.zeros(0, dtype=bool)])

    def side(self, island: int) -> list[ContactSet]:
        """The sets with the points of one island alone."""
        out = []
        for n, s in enumerate(self.sets):
            points = np.where(self.owners(n) == island, s.points, -1)
            out.append(s._replace(points=points, carrier=np.where(self.carriers(n) == island, s.carrier, -1)))
        return out

    def chosen(self, mask: Array) -> Meeting:
        """Some of the contacts (k,)."""
        sets = [s.chosen(part) for s, part in zip(self.sets, self.split(mask))]
        return Meeting(self.bound, sets, self.islands)

    def split(self, values: Array) -> list[Array]:
        """Values of all contacts (k, ...), set by set."""
        return np.split(values, np.cumsum([s.size for s in self.sets])[:-1])

    @property
    def pushes(self) -> Array:
        """Forces on the first sides in the step before, (k, 3) [N]."""
        return np.concatenate([*(s.push for s in self.sets), np.zeros((0, 3))])

    def jacobian(self, island: int, kin: Kinematics, v_size: int, columns: Array, h: float) -> BlockRows:
        """J (3 k, columns) of an island's points during a step of h [s]; the sets take on how their ways depart."""
        sides = zip(self.bound, self.side(island))
        parts = [contact_jacobian(kin, s, c, v_size, h) for c, s in sides]
        self.sets = [s.departing(way) for s, (_, way) in zip(self.sets, parts)]
        place = np.zeros(v_size // 3, dtype=np.int64)
        place[columns[::3] // 3] = np.arange(len(columns) // 3)
        return BlockRows.stacked([part for part, _ in parts], v_size // 3).moved(place, len(columns) // 3)

    def remember(self, forces: ContactForces, h: float, memory: dict[str, Array]) -> None:
        """Keep forces (k, ...) of all contacts, once a step has been taken."""
        parts = [self.split(part) for part in forces]
        for n, (c, s) in enumerate(zip(self.bound, self.sets)):
            c.remember(s, ContactForces(*(part[n] for part in parts)), h, memory)
