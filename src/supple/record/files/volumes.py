"""Volumes of a record: the tets behind a surface, and where the nodes inside are.

/supple/volumes/<block>    of bodies made of tets, where a run was asked for the field `volume`
  tets                     (m, 4): numbers of the block's points, then of the inner ones; positive volume at rest
  inner                    (frames, k, 3) float32 [m]; missing where all nodes lie on the surface

A tet mesh of a frame is the block's points, the inner ones behind them.
"""

from __future__ import annotations

import numpy as np

from supple.record.files.rows import GrowingGroup
from supple.record.files.trust import Dataset, Group, check_dataset, check_group, read_all, stored_rows

Array = np.ndarray
GROUP, TETS, INNER = "volumes", "tets", "inner"


def make_volume(own: Group, name: str, tets: Array, inner_count: int) -> None:
    """The tets of a block, and an empty table of its inner nodes, in the group /supple of a record."""
    group = own.require_group(GROUP).create_group(name)
    group.create_dataset(TETS, data=np.asarray(tets, dtype=np.int64))
    if inner_count:
        tail = (inner_count, 3)
        group.create_dataset(INNER, (0, *tail), maxshape=(None, *tail), dtype="f4", chunks=(1, *tail))


def append_inner(own: GrowingGroup, block: str, first: int, points: Array) -> None:
    """Add the inner nodes of frames from number `first` on, (frames, k, 3) [m]."""
    if points.shape[1]:
        own[GROUP][block].extend(INNER, first, len(points), points)


def open_inner(own: Group, name: str) -> Dataset | None:
    """The table of the inner nodes of a block; None where it has none."""
    if not has_volume(own, name):
        return None
    group = check_group(check_group(own, GROUP), name)
    if INNER not in group:
        return None
    inner = check_dataset(group, INNER, "f4")
    if inner.ndim != 3 or inner.shape[1] < 1 or inner.shape[2] != 3:
        raise ValueError(f"the nodes inside a body have the shape {inner.shape}")
    return inner


def has_volume(own: Group, name: str) -> bool:
    """Whether the tets of a block are recorded."""
    return GROUP in own and name in check_group(own, GROUP)


def drop_volume(own: Group, name: str) -> None:
    """Forget the tets of a block: its surface is left."""
    if has_volume(own, name):
        del own[GROUP][name]


def read_tets(own: Group, name: str, point_count: int) -> Array | None:
    """Tets of a block with so many points, (m, 4); None where its surface alone is recorded."""
    if not has_volume(own, name):
        return None
    tets = read_all(check_dataset(check_group(check_group(own, GROUP), name), TETS, "i8", (4,)))
    inner = open_inner(own, name)
    count = point_count + (0 if inner is None else inner.shape[1])
    if not len(tets) or tets.min() < 0 or tets.max() >= count:
        raise ValueError("the tets of a body name nodes that it does not have")
    return tets


def read_inner(own: Group, name: str, frame: int) -> Array:
    """The inner nodes of a block at a frame, (k, 3) float32 [m]."""
    inner = open_inner(own, name)
    if inner is None:
        return np.zeros((0, 3), dtype=np.float32)
    if frame >= min(len(inner), stored_rows(inner)):
        raise ValueError(f"the nodes inside a body in frame {frame} are not in the file")
    return np.asarray(inner[frame])
