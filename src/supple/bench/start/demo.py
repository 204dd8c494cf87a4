"""start/demo: the commands of `make demo` with an empty cache of kernels, compiled on all cores before each run."""

from __future__ import annotations

import json
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from supple.algebra.compiling.ahead import process_count
from supple.bench.row import Row, at_most, measured
from supple.bench.start.process import processor_time, run_python

DEMO = "start/demo"
LONGEST = 10
RUNS = (("hanging-beam", "--picture"), ("garden", "--picture", "--video", "gif"))
"""What `make demo` runs; the first shows the first picture."""


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


CASES = {DEMO: demo}
