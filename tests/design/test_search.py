"""Searches: told in the order of asking, better than chance, the same again from the same seed and the same store."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.design import Arena, Design, Result, Store, Trial, measures_of
from supple.design.encodings import BodyPlan, Direct, Patterns, Waves
from supple.design.measures import Measure
from supple.design.search import (
    AgeFitness,
    Candidate,
    CmaEs,
    CmaMe,
    Descriptor,
    Found,
    MapElites,
    Method,
    Nsga2,
    RandomSearch,
    Search,
)
from supple.design.search.age_fitness import pareto_levels
from supple.design.search.method_protocol import seed_of
from supple.errors import InputError, MissingExtraError, RecordError
from supple.material.voxel import VoxelMaterial

PLAN = BodyPlan((3, 3, 3))
ARENA = Arena(
    {1: VoxelMaterial(1e5, 1000, expansion=0.01)}, 0.01, duration=0.05, amplitude=5.0, frequency=20.0, obstacles=()
)


def unused(trial: Trial) -> float:
    raise AssertionError("these results are made by hand")


COUNT = Measure("count", "cells", unused)
PHASE = Measure("phase", "periods", unused)
LOSS = Measure("loss", "-", unused, "less")
AXES = [Descriptor(PHASE, 0.0, 1.0, 5)]
METHODS: dict[str, Callable[[int], Method]] = {
    "random": lambda seed: RandomSearch(Direct(PLAN), COUNT, population=6, seed=seed),
    "age-fitness": lambda seed: AgeFitness(Direct(PLAN), COUNT, population=6, seed=seed, crossing=0.3),
    "cma-es": lambda seed: CmaEs(Waves(PLAN), LOSS, population=8, seed=seed),
    "map-elites": lambda seed: MapElites(Patterns(PLAN), COUNT, AXES, population=6, seed=seed, crossing=0.3),
    "cma-me": lambda seed: CmaMe(Waves(PLAN), LOSS, AXES, population=6, seed=seed),
    "nsga2": lambda seed: Nsga2(Direct(PLAN), (COUNT, PHASE), population=6, seed=seed),
    "nsga2 of vectors": lambda seed: Nsga2(Waves(PLAN), (LOSS, PHASE), population=6, seed=seed),
}


def judged(design: Design, *, fails: bool = False) -> Result:
    """Scores by hand: cells, mean phase, and how far the phases are from a slope along x."""
    phase = design.fields["phase"]
    slope = 0.2 + 0.2 * np.arange(3)[:, None, None]
    scores = {"count": design.voxel_count, "phase": float(phase[design.cells > 0].mean())}
    scores["loss"] = float(np.abs(phase - slope)[design.cells > 0].mean())
    worst = {"count": -1e9, "phase": -1e9, "loss": 1e9}
    return Result(design.key(), design.key(), "diverged" if fails else "finished", worst if fails else scores)


def advance(method: Method, generations: int, *, fail_every: int = 0) -> list[Candidate]:
    told: list[Candidate] = []
    for _ in range(generations):
        designs = method.ask()
        told += method.tell([judged(d, fails=bool(fail_every) and k % fail_every == 0) for k, d in enumerate(designs)])
    return told


def trace(candidates: list[Candidate]) -> list[tuple[int, str]]:
    return [(one.number, one.design.key()) for one in candidates]


@pytest.mark.parametrize("name", METHODS)
def test_a_seed_repeats_and_another_does_not(name: str) -> None:
    """Seed 0 too; draws from numpy's shared generator in between change nothing."""
    runs = []
    for seed in (0, 0, 1):
        method = METHODS[name](seed)
        first = advance(method, 3)
        np.random.random(7)
        runs.append((trace(first + advance(method, 3)), trace(method.kept())))
    assert runs[0] == runs[1]
    assert runs[0] != runs[2]
    assert [number for number, _ in runs[0][0]] == list(range(len(runs[0][0])))


@pytest.mark.parametrize("name", METHODS)
def test_designs_that_fail_are_taken(name: str) -> None:
    """Generations in which some or all fail do not stop a search, and none that failed is an elite."""
    method = METHODS[name](3)
    advance(method, 2, fail_every=1)
    advance(method, 4, fail_every=2)
    assert method.kept()
    if name in ("map-elites", "cma-me"):
        assert all(one.result.ok for one in method.kept())


def test_age_fitness_fills_the_body() -> None:
    """The most cells win: 27 are found by mutation, random bodies have 18 or 19."""
    method = AgeFitness(Direct(PLAN), COUNT, population=8, seed=1)
    told = advance(method, 80)
    assert max(one.result.scores["count"] for one in told[:8]) < 20
    assert method.kept()[0].result.scores["count"] == 27
    ages = [one.age for one in method.members]
    assert 0 in ages, "a newcomer is not dominated, as nobody is as young"
    assert max(ages) > 3


def test_dominated_designs_leave_first() -> None:
    criteria = np.random.default_rng(0).integers(0, 4, (30, 2)).astype(float)
    levels = pareto_levels(criteria)
    for k, row in enumerate(criteria):
        above = [j for j, other in enumerate(criteria) if (other >= row).all() and (other > row).any()]
        assert levels[k] == max((levels[j] + 1 for j in above), default=0)


def test_cma_finds_a_slope_of_phases() -> None:
    method = CmaEs(Waves(PLAN), LOSS, population=12, seed=0, step=0.1)
    told = advance(method, 60)
    assert min(one.result.scores["loss"] for one in told[:12]) > 0.05
    assert method.kept()[0].result.scores["loss"] < 0.02


