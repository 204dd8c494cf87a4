"""Scores of another device or another type of numbers are asked for, computed and stored under keys of their own."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import supple
from supple.algebra.compiling.compiled import PACKAGE
from supple.design import Arena, Design, Result, Search, Store, evaluate, evaluation_key, evaluations, try_design
from supple.design import origin as origins
from supple.design.conditions import Conditions
from supple.design.encodings import BodyPlan, Direct
from supple.design.search import AgeFitness
from supple.errors import InputError, SuppleError
from supple.material.voxel import VoxelMaterial

SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
ARENA = Arena({1: SOFT}, 0.01, duration=0.05, amplitude=20.0, frequency=10.0)
BLOCKS = [Design(np.ones((n, 2, 1)), {"phase": np.linspace(0, 1, 2 * n).reshape(n, 2, 1)}) for n in (1, 2, 3)]
THERE = {"device": "cuda", "dtype": "float32"}


class Card:
    """Makes executors that compute as a graphics card would: the scores here, rounded to 32 bits."""

    device, dtype = "cuda", "float32"

    def __init__(self, **as_if: str) -> None:
        self.as_if = THERE | as_if
        self.calls = 0

    def __call__(self) -> Executor:
        return ThreadPoolExecutor(1)

    def evaluate_batch(self, conditions: Conditions, designs: Sequence[Design], attempt: int) -> list[Result]:
        self.calls += 1
        there = Conditions(conditions.arena, conditions.measures, conditions.seed, **self.as_if)  # type: ignore[arg-type]
        found = []
        for design in designs:
            here = try_design(design, conditions.arena, conditions.measures)
            scores = {name: float(np.float32(value)) for name, value in here.scores.items()}
            found.append(Result(there.key_of(design), design.key(), here.outcome, scores))
        return found


def test_scores_of_a_card_have_rows_of_their_own(tmp_path: Path) -> None:
    path, card = tmp_path / "s.db", Card()
    here = evaluate(BLOCKS, ARENA, store=path, workers=0)
    there = evaluate(BLOCKS, ARENA, store=path, executor=card, **THERE)  # type: ignore[arg-type]
    calls = card.calls
    assert calls > 0
    assert [one.scores["travel"] for one in there] == [float(np.float32(one.scores["travel"])) for one in here]
    assert [one.key for one in there] == [evaluation_key(b, ARENA, **THERE) for b in BLOCKS]  # type: ignore[arg-type]
    assert [one.key for one in here] == [evaluation_key(b, ARENA) for b in BLOCKS]
    with Store(path, write=False) as store:
        assert len(store) == 6
    again = dict(evaluations(BLOCKS, ARENA, store=path, executor=card, **THERE))  # type: ignore[arg-type]
    assert [again[k] for k in range(3)] == there
    assert card.calls == calls


def test_a_search_asks_a_card(tmp_path: Path) -> None:
    def found(**options: Any) -> list[dict[str, Any]]:
        method = AgeFitness(Direct(BodyPlan((2, 2, 2))), "forward", population=2, seed=1)
        return Search(method, ARENA, **options).run(2).rows()

    there = found(store=tmp_path / "s.db", executor=Card(), **THERE)
    assert there != found(workers=0)
    assert all(np.float32(row["forward"]) == row["forward"] for row in there)


@pytest.mark.parametrize(
    ("options", "value", "allowed"),
    [
        (THERE, "cuda, float32", "cpu, float64"),
        ({"dtype": "float32", "workers": 0}, "cpu, float32", "cpu, float64"),
        (THERE | {"executor": lambda: ThreadPoolExecutor(1)}, "cuda, float32", "cpu, float64"),
        ({"executor": Card()}, "cpu, float64", "cuda, float32"),
        ({"executor": Card(), "device": "cuda"}, "cuda, float64", "cuda, float32"),
    ],
)
def test_what_nobody_computes_is_refused(options: dict[str, Any], value: str, allowed: str) -> None:
    """Before anything is evaluated: nothing is stored under a key of another device."""
    message = rf"another device.*got '{value}'; allowed: {allowed}"
    with pytest.raises(InputError, match=message):
        evaluate(BLOCKS, ARENA, **options)
    with pytest.raises(InputError, match=message):
        Search(AgeFitness(Direct(BodyPlan((2, 2, 2))), "forward", population=2), ARENA, **options).run(1)


def test_an_executor_that_only_says_so_is_refused() -> None:
    def claims() -> Executor:
        return ThreadPoolExecutor(1)

    claims.device = "cuda"  # type: ignore[attr-defined]
    with pytest.raises(InputError, match="does not say how it evaluates"):
        evaluate(BLOCKS, ARENA, executor=claims, device="cuda")


def test_results_under_keys_of_another_device_are_not_stored(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    with pytest.raises(SuppleError, match="results of other evaluations"):
        evaluate(BLOCKS, ARENA, store=path, executor=Card(device="cpu"), **THERE)  # type: ignore[arg-type]
    with Store(path, write=False) as store:
        assert len(store) == 0


def test_keys_of_this_device_are_those_of_stores_that_were_written_before(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supple, "__version__", "0.1.0")
    monkeypatch.setattr(origins, "sources_hash", lambda package: f"of {package == PACKAGE}")
    assert evaluation_key(BLOCKS[0], ARENA)[:16] == "d2389036420d6792"
