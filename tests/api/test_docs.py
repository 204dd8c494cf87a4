"""The pages in docs/: every Python block runs, in order, and prints what the page says it prints.

One namespace and one empty folder a page. A block marked `text` right after a Python block is its output. A block with
a title is a file of that name in the folder. Blocks marked `py` are of other programs. README.md has its own test.
"""

from __future__ import annotations

import contextlib
import io
import re
from pathlib import Path
from typing import NamedTuple

import pytest

import supple

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r'^```(\w*)(?: title="([\w.-]+)")?\n(.*?)^```$', flags=re.M | re.S)


class Block(NamedTuple):
    """A fenced block: its language, its text, the line of the page it begins in, the file it shows."""

    language: str
    text: str
    line: int
    title: str | None


def blocks_of(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = page.read_text(encoding="utf-8")
    return [Block(m[1], m[3], text.count("\n", 0, m.start(3)) + 1, m[2]) for m in FENCE.finditer(text)]


def run_page(page: Path) -> None:
    """Run the Python blocks in one namespace; compare what they print with the `text` block that follows."""
    space: dict[str, object] = {"__name__": "__main__"}
    printed = None
    for block in blocks_of(page):
        if block.title:
            Path(block.title).write_text(block.text, encoding="utf-8")
        elif block.language == "python":
            out = io.StringIO()
            code = compile("\n" * (block.line - 1) + block.text, str(page), "exec")  # tracebacks name the page's lines
            with contextlib.redirect_stdout(out):
                exec(code, space)
            printed = out.getvalue()
        elif block.language == "text" and printed is not None:
            assert printed.rstrip() == block.text.rstrip(), f"{page.name}, line {block.line}"
            printed = None


PAGES = [page for page in sorted(DOCS.rglob("*.md")) if any(b.language == "python" for b in blocks_of(page))]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(DOCS).as_posix())
def test_the_code_of_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_page(page)


def test_the_guide_and_the_theory_have_code() -> None:
    assert {"guide.md", "theory.md"} <= {page.name for page in PAGES}


def test_wrong_output_and_wrong_code_are_noticed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```python\nprint(1)\n```\n\n```text\n2\n```\n")
    with pytest.raises(AssertionError, match=r"page\.md, line 6"):
        run_page(page)
    page.write_text("# Title\n\n```python\n1 / 0\n```\n")
    with pytest.raises(ZeroDivisionError) as caught:
        run_page(page)
    assert caught.traceback[-1].lineno == 3  # counted from zero


def test_links_between_pages_lead_somewhere() -> None:
    for page in DOCS.rglob("*.md"):
        for target in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_page_is_in_the_menu_once() -> None:
    """Pages that are read from elsewhere (docs/about) are pages too."""
    menu = (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8").split("\nnav:\n")[1]
    listed = re.findall(r"[\w/.-]+\.md", menu)
    assert len(set(listed)) == len(listed)
    assert set(listed) == {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}


def test_the_site_is_built_so_that_warnings_count() -> None:
    """With --quiet mkdocs drops warnings before --strict counts them, and a broken link passes."""
    told = (DOCS.parent / "Makefile").read_text(encoding="utf-8")
    builds = re.findall(r"mkdocs build.*", told)
    assert builds
    assert set(builds) == {"mkdocs build --strict"}
    assert "omitted_files: warn" in (DOCS.parent / "mkdocs.yml").read_text(encoding="utf-8")


def test_the_reference_shows_every_public_name() -> None:
    shown = re.findall(
        r"^::: supple\.(?:\w+\.)*(\w+)$", "\n".join(p.read_text() for p in DOCS.glob("reference/*.md")), re.M
    )
    assert len(set(shown)) == len(shown)
    assert set(supple.__all__) - {"__version__"} <= set(shown)


def test_pages_fetch_nothing_from_elsewhere() -> None:
    outside = re.compile(r"(?:src|href)=\S*https?:|url\(https?:|^\s*- https?:", flags=re.M)
    for page in [*DOCS.rglob("*.md"), *DOCS.rglob("*.css"), DOCS.parent / "mkdocs.yml"]:
        assert not outside.search(page.read_text(encoding="utf-8")), page


@pytest.mark.parametrize("page", sorted((DOCS / "decisions").glob("*.md")), ids=lambda page: page.stem)
def test_a_decision_has_its_own_number_and_is_found_after_other_pages(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert re.findall(r"^# (\d{4}): \S", text, re.M) == [page.name[:4]]
    assert text.startswith("---\nsearch:\n  boost: 0.2\n---\n")
