"""design/evolve-walker: the first evolution of the documentation, from the command to its last picture.

A process of its own runs `supple design evolve-walker` with a worker a core, as a person does: twenty generations of
sixteen robots, with tables, plots and videos and the best robots as files. Kernels are those that were compiled before.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

from supple.bench.checkout import own_sources
from supple.bench.row import Row, at_most, measured
from supple.design.population.workers import available_cores
from supple.errors import SuppleError

CASE = "design/evolve-walker"
LIMIT = 180.0  # [s] on two cores


def evolve_walker() -> list[Row]:
    """Wall time of the whole command, and that of its generations."""
    with TemporaryDirectory() as folder:
        search(folder, "--generations", "1", "--population", "2", "--no-pictures", "--out", str(Path(folder) / "first"))
        begun = perf_counter()
        told = search(folder, "--out", str(Path(folder) / "out"))
        seconds = perf_counter() - begun
    cores = available_cores()
    generations = sum(row["seconds"] for row in told["history"])
    return [
        at_most(CASE, "whole search, pictures and files included", seconds, LIMIT, unit="s", threads=cores),
        measured(CASE, f"of which {len(told['history'])} generations", generations, unit="s", threads=cores),
    ]


def search(folder: str, *options: str) -> dict[str, list[dict[str, float]]]:
    """What the command says at its end."""
    command = [sys.executable, "-m", "supple", "design", "evolve-walker", "--json", *options]
    environment = {**os.environ, "PYTHONPATH": str(own_sources())}
    ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    if ended.returncode:
        raise SuppleError("the search failed", where=CASE, value=ended.stderr.strip()[-200:])
    told: dict[str, list[dict[str, float]]] = json.loads(ended.stdout)
    return told


CASES = {CASE: evolve_walker}
