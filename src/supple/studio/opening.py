"""Opening: what the studio shows, made in the process that runs it, and where it is kept."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from supple.scene.scene import Scene

RECORD_EVERY = 1 / 30


@dataclass(frozen=True)
class Opened:
    """A scene to run. given: what a person calls it, a name or a file; record_every: simulated time between frames that
    are kept [s]."""

    scene: Scene
    given: str = ""
    record_every: float = RECORD_EVERY


Make = Callable[[], "Scene | Opened"]
"""Makes what is shown; a function of a module, since another process calls it."""


@dataclass(frozen=True)
class Keeping:
    """Where runs are kept. is_first: whether the first one takes the place of an older record in the folder; note: is
    called with the folder of each record that is made and what was opened, in the process of the simulation."""

    folder: Path
    is_first: bool = True
    note: Callable[[Path, str], None] | None = None
