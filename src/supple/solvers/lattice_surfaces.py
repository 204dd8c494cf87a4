"""How contacts on the surfaces of voxel bodies hang on their voxels: vertex = sum of weight (x + R local).

What slow bodies are told of a lattice before it is swept: its points go on at their velocity, and give way to a force F
that lasts for a step h as the whole body does, freely, and as the voxel at the contact does on its links:

    C = h/2 (1/m + [r]x I^-1 [r]x^T) + w² / (E l h)      of a free body; a held one gives way by its links alone
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from supple.algebra import rotations
from supple.bodies.voxel.surface_contact import SurfaceContacts
from supple.contact.bound import BoundContact
from supple.scene.kinematics import Kinematics
from supple.scene.system import System
from supple.solvers.meeting import Meeting

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LatticeSurfaces:
    """lists: for each contact of the scene, start (vertices + 1,), voxel, local, weight of what vertices hang on.

    stiffness (bodies,): E l of the softest voxel [N/m]; free (bodies,): whether nothing holds a body.
    """

    lists: list[tuple[Array, Array, Array, Array]]
    system: System
    stiffness: Array
    free: Array

    @classmethod
    def of(cls, lattices: System, bound: list[BoundContact]) -> LatticeSurfaces:
        """For the voxels of a system of lattices, numbered one body after another."""
        first, at = {}, 0
        for slot in lattices.bodies:
            first[slot.name], at = at, at + slot.coordinates.count
        held = {slot.name for slot in lattices.bodies if _is_held(lattices, slot)}
        models = [slot.node.body.model for slot in lattices.bodies]
        return cls(
            [_hung(contact, lattices, first) for contact in bound],
            lattices,
            np.array([float((m.properties["young"] * m.size).min()) for m in models]),
            np.array([slot.name not in held for slot in lattices.bodies]),
        )

    def answers(self, meeting: Meeting, kin: Kinematics, h: float) -> Array:
        """C (3 k, 3 k) [m/s/N] of the lattices' sides of contacts; kin: of the whole scene."""
        k = meeting.count
        C = np.zeros((3 * k, 3 * k))
        for number, slot in enumerate(self.system.bodies):
            rows, share, lever, start = [], [], [], 0
            x = next(kin.x[s.index] for s in kin.slots if s.is_body and s.name == slot.name)
            model = slot.node.body.model
            centre = model.mass @ x[:, :3] / model.mass.sum()
            for contact, s in zip(meeting.bound, meeting.sets):
                if slot.name in contact.names[: len(contact.slots)]:
                    b = contact.names.index(slot.name)
                    m, j = np.nonzero((s.points >= contact.starts[b]) & (s.points < contact.starts[b + 1]))
                    place = contact.vertices(kin.x)[s.points[m, j]]
                    rows.append(start + m)
                    share.append(s.weights[m, j])
                    lever.append(place - centre)
                start += s.size
            if not rows or not sum(len(r) for r in rows):
                continue
            row, w, r = (np.concatenate(part) for part in (rows, share, lever))
            squares = np.bincount(row, weights=w * w, minlength=k)
            C[np.diag_indices(3 * k)] += np.repeat(squares, 3) / (self.stiffness[number] * h)
            if self.free[number]:
                J = np.zeros((k, 3, 6))
                np.add.at(J[:, :, :3], row, w[:, None, None] * np.eye(3))
                np.add.at(J[:, :, 3:], row, -w[:, None, None] * rotations.skew(r))
                d = x[:, :3] - centre
                inertia = np.einsum("n,nij->ij", model.mass, -rotations.skew(d) @ rotations.skew(d))
                inertia += model.inertia.sum() * np.eye(3)
                inverse = np.zeros((6, 6))
                inverse[:3, :3], inverse[3:, 3:] = np.eye(3) / model.mass.sum(), np.linalg.inv(inertia)
                flat = J.reshape(3 * k, 6)
                C += 0.5 * h * flat @ inverse @ flat.T
        return C

    def contacts(self, meeting: Meeting, motion: Array) -> SurfaceContacts:
        """The contacts of a meeting, all with points on lattices; motion (k, 3) [m/s]: of their other sides."""
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
            motion,
            joined("slip"),
            *(joined(name) for name in ("stiffness", "grip", "dashpot", "grip_dashpot", "friction")),
        )


def _is_held(lattices: System, slot: Any) -> bool:
    """Whether a filter holds or leads a voxel of a body."""
    blocks = np.asarray(lattices.filter.blocks)
    return bool(((blocks >= slot.block_start) & (blocks < slot.block_start + slot.block_count)).any())


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
