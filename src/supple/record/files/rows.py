"""Rows of tables that grow while a run is recorded."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from supple.record.files.trust import Group


def extend(group: Group, name: str, start: int, count: int, rows: Any) -> None:
    """Put so many rows behind the first `start` of a table of a group, which then ends with them. rows: all, or one
    value. By calls of HDF5 itself: h5py's own take ten times as long, most of it to describe the type of a number."""
    from h5py import h5d, h5s

    table = h5d.open(group.id, name.encode())
    tail = table.shape[1:]
    table.set_extent((start + count, *tail))
    if not count:
        return
    given = np.asarray(rows)
    values = np.ascontiguousarray(given if given.ndim else np.full((count, *tail), given))
    place = table.get_space()
    place.select_hyperslab((start, *(0 for _ in tail)), (count, *tail))
    table.write(h5s.create_simple((count, *tail)), place, values, _described(values.dtype))


@cache
def _described(kind: np.dtype) -> Any:
    """A type as HDF5 knows it, which changes numbers into those of the table."""
    from h5py import h5t

    return h5t.py_create(kind)
