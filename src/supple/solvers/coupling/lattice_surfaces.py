"""How contacts on the surfaces of voxel bodies hang on their voxels: vertex = sum of weight (x + R local)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.bodies.voxel.touching.surface_contact import SurfaceContacts
from supple.contact.bound import BoundContact
from supple.scene.system import System
from supple.solvers.coupling.meeting import Meeting
from supple.solvers.coupling.slow_step import SlowSides

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LatticeSurfaces:
    """lists: for each contact of the scene, start (vertices + 1,), voxel, local, weight of what vertices hang on."""

    lists: list[tuple[Array, Array, Array, Array]]

    @classmethod
    def of(cls, lattices: System, bound: list[BoundContact]) -> LatticeSurfaces:
        """For the voxels of a system of lattices, numbered one body after another."""
        first, at = {}, 0
        for slot in lattices.bodies:
            first[slot.name], at = at, at + slot.coordinates.count
        return cls([_hung(contact, lattices, first) for contact in bound])

    def contacts(self, meeting: Meeting, sides: SlowSides) -> SurfaceContacts:
        """The contacts of a meeting, all with points on lattices; sides: how their other sides move."""
        parts: list[tuple[Array, ...]] = []
        for s, (start, voxel, local, weight) in zip(meeting.sets, self.lists):
            contact, side = np.nonzero(s.points >= 0)
            vertex, share = s.points[contact, side], s.weights[contact, side]
            length = (start[1:] - start[:-1])[vertex]
            of = np.repeat(np.arange(len(vertex)), length)
            entry = np.repeat(start[vertex] - np.cumsum(length) + length, length) + np.arange(length.sum())
            count = np.bincount(contact[of], minlength=s.size)
            parts.append((count, voxel[entry], local[entry], share[of] * weight[entry]))
        count, voxel, local, weight = (np.concatenate(part) for part in zip(*parts))

        def joined(name: str) -> Array:
            return np.concatenate([getattr(s, name) for s in meeting.sets])

        return SurfaceContacts(
            np.concatenate([[0], np.cumsum(count)]).astype(np.int64),
            voxel,
            local,
            weight,
            joined("normal"),
            joined("gap"),
            sides.motion,
            joined("slip"),
            *(
                joined(name)
                for name in ("stiffness", "tangential_stiffness", "dashpot", "tangential_dashpot", "friction")
            ),
            *sides.responses,
        )


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
