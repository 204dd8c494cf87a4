"""Many designs by many processes: the results of one alone, each once, whatever happens to the processes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from supple.design import Arena, Design, Evaluator, Store, evaluate, evaluations, try_design
from supple.errors import InputError
from supple.material.voxel import VoxelMaterial

SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
ARENA = Arena({1: SOFT}, 0.01, duration=0.1, settle=0.05, amplitude=20.0, frequency=10.0)
NAMES = ("travel", "energy", "height")


def walkers(count: int, seed: int = 0) -> list[Design]:
    """Robots of different sizes and phases."""
    rng = np.random.default_rng(seed)
    shapes = [(2 + k % 3, 2, 1 + k % 2) for k in range(count)]
    return [Design(np.ones(shape), {"phase": rng.uniform(size=shape)}) for shape in shapes]


@pytest.mark.parametrize("workers", [0, 2])
def test_results_in_company_are_those_alone(workers: int) -> None:
    designs = walkers(6)
    alone = [try_design(design, ARENA, NAMES) for design in designs]
    assert all(result.ok for result in alone)
    assert evaluate(designs, ARENA, NAMES, workers=workers) == alone
    assert evaluate(designs[::-1], ARENA, NAMES, workers=workers, batch=4) == alone[::-1]


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
