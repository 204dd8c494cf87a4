"""Rows of tables that grow while a run is recorded."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from supple.record.files.trust import Group


class GrowingGroup:
    """A group of a record that is written on. What was found in it stays open: to find a table again takes longer than
    to put rows behind it. It is made anew where blocks or tables of the record may have been replaced."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self._groups: dict[str, GrowingGroup] = {}
        self._tables: dict[str, tuple[Any, tuple[int, ...]]] = {}
        self._numbers: dict[str, Any] = {}

    def __getitem__(self, name: str) -> GrowingGroup:
        """A group in this one."""
        if name not in self._groups:
            self._groups[name] = GrowingGroup(self.group[name])
        return self._groups[name]

    def extend(self, name: str, start: int, count: int, rows: Any) -> None:
        """Put so many rows behind the first `start` of a table, which then ends with them. rows: all, or one value. By
        calls of HDF5 itself: h5py's own take ten times as long, most of it to describe the type of a number."""
        from h5py import h5d, h5s

        if name not in self._tables:
            found = h5d.open(self.group.id, name.encode())
            self._tables[name] = found, found.shape[1:]
        table, tail = self._tables[name]
        table.set_extent((start + count, *tail))
        if not count:
            return
        given = np.asarray(rows)
        values = np.ascontiguousarray(given if given.ndim else np.full((count, *tail), given))
        place = table.get_space()
        place.select_hyperslab((start, *(0 for _ in tail)), (count, *tail))
        table.write(h5s.create_simple((count, *tail)), place, values, _described(values.dtype))

    def number(self, name: str) -> int:
        """An attribute that is a whole number."""
        value = np.empty((), dtype=np.int64)
        self._attribute(name).read(value)
        return int(value)

    def set_number(self, name: str, value: int) -> None:
        """Change an attribute that is a whole number."""
        self._attribute(name).write(np.array(value, dtype=np.int64))

    def _attribute(self, name: str) -> Any:
        from h5py import h5a

        if name not in self._numbers:
            self._numbers[name] = h5a.open(self.group.id, name.encode())
        return self._numbers[name]


@cache
def _described(kind: np.dtype) -> Any:
    """A type as HDF5 knows it, which changes numbers into those of the table."""
    from h5py import h5t

    return h5t.py_create(kind)
