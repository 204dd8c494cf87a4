"""Shelf: what the page offers to open, and how each becomes something that another process can make."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

from supple.errors import InputError
from supple.studio.opening import Make, Opened
from supple.studio.shelf.recent import RecentRun, recent_runs
from supple.studio.shelf.uploads import Uploads

THUMBNAILS = Path(__file__).parent / "thumbnails"
LONGEST = 300.0
"""Wall time [s] that a page of a recorded run may take to be made."""


class Shelf:
    """examples: names of built-in scenes with what they show. find: makes the scene of a name or of a file; a function
    of a module."""

    def __init__(self, examples: dict[str, str], find: Callable[[str], Opened]) -> None:
        self.examples, self.find, self.uploads = examples, find, Uploads()
        self._pages: tempfile.TemporaryDirectory[str] | None = None

    def example(self, name: str) -> Make:
        """What makes a built-in scene."""
        if name not in self.examples:
            raise InputError("there is no such built-in scene", value=name[:60])
        return partial(self.find, name)

    def uploaded(self, key: str) -> tuple[Make, str]:
        """What makes the scene of an upload, and its name."""
        path = self.uploads.scene(key)
        return partial(self.find, str(path)), path.name

    def thumbnail(self, name: str) -> Path | None:
        """The small picture of a built-in scene; None where there is none."""
        path = THUMBNAILS / f"{name}.webp"
        return path if name in self.examples and path.is_file() else None

    def recent(self) -> list[RecentRun]:
        """Runs that were made, newest first."""
        return recent_runs()

    def again(self, run: RecentRun) -> Make | None:
        """What makes the scene of a run anew; None where it is gone."""
        return partial(self.find, run.scene) if run.scene in self.examples or Path(run.scene).is_file() else None

    def page_of(self, key: str) -> Path:
        """A page that plays the recent run of a key, as `supple export --to html` makes it, by another process. It
        waits."""
        run = next((run for run in self.recent() if run.key == key), None)
        if run is None:
            raise InputError("there is no such run any more", where="recent runs", value=key[:60],
                             fix="Close the dialog and open it again: it lists the runs of now.")  # fmt: skip
        if self._pages is None:
            self._pages = tempfile.TemporaryDirectory(prefix="supple-pages-")
        path = Path(self._pages.name) / f"{run.key}.html"
        command = [sys.executable, "-m", "supple", "export", run.folder, "--to", "html", "--out", str(path)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=LONGEST)
        except subprocess.TimeoutExpired:
            raise InputError("the run is too long to be shown as a page", where=run.folder,
                             fix="Export fewer frames: supple export RUN --to html --fps 10.") from None  # fmt: skip
        if done.returncode or not path.is_file():
            raise InputError(f"the run cannot be played: {done.stderr.strip()[-300:]}", where=run.folder)
        return path

    def close(self) -> None:
        """Remove what was uploaded and made."""
        self.uploads.close()
        if self._pages is not None:
            self._pages.cleanup()
