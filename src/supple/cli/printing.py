"""How verbs print: tables for people, JSON for programs."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from supple.errors import printable

Row = Mapping[str, Any]
GAP = 2  # letters between columns


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

    width = max(shutil.get_terminal_size((160, 24)).columns, 80)
    heads = ["" if column == "ok" else column for column in columns]
    cells = [[_cell(column, row.get(column)) for column in columns] for row in rows]
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for head, wide in zip(heads, column_widths(heads, cells, width - GAP * (len(heads) - 1))):
        table.add_column(head, overflow="fold", width=wide)
    for row in cells:
        table.add_row(*row)
    Console(width=width, markup=False, highlight=False).print(table)


def column_widths(heads: Sequence[str], cells: Sequence[Sequence[str]], room: int) -> list[int]:
    """Widths of columns: as wide as their text where there is room; otherwise those of words share what those of
    numbers leave, since a number that is cut in two reads as another one."""
    columns = [[head, *(row[k] for row in cells)] for k, head in enumerate(heads)]
    widths = [max(map(len, column)) for column in columns]
    if sum(widths) <= room:
        return widths
    wordy = [k for k, (_, *texts) in enumerate(columns) if not all(_is_number(text) for text in texts if text)]
    room -= sum(wide for k, wide in enumerate(widths) if k not in wordy)
    for left, k in enumerate(sorted(wordy, key=widths.__getitem__)):  # the narrowest first: what it spares is shared
        widths[k] = max(min(widths[k], room // (len(wordy) - left)), 1)
        room -= widths[k]
    return widths


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _cell(column: str, value: Any) -> str:
    if column == "ok":
        return "" if value is None else "ok" if value else "FALLS SHORT"
    if value is None:
        return ""
    return f"{value:.6g}" if isinstance(value, float) else printable(str(value))
