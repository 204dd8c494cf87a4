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
def opened(chromium: Any, path: Path) -> Iterator[Any]:
    """A page from a file, without a network; what goes wrong in it is a failure. Tests may evaluate text in it, which
    its own policy forbids."""
    context = chromium.new_context(viewport={"width": 640, "height": 480}, offline=True, bypass_csp=True)
    page, wrong = context.new_page(), []
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto(path.as_uri())
    page.wait_for_function("window.supple !== undefined", timeout=60_000)
    yield page
    context.close()
    assert not wrong
