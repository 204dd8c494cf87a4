"""The kernels of evaluations are compiled before the first worker starts, from lists that are true of whole trials."""

from __future__ import annotations

import os
import subprocess
import sys
from concurrent.futures import Executor, Future
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from supple.algebra.compiling.kernel import CalledKernel, Kernel
from supple.algebra.compiling.kernel_list import kernel_list_text, read_kernel_list
from supple.bodies.rigid import RigidBody
from supple.design import Arena, Design, FileArena, Object, Trial, evaluate
from supple.design.conditions import Conditions
from supple.design.population import first_compile, kernels
from supple.design.population.first_compile import compile_first, receipt_of_trial
from supple.design.population.kernels import KINDS, has_list, kernels_of, kind_of, listing
from supple.design.population.workers import SpawnedPool
from supple.design.tasks import find_task
from supple.interaction.fluid import Fluid
from supple.material.voxel import VoxelMaterial

SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01)
ARENA = Arena({1: SOFT}, 0.01, duration=0.01, amplitude=1.0, frequency=4.0)
STILL = ARENA.with_(amplitude=0.0)
BALL = RigidBody.sphere(0.01, density=500)
BLOCK = Design(np.ones((2, 1, 1)))
WORLD = """
supple = 1
[voxel_materials.soft]
young = 1e5
density = 1000
[[bodies]]
name = "robot"
kind = "voxel"
voxel_size = 0.01
box = { cells = [2, 1, 1] }
material = "soft"
[[obstacles]]
kind = "floor"
name = "floor"
[run]
until = 0.05
"""


@pytest.mark.parametrize(
    "kind", ["touching", *(pytest.param(k, marks=pytest.mark.slow) for k in KINDS if k != "touching")]
)
def test_lists_name_what_trials_call(kind: str) -> None:
    command = [sys.executable, "-m", "supple.design.population.kernels", "--print", kind]
    called = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    listed = kernel_list_text(read_kernel_list(listing(kind)))
    assert sorted(called.splitlines()) == sorted(listed.splitlines()), (
        "make it anew: python -m supple.design.population.kernels"
    )


def test_an_arena_has_the_list_of_its_kind() -> None:
    assert kind_of(ARENA) == "plain"
    assert kind_of(ARENA.with_(self_contact=True)) == "touching"
    assert kind_of(ARENA.with_(fluid=Fluid(1000.0))) == "swimming"
    assert kind_of(find_task("walk-v1")) == "task"
    assert any("advance" in one.kernel for one in kernels_of(ARENA))
    assert has_list(ARENA)
    assert has_list(find_task("walk-v1"))
    assert not has_list(STILL)  # robots whose voxels keep their sizes call other kernels


def test_scene_files_and_objects_have_no_list_but_one_that_is_near(tmp_path: Path) -> None:
    (tmp_path / "world.toml").write_text(WORLD)
    for arena in (FileArena(tmp_path / "world.toml"), ARENA.with_(objects=[Object("ball", BALL, (0.1, 0, 0.02))])):
        assert not has_list(arena)
        assert kind_of(arena) == "plain"
        assert kernels_of(arena)


def test_kernels_come_before_the_first_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    order: list[str] = []

    class Noted(SpawnedPool):
        def submit(self, *given: Any, **options: Any) -> Any:
            order.append("worker")
            return super().submit(*given, **options)

    def compiled(arena: Any, tell: Any) -> bool:
        order.append("kernels")
        return True

    def pool() -> Executor:
        return Noted(1)

    monkeypatch.setattr(first_compile, "compile_kernels_of", compiled)
    (result,) = evaluate([Design(np.ones((2, 1, 1)))], ARENA, executor=pool)
    assert result.ok
    assert order[:2] == ["kernels", "worker"]
    order.clear()
    evaluate([Design(np.ones((2, 1, 1)))], ARENA, workers=0)
    assert order == []