def test_elites_are_the_best_of_their_cells() -> None:
    method = MapElites(Direct(PLAN), COUNT, AXES, population=10, seed=2)
    told = advance(method, 15)
    best: dict[int, float] = {}
    for one in told:
        cell = int(np.clip(np.floor(one.result.scores["phase"] * 5), 0, 4))
        best[cell] = max(best.get(cell, 0.0), one.result.scores["count"])
    assert [one.result.scores["count"] for one in method.kept()] == [best[cell] for cell in sorted(best)]


def test_a_front_has_no_design_that_another_beats() -> None:
    method = Nsga2(Direct(PLAN), (COUNT, LOSS), population=12, seed=4)
    advance(method, 10)
    points = {(one.result.scores["count"], -one.result.scores["loss"]) for one in method.kept()}
    assert len(points) > 1
    assert not any(a != b and a[0] >= b[0] and a[1] >= b[1] for a in points for b in points)


def searched(path: Path | None, generations: int = 4, **options: Any) -> Found:
    method = AgeFitness(Direct(PLAN), "forward", population=4, seed=5)
    return Search(method, ARENA, ("energy",), store=path, **{"workers": 0} | options).run(generations)


def same(one: Found, two: Found) -> bool:
    return (one.history, one.rows(), trace(list(one.best))) == (two.history, two.rows(), trace(list(two.best)))


def nobody() -> Any:
    raise AssertionError("nothing is to be evaluated")


def test_a_search_is_replayed_from_its_store_without_an_evaluation(tmp_path: Path) -> None:
    first = searched(tmp_path / "s.db")
    again = searched(tmp_path / "s.db", executor=nobody, workers=None)
    assert same(first, again)
    assert same(first, searched(None))
    assert first.history[-1].record == max(one.result.scores["forward"] for one in first.best)
    assert len({one.design.key() for one in first.best}) == len(first.best) > 4
    assert set(first.best[0].result.scores) == {"forward", "energy"}


def test_a_search_that_was_killed_ends_the_same(tmp_path: Path) -> None:
    """SIGKILL in the middle of a generation; then the same search again, with the same store."""
    path = tmp_path / "s.db"
    code = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    code += f"from pathlib import Path\nfrom test_search import searched\nsearched(Path({str(path)!r}), 500)\n"
    process = subprocess.Popen([sys.executable, "-c", code])
    try:
        while not (path.exists() and _count(path) > 6):
            assert process.poll() is None
            time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
    assert 6 < _count(path) < 2000
    assert same(searched(path, 6), searched(None, 6))


def _count(path: Path) -> int:
    try:
        with Store(path, write=False) as store:
            return len(store)
    except RecordError:  # it is being made
        return 0


def test_two_searches_do_not_share_a_store(tmp_path: Path) -> None:
    with Store(tmp_path / "s.db"), pytest.raises(RecordError, match="another run"):
        searched(tmp_path / "s.db")


def test_the_order_of_asking_is_kept_to() -> None:
    method = METHODS["age-fitness"](1)
    with pytest.raises(InputError, match="before a generation was asked"):
        method.tell([])
    designs = method.ask()
    with pytest.raises(InputError, match="asked twice"):
        method.ask()
    with pytest.raises(InputError, match="not those of the designs"):
        method.tell([judged(design) for design in designs[::-1]])
    method.tell([judged(design) for design in designs])


def test_seeds_of_libraries_are_never_zero() -> None:
    seeds = {seed_of(seed, name) for seed in range(50) for name in ("cma", "pymoo")}
    assert len(seeds) == 100
    assert min(seeds) > 0
    with pytest.raises(InputError, match="seed"):
        seed_of(-1, "cma")


BAD: dict[str, Callable[[], Any]] = {
    "not vectors": lambda: CmaEs(Direct(PLAN), LOSS),
    "improves one measure": lambda: CmaEs(Waves(PLAN), (LOSS, COUNT)),
    "population": lambda: AgeFitness(Direct(PLAN), COUNT, population=1),
    "share the population": lambda: CmaMe(Waves(PLAN), LOSS, AXES, population=5),
    "high of a descriptor": lambda: MapElites(Direct(PLAN), COUNT, [Descriptor(PHASE, 1.0, 1.0, 5)]),
    "beside the objective": lambda: MapElites(Direct(PLAN), COUNT, [Descriptor(COUNT, 0.0, 1.0, 5)]),
    "no measure of that name": lambda: AgeFitness(Direct(PLAN), "travle"),
    "not a genome": lambda: CmaEs(Waves(PLAN), LOSS, start=[0.0]),
    "generations": lambda: Search(METHODS["random"](0), ARENA).run(0),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_refused(what: str) -> None:
    with pytest.raises(InputError, match=what):
        BAD[what]()


@pytest.mark.parametrize(("library", "name"), [("cma", "cma-es"), ("ribs", "map-elites"), ("pymoo", "nsga2")])
def test_a_missing_library_is_named(library: str, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in [m for m in sys.modules if m.split(".")[0] == library]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(MissingExtraError, match=r"supple\[design\]"):
        METHODS[name](0)


def nothing_finite(trial: Trial) -> float:
    return float("nan")


def test_a_measure_that_is_not_a_number_is_a_failed_design() -> None:
    """cma would take NaN silently and ribs refuses it: methods are told the worst finite score."""
    method = CmaEs(Waves(PLAN), nothing_finite, population=4, seed=0)
    found = Search(method, ARENA, workers=0).run(2)
    assert [row.failed for row in found.history] == [4, 4]
    assert found.best == ()
    assert found.history[-1].record is None
    assert {one.result.scores["nothing_finite"] for one in found.archive} == {measures_of(nothing_finite)[0].worst}
