"""Workers die: every design has its result all the same, none twice, and the one that kills is told from the others."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from pathlib import Path
from typing import Any

import dask
import numpy as np
import pytest
from distributed import Client, LocalCluster

from supple.design import Arena, Design, Store, evaluate, evaluations, try_design
from supple.errors import SuppleError
from supple.material.voxel import VoxelMaterial

SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
ARENA = Arena({1: SOFT}, 0.01, duration=0.02, amplitude=20.0, frequency=10.0, controller="hazards:deadly")
NAMES = ("travel", "height")
QUIET = {"distributed.logging.distributed": "critical", "distributed.scheduler.allowed-failures": 1}
Factory = Callable[[], Executor]


@pytest.fixture(scope="module", autouse=True)
def _importable() -> Iterator[None]:
    """Workers find `hazards`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(Path(__file__).parent)
        yield


@pytest.fixture(scope="module")
def client(_importable: None) -> Iterator[Client]:
    """A client of two worker processes on this machine."""
    with dask.config.set(QUIET):
        local = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
        with local, Client(local) as client:
            yield client


@pytest.fixture(params=["ours", *(pytest.param(name, marks=pytest.mark.slow) for name in ("foreign", "dask"))])
def factory(request: pytest.FixtureRequest) -> Factory | None:
    """What makes an executor of two workers; None: our own."""
    if request.param == "foreign":
        return foreign_pool
    if request.param == "dask":
        client = request.getfixturevalue("client")
        return lambda: client.get_executor()
    return None


def foreign_pool() -> Executor:
    """A pool that knows nothing of us."""
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


def walkers(count: int) -> list[Design]:
    """Robots with phases of their own."""
    rng = np.random.default_rng(1)
    return [Design(np.ones((2, 2, 1)), {"phase": rng.uniform(size=(2, 2, 1))}) for _ in range(count)]


def killer(**controller: Any) -> Design:
    """A robot that kills its process."""
    return Design(np.ones((2, 1, 1)), {}, controller)


def test_results_are_those_alone_and_the_killer_is_found(factory: Factory | None) -> None:
    designs = walkers(8)
    alone = [try_design(design, ARENA, NAMES) for design in designs]
    mixed = [*designs[:3], killer(), *designs[3:]]
    results = evaluate(mixed, ARENA, NAMES, executor=factory, workers=2)
    assert [*results[:3], *results[4:]] == alone
    assert (results[3].outcome, results[3].scores) == ("crashed", {"travel": -1e9, "height": -1e9})
    assert "died" in results[3].message


@pytest.mark.slow
def test_a_killer_among_several_of_a_batch_is_found() -> None:
    designs = [*walkers(5), killer(), killer(twice=True)]
    results = evaluate(designs, ARENA, workers=2, batch=3)
    assert [result.outcome for result in results] == ["finished"] * 5 + ["crashed"] * 2


def test_a_process_that_died_once_is_nobodys_fault(tmp_path: Path) -> None:
    results = evaluate([killer(once=str(tmp_path / "died")), *walkers(3)], ARENA, workers=2)
    assert all(result.ok for result in results)
    assert (tmp_path / "died").exists()


@pytest.mark.slow
def test_a_measure_that_never_returns_ends_with_its_process(capfd: pytest.CaptureFixture[str]) -> None:
    results = evaluate(walkers(2), ARENA, ("travel", "hazards:endless"), workers=1, time_limit=2.0)
    assert [result.outcome for result in results] == ["crashed"] * 2
    assert "longer than its time limit" in results[0].message
    assert "Timeout" not in capfd.readouterr().err  # no stacks of each process


def kill_one_on_the_way(designs: list[Design], path: Path, pids: Callable[[], list[int]], **options: Any) -> None:
    """Evaluate, kill a worker after a tenth and after a third; every design has one result, that of one alone."""
    arena = ARENA.with_(duration=0.01)
    places, killed = {len(designs) // 10, len(designs) // 3}, 0
    found = {}
    for count, (index, result) in enumerate(evaluations(designs, arena, store=path, **options)):
        assert index not in found
        found[index] = result
        if count in places:
            os.kill(pids()[0], signal.SIGKILL)
            killed += 1
    assert killed == 2
    assert sorted(found) == list(range(len(designs)))
    assert all(result.ok for result in found.values())
    with Store(path, write=False) as store:
        assert sorted(store.results(), key=lambda r: r.key) == sorted(found.values(), key=lambda r: r.key)
    for index in (0, len(designs) // 3, len(designs) - 1):
        assert found[index] == try_design(designs[index], arena)


def children() -> list[int]:
    """Processes of a pool of this one."""
    return [child.pid for child in multiprocessing.active_children() if child.pid and "Spawn" in child.name]


@pytest.mark.slow
@pytest.mark.parametrize("count", [40, 500])
def test_worker_of_a_pool_killed(count: int, tmp_path: Path) -> None:
    kill_one_on_the_way(walkers(count), tmp_path / "s.db", children, workers=2)


@pytest.mark.parametrize("count", [40, pytest.param(500, marks=pytest.mark.slow)])
def test_worker_of_dask_killed(count: int, tmp_path: Path, client: Client) -> None:
    def pids() -> list[int]:
        return list(client.run(os.getpid, on_error="ignore").values())  # the one that was killed may not answer

    kill_one_on_the_way(walkers(count), tmp_path / "s.db", pids, executor=lambda: client.get_executor())


def test_an_executor_that_cannot_take_the_work_is_told() -> None:
    def local_arena() -> Any:
        class Odd(Arena):
            """A class that no other process can import."""

        return Odd(dict(ARENA.materials), 0.01, duration=0.01)

    with pytest.raises(SuppleError, match="another process can import or unpickle"):
        evaluate(walkers(2), local_arena(), workers=2)
