"""start/...: how long a person waits who has just installed the package, with an empty cache of kernels.

start/demo runs the commands of `make demo`: kernels are compiled on all cores before each run. start/import: a new
process until it could make a scene and run it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from supple.algebra.compiling.ahead import process_count
from supple.bench.checkout import own_sources
from supple.bench.row import Row, at_most, best_of, measured
from supple.errors import SuppleError

DEMO, IMPORT = "start/demo", "start/import"
LONGEST = 10
RUNS = (("hanging-beam", "--picture"), ("garden", "--picture", "--video", "gif"))
"""What `make demo` runs; the first shows the first picture."""


def run_python(case: str, folder: str, *arguments: str) -> None:
    """Run Python in a process of its own whose cache is in the folder."""
    environment = {**os.environ, "SUPPLE_CACHE": str(Path(folder) / "cache"), "PYTHONPATH": str(own_sources())}
    ended = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SuppleError("the new process failed", where=case, value=ended.stderr.strip()[-200:])


def processor_time() -> float:
    """Seconds that processes started by this one, and ended, have computed."""
    used = os.times()
    return used.children_user + used.children_system


def demo() -> list[Row]:
    """The demo from an empty cache, with the kernels that compile longest."""
    cores = process_count()
    with TemporaryDirectory() as folder:
        begin, before, ends = perf_counter(), processor_time(), []
        for name, *options in RUNS:
            run_python(DEMO, folder, "-m", "supple", "run", name, "--out", str(Path(folder) / name), *options)
            ends.append(perf_counter() - begin)
        computed = processor_time() - before
        receipts = [json.loads(file.read_text()) for file in Path(folder).glob("cache/kernels/*.json")]
    kernels = sorted((tuple(kernel) for receipt in receipts for kernel in receipt), key=lambda kernel: -kernel[1])
    return [
        at_most(DEMO, "first picture", ends[0], 60.0, unit="s", threads=cores),
        at_most(DEMO, "end of the demo", ends[-1], 150.0, unit="s", threads=cores),
        measured(DEMO, "processor time of all", computed, unit="s", threads=cores),
        measured(DEMO, "of which kernels", sum(seconds for _, seconds in kernels), unit="s", threads=cores),
        *(
            measured(DEMO, f"  {name.removeprefix('supple.')}", seconds, unit="s", threads=1)
            for name, seconds in kernels[:LONGEST]
        ),
    ]


def import_package() -> list[Row]:
    """The best of several processes."""
    rows = []
    with TemporaryDirectory() as folder:
        for what in ("import supple", "import supple; supple.Scene, supple.run"):
            best = best_of(3, partial(run_python, IMPORT, folder, "-c", what))
            rows.append(measured(IMPORT, what, best, unit="s", threads=1))
    return rows


CASES = {DEMO: demo, IMPORT: import_package}
