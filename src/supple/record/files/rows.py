"""Rows of tables that grow while a run is recorded."""

from __future__ import annotations

from typing import Any

from supple.record.files.trust import Dataset


def extend(table: Dataset, start: int, count: int, rows: Any) -> None:
    """Put so many rows behind the first `start` of a table, which then ends with them. rows: all, or one value."""
    table.resize(start + count, axis=0)
    if count:
        table[start:] = rows