def test_a_disk_that_is_full_costs_time_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def full(*given: Any, **options: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(kernels, "compile_ahead", full)
    monkeypatch.setattr(kernels, "process_count", lambda: 2)
    monkeypatch.setattr(kernels, "receipt_of", lambda wanted: tmp_path / "none")
    assert not kernels.compile_kernels_of(ARENA, lambda done, name: None)


class OnePool(SpawnedPool):
    """A pool that evaluates in this process, and notes what it is given."""

    given: ClassVar[list[str]] = []

    def __init__(self, workers: int) -> None:
        pass

    def submit(self, fn: Any, /, *args: Any, **options: Any) -> Any:
        self.given.append(fn.__name__)
        future: Future[Any] = Future()
        future.set_result(fn(*args, **options))
        return future

    def end(self) -> None:
        self.given.append("end")


def test_what_has_no_list_is_tried_out_once_in_a_process_that_is_thrown_away(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "world.toml").write_text(WORLD)
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    monkeypatch.setattr(first_compile, "compile_kernels_of", lambda arena, tell: True)
    monkeypatch.setattr(first_compile, "SpawnedPool", OnePool)
    told: list[str] = []
    pool = SpawnedPool(1)
    OnePool.given.clear()
    try:
        for arena in (ARENA, FileArena(tmp_path / "world.toml"), FileArena(tmp_path / "world.toml")):
            compile_first(Conditions(arena, None), pool, [BLOCK], lambda done, name: told.append(name))
    finally:
        pool.end()
    assert OnePool.given == ["try_out", "end"]
    assert told == ["what no list names"]
    assert receipt_of_trial(Conditions(FileArena(tmp_path / "world.toml"), None)).is_file()
    assert receipt_of_trial(Conditions(ARENA, None)) != receipt_of_trial(Conditions(ARENA.with_(duration=0.02), None))


def test_where_a_design_cannot_be_tried_the_next_one_is(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SUPPLE_CACHE", str(tmp_path))
    monkeypatch.setattr(first_compile, "compile_kernels_of", lambda arena, tell: True)
    monkeypatch.setattr(first_compile, "SpawnedPool", OnePool)
    OnePool.given.clear()
    arena = ARENA.with_(objects=[Object("ball", BALL, (0.1, 0, 0.02))])
    pool = SpawnedPool(1)
    try:
        compile_first(Conditions(arena, None), pool, [Design(np.full((2, 1, 1), 9)), BLOCK], lambda done, name: None)
    finally:
        pool.end()
    assert OnePool.given == ["try_out", "end"] * 2


class DaskLike(Executor):
    """An executor as that of dask: two workers on one host, one on another."""

    def __init__(self) -> None:
        self._client = self
        self.prepared: list[str] = []

    def scheduler_info(self, n_workers: int) -> dict[str, Any]:
        assert n_workers == -1
        hosts = {"tcp://b:2": "b", "tcp://a:1": "a", "tcp://a:2": "a"}
        return {"workers": {address: {"host": host} for address, host in hosts.items()}}

    def submit(self, fn: Any, /, *args: Any, **options: Any) -> Any:
        assert fn is first_compile.prepare_host
        self.prepared += options["workers"]
        future: Future[Any] = Future()
        future.set_exception(RuntimeError("its worker died"))
        return future


def test_each_host_of_dask_is_prepared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("distributed")
    executor = DaskLike()
    monkeypatch.setattr(first_compile, "compile_kernels_of", lambda arena, tell: pytest.fail("this host has no worker"))
    compile_first(Conditions(ARENA, None), executor, [BLOCK], lambda done, name: None)
    assert executor.prepared == ["tcp://a:1", "tcp://b:2"]


def compiled_here(trial: Trial) -> float:
    """How many kernels this process has compiled and not found in the cache."""
    found = [
        k for name, module in list(sys.modules.items()) if name.startswith("supple.") for k in vars(module).values()
    ]
    forms = [form for k in found if isinstance(k, Kernel) for form in (k, k.called)]
    assert all(isinstance(form, Kernel | CalledKernel) for form in forms)
    return float(sum({id(form): sum(form.stats.cache_misses.values()) for form in forms if form.lock}.values()))


EMPTY = """
import sys
sys.path.insert(0, {here!r})
import numpy as np
from test_kernels_ahead import ARENA, BALL, STILL, Design, FileArena, Object, compiled_here, evaluate
if __name__ == "__main__":
    arena = {arena}
    designs = [Design(np.ones((2, 1, 1 + k))) for k in range(4)]
    results = evaluate(designs, arena, ("travel", "energy", compiled_here), workers=2)
    print([(one.outcome, one.scores["compiled_here"]) for one in results])
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["plain", "still", "file", "objects"])
def test_with_an_empty_cache_workers_compile_nothing(kind: str, tmp_path: Path) -> None:
    (tmp_path / "world.toml").write_text(WORLD)
    arenas = {
        "plain": "ARENA",
        "still": "STILL",
        "file": f"FileArena({str(tmp_path / 'world.toml')!r})",
        "objects": "ARENA.with_(objects=[Object('ball', BALL, (0.1, 0, 0.02))])",
    }
    script = tmp_path / "script.py"
    script.write_text(EMPTY.format(here=str(Path(__file__).parent), arena=arenas[kind]))
    environment = os.environ | {"SUPPLE_CACHE": str(tmp_path / "cache"), "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(script)], env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == str([("finished", 0.0)] * 4), done.stdout + done.stderr
