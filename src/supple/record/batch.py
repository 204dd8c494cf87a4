"""Frames of a run that are not in its record yet: HDF5 takes some milliseconds for one, and hardly more for fifty."""

from __future__ import annotations

from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from supple.record.files import vtkhdf
from supple.record.files.carried import append_carried
from supple.record.files.changes import append_changes, change_bytes
from supple.record.files.contacts import Contacts, append_contacts, contact_bytes
from supple.record.files.joints import append_joints, joint_bytes
from supple.record.files.layout import COLUMNS, MOST_FRAMES, frame_bytes, shown_bytes
from supple.record.files.obstacles import append_poses
from supple.record.files.rows import GrowingGroup
from supple.record.files.volumes import append_inner
from supple.record.frame import Frame
from supple.record.surfaces import RigidPoints, Surface
from supple.scene.changes import change_lines
from supple.scene.joints.readings import JointReading

Array = np.ndarray
NO_FIELDS: dict[str, Array] = {}
MOST_BYTES = 16 << 20
"""Of points that wait to be written."""
FEW = 16
"""Frames for which room on the disk is taken ahead."""


class KeptFrame(NamedTuple):
    """What is written of a frame: points and fields of each surface, what carries those that have carriers, contacts,
    joints, changes that led to it, poses of obstacles, what was measured, and the points inside."""

    points: list[Array]
    fields: list[dict[str, Array]]
    carried: list[Array | None]
    contacts: Contacts
    joints: dict[str, JointReading]
    changes: list[bytes]
    poses: Array
    row: dict[str, Any]
    inner: list[Array | None]

    @classmethod
    def of(cls, frame: Frame, surfaces: list[Surface], rigid: RigidPoints) -> KeptFrame:
        """A frame that will have moved on when it is written. rigid: those of the surfaces that do not bend."""
        state = frame.state
        known = rigid.points(state)
        points = [known[k] if k in known else surface.points(state) for k, surface in enumerate(surfaces)]
        carried = [None if surface.carriers is None else surface.carriage(state) for surface in surfaces]
        fields = [surface.field_values(state) if surface.fields else NO_FIELDS for surface in surfaces]
        inner = [None if surface.volume is None else surface.inner_points(state) for surface in surfaces]
        changes = change_lines(state)
        return cls(points, fields, carried, frame.contacts, frame.joints, changes, frame.poses, frame.row(), inner)


class Batch:
    """Frames of the same surfaces. first: number of the first of them; contacts: how many the file has of earlier ones;
    joints: the names that it knows. since: wall time of the oldest frame [s]."""

    def __init__(self, surfaces: list[Surface], first: int, contacts: int, joints: set[str]) -> None:
        self.surfaces, self.first, self.contacts, self.joints = surfaces, first, contacts, joints
        self.frames: list[KeptFrame] = []
        self.rigid = RigidPoints.of(surfaces)
        self.touching, self.names = 0, set(joints)
        points = sum(shown_bytes(surface) for surface in surfaces)
        self.most = min(MOST_FRAMES, max(1, MOST_BYTES // max(points, 1)))
        self.none, self.one = frame_bytes(surfaces, 0), frame_bytes(surfaces, 1)
        self.since = perf_counter()

    def __len__(self) -> int:
        return len(self.frames)

    @property
    def is_full(self) -> bool:
        """Whether it should wait for no more frames."""
        return len(self) >= self.most

    def bytes_with(self, frame: KeptFrame, more: int = 0) -> int:
        """With a frame, and so many more like it, it takes no more than this on the disk."""
        names = self.names.union(frame.joints)
        count = len(self) + 1 + more
        return (
            self.none
            + (self.one - self.none) * count
            + contact_bytes(self.touching + (1 + more) * len(frame.contacts.pairs))
            + joint_bytes(len(names), len(names) - len(self.joints), self.first, count)
            + change_bytes(frame.changes)
        )

    def append(self, frame: KeptFrame) -> None:
        """Let a frame wait."""
        if not self.frames:
            self.since = perf_counter()
        self.frames.append(frame)
        self.touching += len(frame.contacts.pairs)
        self.names |= set(frame.joints)

    def write(self, file: GrowingGroup, blocks: list[str]) -> Batch:
        """Bring all frames to the blocks of an open record; returns an empty batch for those that follow."""
        frames, own, first = self.frames, file["supple"], self.first
        rows = [frame.row for frame in frames]
        ends = self.contacts + np.cumsum([len(frame.contacts.pairs) for frame in frames])
        times = np.array([row["time"] for row in rows])
        shown = [file["VTKHDF"][block] for block in blocks]
        for k, block in enumerate(blocks):
            fields = {name: np.stack([frame.fields[k][name] for frame in frames]) for name in frames[0].fields[k]}
            vtkhdf.append_points(shown[k], first, np.array([frame.points[k] for frame in frames]), fields)
            if self.surfaces[k].carriers is not None:
                append_carried(own, block, first, np.array([frame.carried[k] for frame in frames]))
            if self.surfaces[k].inner_count:
                append_inner(own, block, first, np.array([frame.inner[k] for frame in frames]))
        vtkhdf.append_steps(shown, [surface.point_count for surface in self.surfaces], first, times)
        append_contacts(own["contacts"], self.contacts, [frame.contacts for frame in frames])
        if self.names:
            append_joints(own["joints"], first, [frame.joints for frame in frames])
        append_changes(own, first, [frame.changes for frame in frames])
        append_poses(own, first, np.stack([frame.poses for frame in frames]))
        columns = own["frames"]
        for name, (kind, _) in COLUMNS.items():
            values = ends if name == "contacts" else np.array([row[name] for row in rows], dtype=kind)
            columns.extend(name, first, len(frames), values)
        file.group.flush()
        return Batch(self.surfaces, first + len(frames), int(ends[-1]), self.names)
