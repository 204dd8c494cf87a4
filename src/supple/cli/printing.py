"""How verbs print: tables for people, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from supple.errors import printable

Row = Mapping[str, Any]


def as_row(row: Any) -> dict[str, Any]:
    """A row as a plain dictionary; dataclasses and named tuples are taken too."""
    if dataclasses.is_dataclass(row) and not isinstance(row, type):
        return dataclasses.asdict(row)
    return dict(row._asdict() if hasattr(row, "_asdict") else row)


def print_json(value: Any) -> None:
    """Plain values as JSON; what is not finite becomes null, since JSON has no word for it."""
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False)
    print("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in text))


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(k): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    value = value.item() if hasattr(value, "item") else value
    return None if isinstance(value, float) and not math.isfinite(value) else value


def print_table(columns: Sequence[str], rows: Iterable[Row], *, title: str | None = None) -> None:
    """A table for people; `ok` becomes a word, numbers six digits."""
    import shutil

    from rich.console import Console
    from rich.table import Table

    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for column in columns:
        table.add_column("" if column == "ok" else column, overflow="fold")
    for row in rows:
        table.add_row(*(_cell(column, row.get(column)) for column in columns))
    Console(width=max(shutil.get_terminal_size((160, 24)).columns, 80), markup=False, highlight=False).print(table)


def _cell(column: str, value: Any) -> str:
    if column == "ok":
        return "" if value is None else "ok" if value else "FALLS SHORT"
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else printable(str(value))
