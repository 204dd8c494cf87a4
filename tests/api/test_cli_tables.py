"""Tables of reports on narrow and on wide terminals, and where there is none: whole numbers, no word lost."""

from __future__ import annotations

import os
from collections import Counter
from typing import Any

import pytest

from supple.bench.row import at_least, at_most, measured
from supple.cli.bench import COLUMNS as BENCH
from supple.cli.printing import as_row, print_table
from supple.cli.validate import COLUMNS as VALIDATE
from supple.validation.row import compare

NUMBERS = (7.935593e-06, -123456.7, 1.234567e-12, 0.0215)
SPEEDS = [
    at_most("contact/pile", "step_time, a hundred boxes that come to rest", NUMBERS[0], 1e-5, unit="ms", threads=1),
    at_least("run/robot", "real_time_factor, 122 voxels", NUMBERS[1], 3.5, unit="-", threads=2),
    measured("tree/oak", "of a step: forces", NUMBERS[2], unit="voxel-steps/s", threads=1),
]
TRUTHS = [
    compare("tree/axial", f"{k} domains of 12: tip under weight", value, 8.01105e-06, 0.02, unit="m", source="others")
    for k, value in enumerate(NUMBERS)
]


def shown(columns: tuple[str, ...], rows: list[Any]) -> list[str]:
    """All texts of a table, its head first."""
    texts = [column for column in columns if column != "ok"]
    for row in rows:
        for name, value in as_row(row).items():
            told = f"{value:.6g}" if isinstance(value, float) else "" if value is None else str(value)
            texts.append(told if name != "ok" else "ok" if value else "FALLS SHORT")
    return texts


def printed(
    columns: tuple[str, ...], rows: list[Any], width: int | None, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> list[str]:
    """The lines of a table where the terminal says its width, or where there is none."""

    def no_terminal(*_: object) -> os.terminal_size:
        raise OSError

    monkeypatch.setattr(os, "get_terminal_size", no_terminal)
    if width is None:
        monkeypatch.delenv("COLUMNS", raising=False)
    else:
        monkeypatch.setenv("COLUMNS", str(width))
    print_table(columns, [as_row(row) for row in rows])
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(("columns", "rows"), [(BENCH, SPEEDS), (VALIDATE, TRUTHS)], ids=["bench", "validate"])
@pytest.mark.parametrize("width", [80, 100])
def test_a_narrow_table_wraps_its_words_and_no_number(
    columns: tuple[str, ...], rows: list[Any], width: int, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    lines = printed(columns, rows, width, monkeypatch, capsys)
    assert len(lines) > 1 + len(rows)
    assert max(map(len, lines)) <= width
    letters, words = "".join(lines).replace(" ", ""), " ".join(lines).split()
    for row in rows:
        values = as_row(row).values()
        numbers = [f"{value:.6g}" for value in values if isinstance(value, float)]
        assert set(numbers) <= set(words)
        for value in values:
            for word in value.split() if isinstance(value, str) else []:
                assert not Counter(word) - Counter(letters)
    assert len(letters) == sum(len(text.replace(" ", "")) for text in shown(columns, rows))


@pytest.mark.parametrize(("columns", "rows"), [(BENCH, SPEEDS), (VALIDATE, TRUTHS)], ids=["bench", "validate"])
@pytest.mark.parametrize("width", [None, 200])
def test_a_wide_table_has_a_line_a_row(
    columns: tuple[str, ...], rows: list[Any], width: int | None, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Where there is no terminal, as in a file, a line is 160 wide."""
    lines = printed(columns, rows, width, monkeypatch, capsys)
    assert len(lines) == 1 + len(rows)
    for line, row in zip(lines[1:], rows):
        assert line.startswith(row.case)
        assert row.quantity in line
