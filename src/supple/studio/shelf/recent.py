"""Recent runs: folders of records that `supple run` and the studio have made, newest first, in one small file.

Several processes may note runs at once: each reads, changes and writes the file while it holds a lock beside it, and
puts the new list in the place of the old one at once, so that readers need no lock.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import get_ident
from time import time

from supple.algebra.compiling.compiled import cache_root
from supple.record.files.layout import RECORD_NAME

COUNT = 20
"""Runs that are remembered."""
PLACE = "SUPPLE_RECENT_RUNS"
"""Environment variable that names the file, where it is not to lie among what Supple caches."""
LARGEST = 1 << 20
"""Bytes of the file, at most."""


@dataclass(frozen=True)
class RecentRun:
    """folder: of the record. scene: what was run, as `supple run` takes it; empty: it cannot be run again. at: when it
    began [s] since 1970."""

    folder: str
    scene: str
    at: float

    @property
    def name(self) -> str:
        """As a person reads it."""
        return Path(self.scene).name or Path(self.folder).name

    @property
    def key(self) -> str:
        """What names it in addresses: it belongs to the folder, whatever other runs are noted meanwhile."""
        return hashlib.sha256(self.folder.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def list_path() -> Path:
    """Where the list is kept: `$SUPPLE_RECENT_RUNS`, or a file in the cache, see `cache_root`."""
    given = os.environ.get(PLACE)
    return Path(given) if given else cache_root() / "recent-runs.json"


def recent_runs() -> list[RecentRun]:
    """Those whose records are still there; none where the list cannot be read."""
    try:
        path = list_path()
        if path.stat().st_size > LARGEST:
            return []
        given = json.loads(path.read_text())
        found = [RecentRun(str(row["folder"]), str(row["scene"]), float(row["at"])) for row in given]
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return []
    return [run for run in found[:COUNT] if (Path(run.folder) / RECORD_NAME).is_file()]


def note_run(folder: Path, scene: str) -> None:
    """Remember a run. Where it cannot be, nothing is lost but this line."""
    path = Path(scene)
    run = RecentRun(str(folder.resolve()), str(path.resolve()) if path.is_file() else scene, time())
    with suppress(OSError):
        place = list_path()
        place.parent.mkdir(parents=True, exist_ok=True)
        with _alone(place):
            others = [other for other in recent_runs() if other.folder != run.folder]
            beside = place.with_name(f"{place.name}.{os.getpid()}.{get_ident()}")
            beside.write_text(json.dumps([asdict(one) for one in [run, *others][:COUNT]]))
            os.replace(beside, place)


@contextmanager
def _alone(place: Path) -> Iterator[None]:
    """Hold the lock of the list, against other processes and threads."""
    try:
        import fcntl
    except ImportError:  # a system without such locks
        yield
        return
    with place.with_name(f"{place.name}.lock").open("ab") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
