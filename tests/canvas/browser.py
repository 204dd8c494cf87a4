"""A real browser, headless: Debian's Chromium through Playwright. Tests are skipped where there is none."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

REQUIRED = os.environ.get("SUPPLE_BROWSER") == "required"
"""Set where tests in a browser must run: they fail then instead of being skipped."""
NAMES = ("chromium", "chromium-browser", "google-chrome")
WAIT = 300_000
"""How long pages may take [ms]: kernels are compiled meanwhile, and others use the machine."""
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


def missing(what: str) -> None:
    if REQUIRED:
        pytest.fail(what)
    pytest.skip(what)


def find_program() -> str | None:
    return next(filter(None, map(shutil.which, NAMES)), None)


@contextmanager
def browser() -> Iterator[Any]:
    """One that is closed in the end."""
    program = find_program()
    if program is None:
        missing("there is no Chromium")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=FLAGS)
        yield found
        found.close()


@contextmanager
def new_page(chromium: Any, **options: Any) -> Iterator[tuple[Any, list[str]]]:
    """A page with nothing in it yet, and what goes wrong in it; all that is asked of it may take its time."""
    context = chromium.new_context(**options)
    context.set_default_timeout(WAIT)
    page, wrong = context.new_page(), list[str]()
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    try:
        yield page, wrong
    finally:
        context.close()


@contextmanager
def opened(chromium: Any, path: Path) -> Iterator[Any]:
    """A page from a file, without a network; what goes wrong in it is a failure. Tests may evaluate text in it, which
    its own policy forbids."""
    size = {"width": 640, "height": 480}
    with new_page(chromium, viewport=size, offline=True, bypass_csp=True) as (page, wrong):
        page.goto(path.as_uri())
        page.wait_for_function("window.supple !== undefined")
        yield page
    assert not wrong


def until_drawn(page: Any, canvas: str = "supple.canvas") -> None:
    """Until what is there now is on the screen in full resolution. Twice: the first picture may have begun before."""
    for _ in range(2):
        page.evaluate(f"window.drawnBefore = {canvas}.drawnFine, {canvas}.touch()")
        page.wait_for_function(f"{canvas}.drawnFine > drawnBefore")
    page.evaluate("new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
