"""A disk that is really full: what was stored is kept, the person is told, and the run goes on where space is freed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.api.calling import call
from tests.design.small_disk import SmallDisk, small_disk
from tests.design.test_store import result_of, walker

from supple.design import Arena, Design, Evaluator, Store, evaluate, evaluations, try_design
from supple.errors import RecordError
from supple.material.voxel import VoxelMaterial

__all__ = ["small_disk"]
FULL = r"s\.db: the disk is full\. Free some space and go on: what was stored before is kept"
ARENA = Arena({1: VoxelMaterial(young=1e5, density=1000.0)}, 0.01, duration=0.004, obstacles=(), record_every=0.004)
STUDY = """
design = 1
seed = 1
[arena]
voxel_size = 0.01
duration = 0.02
amplitude = 10.0
frequency = 5.0
[arena.materials.1]
young = 2e5
density = 1000
expansion = 0.01
[encoding]
kind = "direct"
shape = [3, 2, 2]
[search]
kind = "age-fitness"
objectives = ["height"]
population = 4
generations = 2
"""


def test_results_are_kept_until_the_disk_is_full(small_disk: SmallDisk) -> None:
    path = small_disk.path / "s.db"

    def add_many(store: Store) -> None:
        for number in range(1000):
            store.add(result_of(walker(number)), walker(number))

    with Store(path) as store, pytest.raises(RecordError, match=FULL):
        add_many(store)
    with Store(path, write=False) as store:  # it can be read while the disk is full
        kept = list(store.results())
    assert 3 < len(kept) < 1000
    assert kept == [result_of(walker(number)) for number in range(len(kept))]
    small_disk.grow("4m")
    with Store(path) as store:
        store.add(result_of(walker(len(kept))), walker(len(kept)))
        assert len(store) == len(kept) + 1


@pytest.mark.parametrize("left", [0, 4, 12, 40])
def test_a_store_that_finds_no_space_says_so(left: int, small_disk: SmallDisk) -> None:
    """Whichever of SQLite's files it is that has no room; left [KiB]."""
    ballast = small_disk.path / "ballast"
    ballast.write_bytes(b"x" * 1024 * (256 - left))
    with pytest.raises(RecordError, match=FULL), Store(small_disk.path / "s.db") as store:
        store.add(result_of(walker(1)), walker(1))
    ballast.unlink()
    with Store(small_disk.path / "s.db") as store:
        store.add(result_of(walker(1)), walker(1))
        assert list(store.results()) == [result_of(walker(1))]


def test_an_evaluation_goes_on_where_the_disk_was_full(small_disk: SmallDisk) -> None:
    """What was stored is not evaluated again; all results are those of each design alone."""
    path = small_disk.path / "s.db"
    designs = [Design(np.ones((2, 1, 1)), {"density": np.full((2, 1, 1), 1.0 + k / 64)}) for k in range(40)]
    seen: list[int] = []
    with pytest.raises(RecordError, match=FULL):
        seen.extend(index for index, _ in evaluations(designs, ARENA, store=path, workers=0))
    assert 3 < len(seen) < len(designs)
    small_disk.grow("4m")
    with Evaluator(ARENA, store=path, workers=0) as evaluator:
        found = evaluator.evaluate(designs)
        assert evaluator.dispatcher.evaluated == len(designs) - len(seen)
    assert found == evaluate(designs, ARENA, workers=0)
    assert found[0] == try_design(designs[0], ARENA)


@pytest.mark.parametrize("size", ["8k", "72k", "128k"])
def test_a_search_says_that_the_disk_is_full_and_goes_on(
    size: str, small_disk: SmallDisk, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whether its store, its note or its tables find no room; without a traceback."""
    (tmp_path / "hop.toml").write_text(STUDY)
    small_disk.grow(size)
    plain = ("design", str(tmp_path / "hop.toml"), "--workers", "0", "--no-pictures")
    code, _, err = call(capsys, *plain, "--out", str(small_disk.path / "out"))
    assert code == 2
    assert "disk is full" in err or "No space left on device" in err
    assert "Traceback" not in err
    small_disk.grow("8m")
    code, _, err = call(capsys, *plain, "--out", str(small_disk.path / "out"), "--resume")
    assert code == 0, err
    assert call(capsys, *plain, "--out", str(tmp_path / "whole"))[0] == 0
    for name in ("history.csv", "archive.csv"):
        tables = [_untimed(folder / name) for folder in (small_disk.path / "out", tmp_path / "whole")]
        assert tables[0] == tables[1]


def _untimed(path: Path) -> list[dict[str, str]]:
    """The rows of a table without what a clock says."""
    import csv

    with path.open(newline="") as file:
        return [
            {k: v for k, v in row.items() if "seconds" not in k and "rate" not in k} for row in csv.DictReader(file)
        ]
