"""The canvases of docs/gallery.md: examples run for a short time, each as a page that plays in a frame of the site.

    python tools/docs/gallery.py hanging-beam flower     makes these two
    python tools/docs/gallery.py --all                   makes all

Pages lie in docs/gallery/, which git ignores and mkdocs copies. What was made before is kept in out/gallery/ and used
again as long as the sources that it came from are the same: the example's, those that examples share, the exporter's
and the canvas'. Sources of bodies and solvers do not count; --again makes pages anew after these have changed.
An example that was neither asked for nor kept gets a page that says so in words, with a still if docs/images has one.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
from base64 import b64encode
from html import escape
from importlib.metadata import version
from pathlib import Path

import supple
from supple.cli.compiling import compile_kernels_of
from supple.examples import Example, registry
from supple.exports import export
from supple.running import run

ROOT = Path(__file__).parents[2]
PACKAGE = Path(supple.__file__).parent
SHARED = ("examples/__init__.py", "examples/shapes", "exports", "canvas")
"""Sources, in the package, that pages of all examples come from."""
SOURCES = {".py", ".js", ".html"}
SECONDS = 2.0
"""Simulated time that a page plays, unless the example is shorter [s]."""
EVERY = 1 / 30
"""Simulated time between frames [s]."""
WORDS = """<!doctype html>
<html lang="en"><meta charset="utf-8"><title>{name}</title>
<style>
  :root {{ color-scheme: light dark; }}
  body {{ font: 15px/1.5 system-ui, sans-serif; margin: 1.5rem; }}
  img {{ max-width: 100%; width: 30rem; }}
</style>
<p><b>{name}</b>: {summary}.</p>
<p>This canvas was not made with the site. <code>make gallery</code> makes all;
<code>supple view {name}</code> shows the scene while it runs.</p>{still}
</html>
"""


def key_of(name: str, seconds: float, package: Path = PACKAGE) -> str:
    """Of the page of an example that plays so long: the same as long as its sources are. package: where they lie."""
    digest = hashlib.sha256(f"{name} {seconds} {EVERY} nicegui {version('nicegui')}".encode())
    for start in (f"examples/{name.replace('-', '_')}.py", *SHARED):
        top = package / start
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.suffix in SOURCES:
                digest.update(f"\n{path.relative_to(package).as_posix()}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def make_page(example: Example, path: Path, seconds: float) -> None:
    """Run an example and write its page. What stops in between leaves no page."""
    compile_kernels_of(example.name)
    result = run(example.make(), until=min(seconds, example.until), record_every=EVERY, progress=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    written = export(result, path.with_suffix(".part"), to="html", controls=False)
    written.replace(path)


def kept_page(example: Example, cache: Path, seconds: float) -> Path:
    """Where the page of an example is kept."""
    return cache / f"{example.name}.{key_of(example.name, seconds)}.html"


def words_page(example: Example) -> str:
    """What stands in the place of a canvas that was not made: words, and the small picture that the studio has."""
    name, still = escape(example.name), ""
    if (picture := PACKAGE / "studio" / "shelf" / "thumbnails" / f"{example.name}.webp").is_file():
        still = f'\n<img src="data:image/webp;base64,{b64encode(picture.read_bytes()).decode()}" alt="{name}">'
    return WORDS.format(name=name, summary=escape(example.summary), still=still)


def build(wanted: set[str], docs: Path, cache: Path, seconds: float = SECONDS, *, again: bool = False) -> list[str]:
    """Fill docs/gallery; returns the names of the examples that were run. again: even where a page is kept."""
    folder, ran = docs / "gallery", []
    folder.mkdir(parents=True, exist_ok=True)
    for name, example in registry().items():
        kept = kept_page(example, cache, seconds)
        if name in wanted and (again or not kept.is_file()):
            for old in cache.glob(f"{name}.*"):
                old.unlink()
            make_page(example, kept, seconds)
            ran.append(name)
        page = kept.read_bytes() if kept.is_file() else words_page(example).encode()
        (folder / f"{name}.html").write_bytes(page)
    return ran


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Make the canvases of docs/gallery.md.")
    parser.add_argument("names", nargs="*", metavar="EXAMPLE")
    parser.add_argument("--all", action="store_true", help="make those of all examples")
    parser.add_argument("--again", action="store_true", help="run examples whose pages are kept, too")
    parser.add_argument("--cache", type=Path, default=ROOT / "out" / "gallery", help="where pages are kept")
    given = parser.parse_args()
    if unknown := set(given.names) - set(registry()):
        parser.error(f"unknown examples: {', '.join(sorted(unknown))}; there are {', '.join(registry())}")
    wanted = set(registry()) if given.all else set(given.names)
    ran = build(wanted, ROOT / "docs", given.cache, again=given.again)
    print(f"gallery: {len(wanted)} canvases, {len(ran)} of them run now", file=sys.stderr)


if __name__ == "__main__":
    main()
