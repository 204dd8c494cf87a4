"""How contacts and springs on voxel bodies hang on their voxels: point = sum of weight (x + R local).

Points of other bodies that joints hold to voxels come last, and hang on none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.bodies.voxel.touching.surface_contact import SurfaceContacts
from supple.bodies.voxel.touching.surface_layout_kernels import hang_vertices
from supple.contact.bound import BoundContact
from supple.scene.system import System
from supple.solvers.coupling.laws import CoupledLaw, JointPoints, SpringLaw
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.slow_step import SlowSides

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LatticeSurfaces:
    """lists: for each contact of the scene, start (vertices + 1,), voxel, local, weight of what vertices hang on."""

    lists: list[tuple[Array, Array, Array, Array]]
    first: dict[str, int]

    @classmethod
    def of(cls, lattices: System, bound: list[BoundContact]) -> LatticeSurfaces:
        """For the voxels of a system of lattices, numbered one body after another."""
        first, at = {}, 0
        for slot in lattices.bodies:
            first[slot.name], at = at, at + slot.coordinates.count
        return cls([_hung(contact, lattices, first) for contact in bound], first)

    def contacts(self, meeting: Meeting, sides: SlowSides) -> SurfaceContacts:
        """The contacts and springs of a meeting, all with points on lattices; sides: how their other sides move."""
        parts = [hang_vertices(s.points, s.weights, *hung) for s, hung in zip(meeting.sets, self.lists)]
        parts += [self._spring_entries(c) for c in meeting.coupled]
        springs = [c.law for c in meeting.coupled if isinstance(c.law, SpringLaw)]
        held = [c.law for c in meeting.coupled if isinstance(c.law, JointPoints)]
        places = joined([np.zeros((0, 3)), *(law.x for law in held)])
        more = sum(law.size for law in springs) + len(places)
        none = np.zeros(len(places))
        count, voxel, local, weight = (joined(part) for part in zip(*parts))

        def of_all(name: str, others: list[Array] | None = None) -> Array:
            own = [getattr(s, name) for s in meeting.sets]
            return joined([*own, *([np.zeros(more)] if others is None else others)])

        mobility, pushed = sides.responses or (np.zeros((0, 0)), np.zeros((0, 3)))
        return SurfaceContacts(
            np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(count)]),
            voxel,
            local,
            weight,
            of_all("normal", [np.tile([0.0, 0.0, 1.0], (more, 1))]),
            of_all("gap"),
            sides.motion - of_all("drift", [np.zeros((more - len(places), 3)), *(-law.drift for law in held)]),
            of_all("slip", [*(-law.d for law in springs), np.zeros_like(places)]),
            of_all("stiffness", [*(law.spring.stiffness for law in springs), none]),
            of_all("tangential_stiffness"),
            of_all("dashpot", [*(law.spring.damping for law in springs), none]),
            of_all("tangential_dashpot"),
            of_all("friction"),
            mobility,
            pushed,
            joined([np.full(meeting.contact_count, -1.0), *(law.spring.rest_length for law in springs), none]),
            places,
        )

    def _spring_entries(self, coupled: CoupledLaw) -> tuple[Array, Array, Array, Array]:
        """How springs (k,) hang on voxels: entries of each, then voxel, local and weight of all entries."""
        spring, voxel, local, weight = [], [], [], []
        for leaf, M in coupled.points.leaves.values():
            if leaf.is_body or leaf.parents[0].name not in self.first:
                continue
            W = (coupled.W @ M).tocoo()
            mapping: Any = leaf.mapping
            on = (W.row % 3 == 0) & (W.col % 3 == 0) & (W.data != 0)  # a weight times I for each pair
            point = W.col[on] // 3
            spring.append(W.row[on] // 3)
            voxel.append(self.first[leaf.parents[0].name] + mapping.frame[point])
            local.append(mapping.local[point])
            weight.append(W.data[on])
        row = np.concatenate([*spring, np.zeros(0, dtype=np.int64)])
        order = np.argsort(row, kind="stable")
        return (
            np.bincount(row, minlength=coupled.size),
            np.concatenate([*voxel, np.zeros(0, dtype=np.int64)])[order],
            np.concatenate([*local, np.zeros((0, 3))])[order],
            np.concatenate([*weight, np.zeros(0)])[order],
        )


def joined(parts: Sequence[Array]) -> Array:
    """Arrays one after another; the only one that is not empty is not copied."""
    filled = [part for part in parts if len(part)]
    return np.concatenate(parts) if len(filled) != 1 else filled[0]


def _hung(contact: BoundContact, lattices: System, first: dict[str, int]) -> tuple[Array, Array, Array, Array]:
    length, voxel, local, weight = [np.zeros(1, dtype=np.int64)], [], [], []
    for name, a, b in zip(contact.names, contact.starts, contact.starts[1:]):
        if name not in first:
            length.append(np.zeros(b - a, dtype=np.int64))
            continue
        skin: Any = lattices.body(name).node.body.skin
        length.append(np.diff(skin.weights.indptr).astype(np.int64))
        voxel.append(first[name] + skin.voxel[skin.weights.indices])
        local.append(skin.local[skin.weights.indices])
        weight.append(skin.weights.data)
    return (
        np.cumsum(np.concatenate(length)),
        np.concatenate([*voxel, np.zeros(0, dtype=np.int64)]).astype(np.int64),
        np.concatenate([*local, np.zeros((0, 3))]),
        np.concatenate([*weight, np.zeros(0)]),
    )
