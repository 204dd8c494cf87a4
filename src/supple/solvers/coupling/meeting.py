"""The contacts and other laws of one step of a scene, seen by its parts: who is on which side, and how it moves."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, pairwise

import numpy as np

from supple.algebra.sparse.block_rows import BlockRows
from supple.contact.bound import BoundContact
from supple.contact.contact_set import ContactForces, ContactSet, contact_jacobian
from supple.scene.kinematics import Kinematics
from supple.scene.slots import Slot
from supple.scene.system import System
from supple.solvers.coupling.across import Across
from supple.solvers.coupling.coupled_points import CoupledPoints
from supple.solvers.coupling.joint_rows import CoupledJoints
from supple.solvers.coupling.laws import CoupledLaw, Law

Array = np.ndarray


@dataclass(eq=False)
class Meeting:
    """The sets of contacts of all `bound` in a step from `kin`; parts: which part each of its bodies is in, for each
    of them. coupled: laws across parts, whose relative velocities come after those of the contacts; part: of each body,
    by name. joints: of the step, None where none act across parts. moments (k, 3) [N m]: about the world's origin, on
    the lattices, of what their sweep met; none before it."""

    kin: Kinematics
    bound: list[BoundContact]
    sets: list[ContactSet]
    parts: list[Array]
    coupled: list[CoupledLaw] = field(default_factory=list)
    part: dict[str, int] = field(default_factory=dict)
    joints: CoupledJoints | None = None
    moments: Array | None = None

    @classmethod
    def of(
        cls, system: System, kin: Kinematics, sets: list[ContactSet], parts: list[Array], across: Across, h: float
    ) -> Meeting:
        """What meets in a step of h [s] from `kin`."""
        bound, t = list(system.contacts), kin.t + h
        if not across.hanging:
            return cls(kin, bound, sets, parts, [], across.part)
        x = system.retract(kin.flat_x, h * kin.flat_v)
        ahead = system.propagate(t, x, kin.flat_v, only=across.hanging)

        def points(slot: Slot) -> CoupledPoints:
            return CoupledPoints.of(slot, kin, ahead, across.part, h)

        coupled = [
            CoupledLaw.of(acting, points(acting.slot), t, across.spring_theta(acting.slot)) for acting in across.forces
        ]
        coupled += [CoupledLaw.joined(points(side), h) for side in across.met_sides]
        joints = [CoupledPoints.at_start(joint.slot, kin, across.part) for joint in across.joints]
        held = CoupledJoints.of(across.joints, joints, h, t) if joints else None
        return cls(kin, bound, sets, parts, coupled, across.part, held)

    @property
    def laws(self) -> list[Law]:
        """All laws, in the order of their relative velocities."""
        return [*self.sets, *(c.law for c in self.coupled)]

    @cached_property
    def count(self) -> int:
        """Number of relative velocities."""
        return sum(law.size for law in self.laws)

    @cached_property
    def contact_count(self) -> int:
        """Number of those that are of contacts."""
        return sum(s.size for s in self.sets)

    @cached_property
    def owners(self) -> list[tuple[Array, Array]]:
        """Of each set: the part of each point (k, 4) and of each carrier (k, 2), -1 where there is none."""
        return [
            (
                np.where(s.points >= 0, parts[contact.owner(np.maximum(s.points, 0))], -1),
                np.where(s.carrier >= 0, parts[np.maximum(s.carrier, 0)], -1),
            )
            for contact, s, parts in zip(self.bound, self.sets, self.parts)
        ]

    def has(self, part: int) -> Array:
        """Relative velocities (k,) of all laws with a point in a part."""
        masks = [(points == part).any(axis=1) | (carriers == part).any(axis=1) for points, carriers in self.owners]
        masks += [c.has(self.part, part) for c in self.coupled]
        return np.concatenate([*masks, np.zeros(0, dtype=bool)])

    def side(self, part: int) -> list[ContactSet]:
        """The sets with the points of one part alone."""
        return [
            s._replace(points=np.where(points == part, s.points, -1), carrier=np.where(carriers == part, s.carrier, -1))
            for s, (points, carriers) in zip(self.sets, self.owners)
        ]

    def chosen(self, mask: Array) -> Meeting:
        """Some of the relative velocities (k,)."""
        masks = self.split(mask)
        sets = [s.chosen(own) for s, own in zip(self.sets, masks)]
        coupled = [c.chosen(own) for c, own in zip(self.coupled, masks[len(self.sets) :])]
        return Meeting(self.kin, self.bound, sets, self.parts, coupled, self.part, self.joints)

    def split(self, values: Array) -> list[Array]:
        """Values of all laws (k, ...), law by law."""
        ends = accumulate((law.size for law in self.laws), initial=0)
        return [values[a:b] for a, b in pairwise(ends)]

    @property
    def pushes(self) -> Array:
        """Forces on the first sides, (k, 3) [N]: of contacts in the step before, of other laws at the start."""
        other = [c.law.forces(np.zeros((c.size, 3)), 0.0, symmetric=False).force for c in self.coupled]
        return np.concatenate([*(s.push for s in self.sets), *other, np.zeros((0, 3))])

    @property
    def drift(self) -> Array:
        """Velocities of obstacles (k, 3) [m/s], less which relative velocities are the law's."""
        none = np.zeros((self.count - self.contact_count, 3))
        return np.concatenate([*(s.drift for s in self.sets), none])

    def jacobian(self, part: int, columns: Array, h: float) -> BlockRows:
        """J (3 k, columns) of a part's points during a step of h [s]; the sets take on how their ways depart."""
        kin, v_size, sides = self.kin, len(self.kin.flat_v), zip(self.bound, self.side(part))
        rows = [contact_jacobian(kin, s, c, v_size, h) for c, s in sides]
        self.sets = [s.departing(way) for s, (_, way) in zip(self.sets, rows)]
        place = np.zeros(v_size // 3, dtype=np.int64)
        place[columns[::3] // 3] = np.arange(len(columns) // 3)
        more = [BlockRows.from_scipy(c.points.rows(c.W, v_size)) for c in self.coupled]
        stacked = BlockRows.stacked([*(J for J, _ in rows), *more], v_size // 3)
        return stacked.moved(place, len(columns) // 3)

    def remember(self, forces: ContactForces, u: Array, h: float, memory: dict[str, Array]) -> None:
        """Keep forces (k, ...) of all contacts, once a step has been taken; u (k, 3) [m/s]: velocities at its end."""
        values, velocities = [self.split(value) for value in forces], self.split(u)
        for n, (c, s) in enumerate(zip(self.bound, self.sets)):
            c.remember(s, ContactForces(*(value[n] for value in values)), velocities[n], h, memory)
