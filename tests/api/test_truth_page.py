"""The page of truth names every case that `supple validate` knows, also those whose files of other programs are not
there, and none that it does not."""

from __future__ import annotations

import re
from pathlib import Path

from supple.validation import left_out, registry

PAGE = Path(__file__).parents[2] / "docs" / "truth.md"
LINE = re.compile(r"^\| `([\w/-]+)` \| (.*) \|$", re.M)


def family_of(case: str) -> str:
    return "/".join(case.split("/")[:2])


def test_the_page_has_a_line_of_every_case() -> None:
    shown = {family_of(case) for case, _ in LINE.findall(PAGE.read_text(encoding="utf-8"))}
    assert shown == {family_of(case) for case in [*registry(), *left_out()]}


def test_what_the_page_shows_keeps_its_limit() -> None:
    lines = LINE.findall(PAGE.read_text(encoding="utf-8"))
    assert len(lines) > 50
    for case, rest in lines:
        error, limit = rest.split(" | ")[-3:-1]
        assert limit == "none" or float(error) <= float(limit), case
