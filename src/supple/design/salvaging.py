"""Rows of a damaged SQLite table: all that can still be read."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any


def readable_rows(file: sqlite3.Connection, table: str, columns: str) -> Iterator[tuple[Any, ...]]:
    """Rows that can be read: from the first one up to the damage, from the last one down to it, and what is between
    one at a time. Indices are not used, since they may be damaged too."""
    file.text_factory = lambda data: data.decode("utf-8", "replace")  # damaged text is told by its hash
    upward = _Scan(file, f"SELECT rowid, {columns} FROM {table} NOT INDEXED ORDER BY rowid")
    yield from upward
    if upward.whole:
        return
    first = upward.last or 0
    downward = _Scan(
        file, f"SELECT rowid, {columns} FROM {table} NOT INDEXED WHERE rowid > {first} ORDER BY rowid DESC"
    )
    yield from downward
    for number in range(first + 1, downward.last or 0):
        yield from _Scan(file, f"SELECT rowid, {columns} FROM {table} NOT INDEXED WHERE rowid = {number}")


class _Scan:
    """Rows of a query up to where it fails. last: the number of the last row; whole: whether it did not fail."""

    def __init__(self, file: sqlite3.Connection, query: str) -> None:
        self.file, self.query = file, query
        self.last: int | None = None
        self.whole = False

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        try:
            for number, *row in self.file.execute(self.query):
                self.last = number
                yield tuple(row)
            self.whole = True
        except sqlite3.DatabaseError as error:
            if (error.sqlite_errorcode or 0) & 0xFF != sqlite3.SQLITE_CORRUPT:
                raise
