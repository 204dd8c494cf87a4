"""Rows of tables that grow while a run is recorded."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any

import numpy as np

from supple.record.files.trust import Group, check_group

LARGE = 1 << 15
"""Bytes of a piece of a table from which on it is."""


class GrowingGroup:
    """A group of a record that is written on. What was found in it stays open: to find a table again takes longer than
    to put rows behind it. It is made anew where blocks or tables of the record may have been replaced."""

    def __init__(self, group: Group) -> None:
        self.group = group
        self._groups: dict[str, GrowingGroup] = {}
        self._tables: dict[str, tuple[Any, tuple[int, ...]]] = {}
        self._numbers: dict[str, Any] = {}
        self._names: dict[str, list[str]] = {}
        self._texts: dict[str, str] = {}

    def names(self, name: str) -> list[str]:
        """What is in a group of this one; nothing where there is none."""
        if name not in self._names:
            self._names[name] = list(check_group(self.group, name)) if name in self.group else []
        return self._names[name]

    def __getitem__(self, name: str) -> GrowingGroup:
        """A group in this one."""
        if name not in self._groups:
            self._groups[name] = GrowingGroup(self.group[name])
        return self._groups[name]

    def extend(self, name: str, start: int, count: int, rows: Any) -> None:
        """Put so many rows behind the first `start` of a table, which then ends with them. rows: all, or one value. By
        calls of HDF5 itself: h5py's own take ten times as long, most of it to describe the type of a number."""
        if name not in self._tables:
            self._tables[name] = _open_table(self.group, name)
        table, tail = self._tables[name]
        table.set_extent((start + count, *tail))
        if not count:
            return
        given = np.asarray(rows)
        values = np.ascontiguousarray(given if given.ndim else np.full((count, *tail), given))
        table.write(*_selected(start, count, tail), values, described(values.dtype))

    def set_number(self, name: str, value: int) -> None:
        """Change an attribute that is a whole number."""
        self._attribute(name).write(np.array(value, dtype=np.int64))

    def text(self, name: str) -> str:
        """An attribute that is a text."""
        if name not in self._texts:
            self._texts[name] = self.group.attrs[name]
        return self._texts[name]

    def set_text(self, name: str, value: str) -> None:
        """Change it."""
        self.group.attrs[name] = self._texts[name] = value

    def _attribute(self, name: str) -> Any:
        from h5py import h5a

        if name not in self._numbers:
            self._numbers[name] = h5a.open(self.group.id, name.encode())
        return self._numbers[name]


def _open_table(group: Group, name: str) -> tuple[Any, tuple[int, ...]]:
    """HDF5's own handle of a table, and the shape of a row. Large pieces are written as they come, not copied into
    HDF5's cache before."""
    from h5py import h5d, h5p

    table = h5d.open(group.id, name.encode())
    tail, size = table.shape[1:], table.dtype.itemsize
    if math.prod(table.get_create_plist().get_chunk()) * size >= LARGE:
        del table  # what is open twice keeps the cache it had
        access = h5p.create(h5p.DATASET_ACCESS)
        access.set_chunk_cache(1, 0, 1.0)
        table = h5d.open(group.id, name.encode(), access)
    return table, tail


@lru_cache(maxsize=8)
def _selected(start: int, count: int, tail: tuple[int, ...]) -> tuple[Any, Any]:
    """So many rows alone, and the last of a table that ends with them; most tables of a record have as many."""
    from h5py import h5s

    place = h5s.create_simple((start + count, *tail))
    place.select_hyperslab((start, *(0 for _ in tail)), (count, *tail))
    return h5s.create_simple((count, *tail)), place


def add_array(group: Group, name: str, values: np.ndarray) -> Any:
    """Put an array into a group, by calls of HDF5 itself; returns HDF5's own handle of it."""
    from h5py import h5d, h5s

    array, kind = np.asarray(values, order="C"), described(values.dtype)
    table = h5d.create(group.id, name.encode(), kind, h5s.create_simple(array.shape))
    table.write(h5s.ALL, h5s.ALL, array, kind)
    return table


@cache
def described(kind: np.dtype) -> Any:
    """A type as HDF5 knows it, which changes numbers into those of the table."""
    from h5py import h5t

    return h5t.py_create(kind, logical=True)
