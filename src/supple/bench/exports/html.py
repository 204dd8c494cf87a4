"""exports/html: sizes of pages that play a run: ten seconds of the flower and of the oak, 30 frames a second.

The first frame counts, so that there are 301. The time that a page takes to write is shown beside its size.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter

from supple.bench.row import Row, at_most, measured
from supple.examples import registry
from supple.exports import export
from supple.record import open_record
from supple.running import run

CASE = "exports/html"
SECONDS, RATE = 10.0, 30
LIMITS = {"flower": 3.0, "oak": 25.0}
"""Of a page [MB]."""


def pages() -> list[Row]:
    """Of runs that are recorded to disk: what is kept in memory is thinned."""
    rows = []
    for name, limit in LIMITS.items():
        with tempfile.TemporaryDirectory() as folder:
            run(registry()[name].make(), until=SECONDS, record_every=1 / RATE, out=folder)
            start = perf_counter()
            page = export(folder, Path(folder) / f"{name}.html")
            spent, size, frames = perf_counter() - start, page.stat().st_size, len(open_record(folder).times)
        rows += [
            at_most(CASE, f"size of ten seconds, {name}", size / 1e6, limit, unit="MB", threads=1),
            measured(CASE, f"frames, {name}", frames, unit="-", threads=1),
            measured(CASE, f"time to write the page, {name}", spent, unit="s", threads=1),
        ]
    return rows


CASES = {CASE: pages}
