"""Changes in a record: what was changed while the scene ran, and when.

/supple/changes        a record without it has none
  text                 one line of JSON a change: [time [s], name, values]
  counts               (frames,): how many of them led to each frame
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.record.files.rows import GrowingGroup
from supple.record.files.trust import Group, check_dataset, check_group, plain_json, read_all, real_number
from supple.scene.changes import Change

CHUNK = 64
GROUP = "changes"


def make_changes(own: Group) -> None:
    """The empty tables in the group /supple of a new record."""
    group = own.create_group(GROUP)
    group.create_dataset("text", (0,), maxshape=(None,), dtype="u1", chunks=(32 * CHUNK,))
    group.create_dataset("counts", (0,), maxshape=(None,), dtype="i8", chunks=(CHUNK,))


def append_changes(own: GrowingGroup, first: int, done: list[list[bytes]]) -> None:
    """Add the changes that led to frames from number `first` on, beyond those of earlier ones, as states keep them."""
    if GROUP not in own.group:
        make_changes(own.group)
    table = own[GROUP]
    if done[-1]:
        counts, kept = table.group["counts"], table.group["text"]
        known = int(counts[first - 1]) if 0 < first <= len(counts) else 0
        if text := b"".join(done[-1][known:]):
            table.extend("text", len(kept), len(text), np.frombuffer(text, dtype=np.uint8))
    table.extend("counts", first, len(done), [len(lines) for lines in done])


def change_bytes(done: list[bytes]) -> int:
    """The changes up to a frame take no more."""
    return sum(map(len, done)) + 64 * CHUNK if done else 8 * CHUNK


def truncate_changes(own: Group, frames: int) -> None:
    """Keep the changes that led to the first frames only."""
    if GROUP not in own:
        return
    group = own[GROUP]
    counts = group["counts"][:frames]
    lines = bytes(group["text"][:]).splitlines(keepends=True)[: int(counts[-1]) if len(counts) else 0]
    group["text"].resize(sum(map(len, lines)), axis=0)
    group["counts"].resize(len(counts), axis=0)


def read_changes(own: Group, frame: int | None) -> list[Change]:
    """All changes, or those that were made since the frame before one of this number."""
    if GROUP not in own:
        return []
    group = check_group(own, GROUP)
    done = [_change(line) for line in bytes(read_all(check_dataset(group, "text", "u1", ()))).splitlines()]
    if frame is None:
        return done
    counts = check_dataset(group, "counts", "i8", ())
    if frame >= len(counts):
        return []
    return done[int(counts[frame - 1]) if frame else 0 : int(counts[frame])]


def _change(line: bytes) -> Change:
    row: Any = plain_json(line.decode(errors="replace"), "a change")
    if not isinstance(row, list) or len(row) != 3 or not isinstance(row[1], str) or not isinstance(row[2], dict):
        raise ValueError("a change is not a time, a name and values")
    return Change(real_number(row[0], "the time of a change"), row[1], row[2])
