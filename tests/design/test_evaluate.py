"""Many designs by many processes: the results of one alone, each once, whatever happens to the processes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from supple.design import Arena, Design, Evaluator, Store, evaluate, evaluations, try_design
from supple.errors import InputError, RecordError
from supple.material.voxel import VoxelMaterial

SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
ARENA = Arena({1: SOFT}, 0.01, duration=0.1, settle=0.05, amplitude=20.0, frequency=10.0)
NAMES = ("travel", "energy", "height")


def walkers(count: int, seed: int = 0) -> list[Design]:
    """Robots of different sizes and phases."""
    rng = np.random.default_rng(seed)
    shapes = [(2 + k % 3, 2, 1 + k % 2) for k in range(count)]
    return [Design(np.ones(shape), {"phase": rng.uniform(size=shape)}) for shape in shapes]


@pytest.mark.parametrize(("workers", "batch"), [(0, None), (2, 4)])
def test_results_in_company_are_those_alone(workers: int, batch: int | None) -> None:
    designs = walkers(6)
    alone = [try_design(design, ARENA, NAMES) for design in designs]
    assert all(result.ok for result in alone)
    assert evaluate(designs[::-1], ARENA, NAMES, workers=workers, batch=batch) == alone[::-1]


def test_results_are_kept_as_they_come(tmp_path: Path) -> None:
    designs, path = walkers(5), tmp_path / "s.db"
    found = {}
    for index, result in evaluations(designs, ARENA, store=path, workers=0):
        with Store(path, write=False) as reader:
            assert reader.get(result.key) == result
        found[index] = result
    assert sorted(found) == list(range(5))


def test_equal_designs_and_known_ones_are_evaluated_once(tmp_path: Path) -> None:
    designs = walkers(3)
    with Store(tmp_path / "s.db") as store, Evaluator(ARENA, store=store, workers=0) as evaluator:
        first = evaluator.evaluate([designs[0], designs[1], designs[0]])
        assert first[0] == first[2]
        assert (len(store), evaluator.dispatcher.evaluated) == (2, 2)
        assert evaluator.evaluate(designs)[:2] == first[:2]
        assert (len(store), evaluator.dispatcher.evaluated) == (3, 3)


def test_what_is_no_design_is_refused() -> None:
    with pytest.raises(InputError, match="design 1: this is not a design"):
        evaluate([walkers(1)[0], np.ones((2, 2, 2))], ARENA, workers=0)  # type: ignore[list-item]
    with pytest.raises(InputError, match="batch"):
        evaluate([], ARENA, batch=0)
    assert evaluate([], ARENA) == []


def test_an_executor_in_place_of_what_makes_one_is_refused() -> None:
    with ThreadPoolExecutor(1) as pool, pytest.raises(InputError, match="makes an executor"):
        evaluate(walkers(1), ARENA, executor=pool)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"made none \(got 'NoneType'"):
        evaluate(walkers(1), ARENA, executor=lambda: None)  # type: ignore[arg-type, return-value]


def test_what_takes_too_long_is_a_result() -> None:
    (result,) = evaluate(walkers(1), ARENA, workers=0, time_limit=1e-6)
    assert (result.outcome, result.scores) == ("crashed", {"travel": -1e9})
    assert "took too long" in result.message
    (again,) = evaluate(walkers(1), ARENA, workers=0)
    assert again.ok
    assert again.key == result.key


def test_a_controller_that_commands_nan_is_a_result(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(Path(__file__).parent)
    arena = ARENA.with_(controller="hazards:nothing")
    (result,) = evaluate([Design(np.ones((2, 1, 1)), {}, {"some": 1})], arena, workers=0)
    assert (result.outcome, result.scores) == ("refused", {"travel": -1e9})
    assert "finite numbers" in result.message


def test_a_store_in_use_is_refused(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db"), pytest.raises(RecordError, match="another run is writing"):
        evaluate(walkers(1), ARENA, store=tmp_path / "s.db", workers=0)


def test_a_full_disk_ends_the_run_and_keeps_what_was_stored(tmp_path: Path) -> None:
    designs = walkers(40)
    with Store(tmp_path / "s.db") as store:
        store._pragma(f"max_page_count = {store._pragma('page_count') + 3}")  # what a full disk is to SQLite
        with pytest.raises(RecordError, match="disk is full"):
            evaluate(designs, ARENA.with_(duration=0.01), store=store, workers=0)
        stored = len(store)
        assert 0 < stored < 40
    found = evaluate(designs, ARENA.with_(duration=0.01), store=tmp_path / "s.db", workers=0)
    assert all(result.ok for result in found)


def test_progress_says_how_fast(capsys: pytest.CaptureFixture[str]) -> None:
    evaluate(walkers(2), ARENA.with_(duration=0.01), workers=0, progress=True)
    assert "a day" in capsys.readouterr().err
