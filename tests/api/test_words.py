"""One word for each thing: words that the glossary replaces are absent from identifiers, file names and prose."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = sorted([*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py")])
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
IDENTIFIERS = {
    "SubstructureModel",
    "SubstructureTree",
    "DomainKind",
    "DomainClass",
    "Port",
    "LatticeStride",
    "TreeStride",
    "Ball",
    "Hinge",
    "Slider",
    "Ground",
    "FoundFrames",
    "MOST",
    "storage",
}
PARTS = {"substructure", "blueprint", "islands", "island", "crew", "sail", "sails", "grip"}
"""Whole identifiers, and parts of them between underscores."""
PROSE = re.compile(r"\b(crews?|gives? way|blueprints?|sails?|islands?|substructures?)\b", re.IGNORECASE)
ALLOWED = {
    "CHANGELOG.md": "it tells what names were before",
    "references.bib": "titles",
    "test_words.py": "this file",
    "former_names.py": "it knows what cases were called before",
    "test_bench_against.py": "it compares with what was called otherwise",
}
SCHEMAS = {"acting.py": {"Ball", "Hinge", "Slider"}}  # tables of scene files are called by their kinds


def names_in(text: str) -> set[str]:
    return {t.string for t in tokenize.generate_tokens(io.StringIO(text).readline) if t.type == tokenize.NAME}


def replaced(name: str) -> bool:
    return name in IDENTIFIERS or bool(PARTS & set(name.lower().split("_")))


def found_in_source(path: Path) -> set[str]:
    allowed = SCHEMAS.get(path.name, set()) if path.parent.name == "schema" else set()
    return {name for name in names_in(path.read_text()) - allowed if replaced(name)}


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_identifiers_and_file_names(path: Path) -> None:
    if path.name in ALLOWED:
        return
    assert not found_in_source(path)
    assert not replaced(path.stem)
    assert not PROSE.findall(path.read_text())


@pytest.mark.parametrize("path", PAGES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_pages(path: Path) -> None:
    if path.name not in ALLOWED:
        assert not PROSE.findall(path.read_text())


def test_the_check_sees_a_replaced_word() -> None:
    assert replaced("make_crew")
    assert replaced("DomainKind")
    assert not replaced("support")
    assert PROSE.search("the floor gives way")
