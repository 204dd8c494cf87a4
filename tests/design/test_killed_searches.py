"""Searches that were killed by SIGKILL in the middle of a generation and are run again end as those that were not.

The ways of different methods to their next generation differ: populations, distributions, archives, emitters. All of
them are led there again by results from the store, here with two workers and real runs.
"""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from supple.design import Arena, Design, Result, Search, Store
from supple.design.encodings import BodyPlan, Direct, Patterns, Waves
from supple.design.search import AgeFitness, CmaEs, CmaMe, Descriptor, Found, MapElites, Method, Nsga2
from supple.errors import RecordError
from supple.material.voxel import VoxelMaterial

pytestmark = pytest.mark.slow

PLAN, POPULATION, GENERATIONS = BodyPlan((3, 2, 2)), 6, 4
SOFT = VoxelMaterial(1e5, 1000, expansion=0.01, bond_damping=0.1)
ARENA = Arena({1: SOFT}, 0.01, duration=0.15, settle=0.05, amplitude=15.0, frequency=10.0)
AXES = [Descriptor("height", 0.0, 2e-3, 4), Descriptor("contact_time", 0.0, 0.15, 4)]
METHODS: dict[str, Callable[[], Method]] = {
    "age-fitness": lambda: AgeFitness(Direct(PLAN), "forward", population=POPULATION, seed=5),
    "cma-es": lambda: CmaEs(Waves(PLAN), "forward", population=POPULATION, seed=5),
    "map-elites": lambda: MapElites(Patterns(PLAN), "forward", AXES, population=POPULATION, seed=5, crossing=0.3),
    "cma-me": lambda: CmaMe(Waves(PLAN), "forward", AXES, population=POPULATION, seed=5),
    "nsga2": lambda: Nsga2(Direct(PLAN), ("forward", "energy"), population=POPULATION, seed=5),
}
SCRIPT = """
import sys
sys.path[:0] = {paths!r}
from test_killed_searches import Deadly, searched
if __name__ == "__main__":
    with Deadly({store!r}) as store:
        searched({name!r}, store, workers=2)
"""
KILLED_AT = 2 * POPULATION + 2
"""Results in the store: in the middle of the third generation, after which each method has told its first ones."""
PATIENCE = 300.0  # [s] before a test gives up


class Deadly(Store):
    """A store whose process is killed once it has so many results."""

    def add(self, result: Result, design: Design) -> None:
        """Keep a result, and die."""
        super().add(result, design)
        if len(self) == KILLED_AT:
            os.kill(os.getpid(), signal.SIGKILL)


def searched(name: str, store: Any, **options: Any) -> Found:
    """The search of a method."""
    return Search(METHODS[name](), ARENA, ("energy",), store=store, batch=1, **options).run(GENERATIONS)


def told(found: Found) -> tuple[Any, ...]:
    """All of it but wall times."""
    best = [(one.number, one.design.key(), dict(one.result.scores)) for one in found.best]
    return found.history, found.rows(), best


@pytest.mark.parametrize("name", METHODS)
def test_a_killed_search_ends_as_a_whole_one(name: str, tmp_path: Path) -> None:
    path, script = tmp_path / "s.db", tmp_path / "script.py"
    paths = [str(Path(__file__).parent), *filter(None, sys.path)]
    script.write_text(SCRIPT.format(paths=paths, store=str(path), name=name))
    done = subprocess.run([sys.executable, str(script)], timeout=PATIENCE, check=False)
    assert done.returncode == -signal.SIGKILL
    assert count(path) == KILLED_AT
    whole = searched(name, None, workers=0)
    assert told(searched(name, path, workers=2)) == told(whole)
    assert len(whole.history) == GENERATIONS
    assert whole.best


STUDY = """
design = 1
seed = 5
workers = 2
measures = ["energy"]

[arena]
voxel_size = 0.01
settle = 0.05
duration = 0.4
amplitude = 15.0
frequency = 10.0

[arena.materials.1]
young = 1e5
density = 1000
bond_damping = 0.1
expansion = 0.01

[encoding]
kind = "direct"
shape = [3, 2, 2]

[search]
kind = "map-elites"
objectives = ["forward"]
population = 12
generations = 5
descriptors = [{ measure = "height", low = 0.0, high = 2e-3, cells = 4 }]
"""


def test_a_killed_command_goes_on_where_it_was(tmp_path: Path) -> None:
    """`supple design` killed from outside, then run again with --resume: the tables and files of one that was not."""
    study, killed, whole = tmp_path / "study.toml", tmp_path / "killed", tmp_path / "whole"
    study.write_text(STUDY)
    command = [sys.executable, "-m", "supple", "design", str(study), "--no-pictures", "--json", "--out"]
    process = subprocess.Popen([*command, str(killed)], stdout=subprocess.DEVNULL)
    try:
        end = monotonic() + PATIENCE
        while count(killed / "store.db") < 15:
            assert process.poll() is None, "it ended before it was killed"
            assert monotonic() < end, "no results came"
            sleep(0.02)
    finally:
        process.kill()
        process.wait()
    assert 15 <= count(killed / "store.db") < 60
    refused = subprocess.run([*command, str(killed)], timeout=PATIENCE, check=False, capture_output=True, text=True)
    assert refused.returncode != 0
    assert "--resume" in refused.stderr
    for folder, more in ((killed, ["--resume"]), (whole, [])):
        subprocess.run([*command, str(folder), *more], timeout=PATIENCE, check=True, stdout=subprocess.DEVNULL)
    for name in ("archive.csv", "best.json", "best.toml", "best.vxa", "best.vxa.json", "best-2.json"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes(), name
    assert table(killed / "history.csv") == table(whole / "history.csv")
    assert sorted(table(killed / "results.csv"), key=str) == sorted(table(whole / "results.csv"), key=str)


def table(path: Path) -> list[dict[str, str]]:
    """Rows without their wall times."""
    with path.open(newline="") as file:
        return [{key: value for key, value in row.items() if key != "seconds"} for row in csv.DictReader(file)]


def count(path: Path) -> int:
    """Results in a store; none as long as it is being made."""
    try:
        with Store(path, write=False) as store:
            return len(store)
    except RecordError:
        return 0
