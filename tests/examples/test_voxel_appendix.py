"""The source's minimal program: as short as the page says, and what becomes of its 1 kN. Tests of the pages run it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from supple.errors import DivergenceError

PAGE = Path(__file__).parents[2] / "docs" / "voxel-appendix.md"


@pytest.fixture(scope="module")
def program() -> str:
    found = re.search(r"^```python\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), flags=re.M | re.S)
    assert found is not None
    return found[1]


def test_it_has_at_most_ten_lines(program: str) -> None:
    assert len([line for line in program.splitlines() if line.strip()]) <= 10


def test_a_thousand_newtons_are_too_many(program: str) -> None:
    assert program.count("-1.0 / 25") == 1
    with pytest.raises(DivergenceError):
        exec(program.replace("-1.0 / 25", "-1000.0 / 25"), {})
