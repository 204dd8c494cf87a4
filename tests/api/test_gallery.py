"""The gallery of the documentation: a frame for each example, and pages made again when their sources change."""

from __future__ import annotations

import re
from base64 import b64encode
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest

from supple.examples import registry

ROOT = Path(__file__).parents[2]
THUMBNAILS = ROOT / "src" / "supple" / "studio" / "shelf" / "thumbnails"
FRAME = re.compile(r'<iframe class="canvas" loading="lazy" src="gallery/([\w-]+)\.html" title="([^"]+)"></iframe>')


@pytest.fixture(scope="module")
def gallery() -> Any:
    pytest.importorskip("nicegui")
    spec = spec_from_file_location("gallery", ROOT / "tools" / "docs" / "gallery.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_frames_each_example_once() -> None:
    text = (ROOT / "docs" / "gallery.md").read_text(encoding="utf-8")
    frames = FRAME.findall(text)
    assert len(frames) == text.count("<iframe")
    assert sorted(frames) == sorted((name, f"{name}: {example.summary}") for name, example in registry().items())


def test_make_docs_asks_for_examples_that_exist() -> None:
    asked = re.findall(r"gallery\.py --cache \S+ ([\w -]+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M)
    names = next(line for line in asked if not line.startswith("--")).split()
    assert len(names) == 3
    assert set(names) <= set(registry())


@pytest.mark.parametrize(
    ("source", "changes"),
    [
        ("examples/hanging_beam.py", True),
        ("examples/shapes/beam.py", True),
        ("exports/html.py", True),
        ("exports/page.html", True),
        ("canvas/web/canvas.js", True),
        ("examples/oak.py", False),
        ("exports/html.pyc", False),
    ],
)
def test_the_key_changes_with_the_sources(gallery: Any, tmp_path: Path, source: str, changes: bool) -> None:
    for name in ("examples/__init__.py", "examples/hanging_beam.py", "exports/html.py", source):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("a = 1\n")
    before = gallery.key_of("hanging-beam", 2.0, tmp_path)
    assert gallery.key_of("hanging-beam", 2.0, tmp_path) == before
    assert gallery.key_of("hanging-beam", 1.0, tmp_path) != before
    (tmp_path / source).write_text("a = 2\n")
    assert (gallery.key_of("hanging-beam", 2.0, tmp_path) != before) == changes


def test_the_sources_of_every_example_are_there(gallery: Any) -> None:
    keys = {gallery.key_of(name, 2.0) for name in registry()}
    assert len(keys) == len(registry())


def test_a_canvas_is_made_once_and_the_others_are_words(gallery: Any, tmp_path: Path) -> None:
    docs, cache = tmp_path / "docs", tmp_path / "cache"
    cache.mkdir()
    (cache / "hanging-beam.0123456789abcdef.html").write_text("of older sources")
    assert gallery.build({"hanging-beam"}, docs, cache, 0.02) == ["hanging-beam"]
    page = (docs / "gallery" / "hanging-beam.html").read_text(encoding="utf-8")
    assert "three.js authors" in page
    assert [path.read_text(encoding="utf-8") for path in cache.iterdir()] == [page]
    assert gallery.build({"hanging-beam"}, docs, cache, 0.02) == []
    assert gallery.build(set(), docs, cache, 0.02) == []  # what is kept is shown, asked for or not
    assert (docs / "gallery" / "hanging-beam.html").read_text(encoding="utf-8") == page
    for name, example in registry().items():
        text = (docs / "gallery" / f"{name}.html").read_text(encoding="utf-8")
        assert ("was not made" in text and example.summary in text) == (name != "hanging-beam")
        picture = "data:image/webp;base64," + b64encode((THUMBNAILS / f"{name}.webp").read_bytes()).decode()
        assert (f'<img src="{picture}"' in text) == (name != "hanging-beam")
    assert gallery.build({"hanging-beam"}, docs, cache, 0.02, again=True) == ["hanging-beam"]
