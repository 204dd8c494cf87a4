"""Recent runs: folders of records that `supple run` and the studio have made, newest first, in one small file."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from time import time

from supple.algebra.compiling.compiled import cache_root
from supple.record.files.layout import RECORD_NAME

COUNT = 20
"""Runs that are remembered."""
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


def list_path() -> Path:
    """Where the list is kept."""
    return cache_root() / "recent-runs.json"


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
    others = [other for other in recent_runs() if other.folder != run.folder]
    with suppress(OSError):
        place = list_path()
        place.parent.mkdir(parents=True, exist_ok=True)
        beside = place.with_name(f"{place.name}.{os.getpid()}")
        beside.write_text(json.dumps([asdict(one) for one in [run, *others][:COUNT]]))
        os.replace(beside, place)
