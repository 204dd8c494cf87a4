"""The kernels of evaluations are compiled before the first worker starts, from lists that are true of whole trials."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from supple.algebra.compiling.kernel_list import kernel_list_text, read_kernel_list
from supple.design import Arena, Design, evaluate
from supple.design.population import dispatch, kernels
from supple.design.population.kernels import KINDS, kernels_of, kind_of, listing
from supple.design.population.workers import SpawnedPool
from supple.design.tasks import find_task
from supple.interaction.fluid import Fluid
from supple.material.voxel import VoxelMaterial

ARENA = Arena({1: VoxelMaterial(young=1e5, density=1000.0)}, 0.01, duration=0.01)


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

    monkeypatch.setattr(dispatch, "compile_kernels_of", compiled)
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
