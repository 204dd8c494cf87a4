"""Citations: every [Key] in sources, tests and pages is in docs/references.bib, and every entry is cited."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
BRACKET = re.compile(r"\[([A-Z][A-Za-z]+[0-9]{2}(?:,[^\[\]]*)?)\]")  # [Key], [Key, eq. 7], [Key, Other]
KEY = re.compile(r"\b[A-Z][A-Za-z]+[0-9]{2}\b")
ENTRY = re.compile(r"^@(\w+)\{(\w+),(.*?)^\}", flags=re.M | re.S)


def cited_in(text: str) -> set[str]:
    """Keys in square brackets."""
    return {key for inside in BRACKET.findall(text) for key in KEY.findall(inside)}


def citations() -> dict[str, list[str]]:
    """Where each key is cited."""
    places: dict[str, list[str]] = {}
    sources = [*ROOT.glob("src/**/*.py"), *ROOT.glob("tests/**/*.py"), *ROOT.glob("docs/**/*.md")]
    for path in sorted(sources):
        if path != Path(__file__):
            for key in cited_in(path.read_text(encoding="utf-8")):
                places.setdefault(key, []).append(path.relative_to(ROOT).as_posix())
    return places


def entries() -> dict[str, str]:
    """The fields of each entry, as text."""
    found = ENTRY.findall((ROOT / "docs" / "references.bib").read_text(encoding="utf-8"))
    keys = [key for _, key, _ in found]
    assert len(set(keys)) == len(keys)
    return {key: fields for _, key, fields in found}


def test_every_citation_has_an_entry() -> None:
    known = entries()
    missing = {key: places for key, places in citations().items() if key not in known}
    assert not missing


def test_every_entry_is_cited() -> None:
    assert not set(entries()) - set(citations())


@pytest.mark.parametrize("key", entries())
def test_an_entry_says_who_what_and_when(key: str) -> None:
    fields = dict(re.findall(r"^ +(\w+) += \{?(.+)", entries()[key], flags=re.M))
    assert {"author", "title", "year"} <= set(fields)
    assert fields["year"][2:4] == re.search(r"\d{2}$", key)[0]  # type: ignore[index]


def test_keys_are_told_from_other_brackets() -> None:
    assert cited_in("by [AB07, BCA12], see [SDA18, eqs. 143, 144] and [BW98]") == {"AB07", "BCA12", "SDA18", "BW98"}
    assert not cited_in("x[Key], C[ij, kl], [text](page.md), [N/m], [S01, S02]")
