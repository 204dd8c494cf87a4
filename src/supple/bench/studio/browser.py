"""A studio as a process, and a real browser that looks at it: Chromium, headless, through Playwright."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from supple.errors import MissingExtraError, SuppleError

NAMES = ("chromium", "chromium-browser", "google-chrome")
FLAGS = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
SIZE = {"width": 800, "height": 600}
WAIT = 120_000
"""How long a page may take [ms]: kernels are compiled meanwhile."""
VIEW = "import sys\nfrom supple.bench.studio import scenes\nfrom supple.studio import view\n" + (
    "view(getattr(scenes, sys.argv[1]), browser=False, say=lambda text: print(text, flush=True))"
)
UPLOADS = """
(() => {
  window.uploads = 0; window.updatesDrawn = 0;
  let fresh = false;
  const large = (data) => data && data.byteLength > 1e5, kind = WebGL2RenderingContext.prototype;
  for (const name of ["bufferData", "bufferSubData", "texImage2D", "texSubImage2D"]) {
    const own = kind[name];
    kind[name] = function (...given) {
      if (given.some((one) => ArrayBuffer.isView(one) && large(one))) { fresh = true; window.uploads += 1; }
      return own.apply(this, given);
    };
  }
  for (const name of ["drawElements", "drawArrays", "drawElementsInstanced"]) {
    const own = kind[name];
    kind[name] = function (...given) {
      if (fresh) { fresh = false; window.updatesDrawn += 1; }
      return own.apply(this, given);
    };
  }
})();
"""
"""Counts updates of more than 100 kB that were drawn, in any page."""


class Studio:
    """A studio in a process of its own: Python with some arguments; lines: what it has printed."""

    def __init__(self, arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> None:
        self.process = subprocess.Popen(
            [sys.executable, *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=environment
        )
        self.lines: list[str] = []
        self.address, known = "", threading.Event()

        def listen() -> None:
            assert self.process.stdout is not None
            for line in self.process.stdout:
                self.lines.append(line)
                if not self.address and (found := re.search(r"http\S+", line)):
                    self.address = found[0]
                    known.set()
            known.set()

        threading.Thread(target=listen, daemon=True).start()
        known.wait()
        if not self.address:
            raise SuppleError("the studio did not begin", where=arguments[-1], value="".join(self.lines)[-300:])

    def end(self) -> None:
        """Stop it."""
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()


@contextmanager
def started(arguments: Sequence[str], environment: Mapping[str, str] | None = None) -> Iterator[Studio]:
    """One that is ended in the end."""
    found = Studio(arguments, environment)
    try:
        yield found
    finally:
        found.end()


def studio(scene: str) -> AbstractContextManager[Studio]:
    """`view` of one of our scenes."""
    return started(["-c", VIEW, scene])


@contextmanager
def chromium() -> Iterator[Any]:
    """A browser; where there is none, an error that says what is missing."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    if program is None:
        fix = "Install Chromium, on Debian: sudo apt-get install chromium."
        raise SuppleError("the studio is measured in Chromium, which is not installed", where="studio/stream", fix=fix)
    try:
        from playwright.sync_api import sync_playwright
    except ImportError as error:
        raise MissingExtraError("dev", needed_for="studio/stream, by Playwright,") from error
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=program, args=FLAGS)
        try:
            yield found
        finally:
            found.close()


@contextmanager
def page_of(browser: Any, address: str, *, script: str = UPLOADS) -> Iterator[Any]:
    """A page at an address. script: runs in it before its own."""
    context = browser.new_context(viewport=SIZE)
    context.add_init_script(script)
    page = context.new_page()
    page.goto(address)
    try:
        yield page
    finally:
        context.close()


@contextmanager
def playing(browser: Any, scene: str, *, script: str = UPLOADS) -> Iterator[tuple[Studio, Any]]:
    """A studio that plays a scene, and its page."""
    with studio(scene) as found, page_of(browser, found.address, script=script) as page:
        page.wait_for_function("window.suppleCanvas && suppleCanvas.applied > 0", timeout=WAIT)
        page.get_by_role("button", name="Play").click(timeout=WAIT)
        page.wait_for_function("suppleCanvas.frame.time > 0.3", timeout=WAIT)
        yield found, page
