"""Before the first worker: kernels are compiled by one process a core, and those that no list names by a trial in a
process of its own, so that workers find all of them in the cache.

    arenas with a list     `population/kernels`: all kernels of whole trials, compiled on all cores
    other arenas           the list of what is nearest, then one whole trial in a process that is thrown away
    dask                   both on one worker of each host, since each host has a cache of its own
    threads                the lists alone: a design may kill the process that it is tried in

A trial leaves a receipt in the cache, named after the arena, the sources and the processor: it is made once.
"""

from __future__ import annotations

import sys
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm

from supple.algebra.compiling.ahead import Tell, can_keep
from supple.algebra.compiling.compiled import cache_root
from supple.design.conditions import Conditions
from supple.design.content import content_key
from supple.design.designs import Design
from supple.design.origin import origin
from supple.design.population.kernels import compile_kernels_of, has_list
from supple.design.population.workers import SpawnedPool, try_out, warm_up

TRIAL_TIME = 60.0
"""Wall time after which a trial that is made for its kernels is given up [s]; compiling comes on top."""


def compile_first(conditions: Conditions, executor: Executor, designs: list[Design], tell: Tell) -> None:
    """Bring the kernels of evaluations into the caches of all hosts that an executor's workers are on."""
    places = first_of_hosts(executor)
    if places:
        _prepare_hosts(conditions, places, executor, designs)
        return
    compile_kernels_of(conditions.arena, tell)
    if _is_spawned(executor) and not has_list(conditions.arena):
        _try_out_once(conditions, designs, tell)


def first_of_hosts(executor: Executor) -> list[str]:
    """Of each host of a dask client the address of one worker; none for other executors."""
    client: Any = getattr(executor, "_client", None)
    if "distributed" not in sys.modules or not hasattr(client, "scheduler_info"):
        return []
    found: dict[str, str] = {}
    workers = client.scheduler_info(n_workers=-1)["workers"]
    for address in sorted(workers):
        found.setdefault(workers[address]["host"], address)
    return list(found.values())


def prepare_host(conditions: Conditions, designs: list[Design]) -> bool:
    """Compile what evaluations call, on the host of a worker, for all of its workers."""
    compile_kernels_of(conditions.arena, lambda done, name: None)
    return any(warm_up(conditions, design) for design in designs)


def _prepare_hosts(conditions: Conditions, places: list[str], executor: Executor, designs: list[Design]) -> None:
    client: Any = executor._client  # type: ignore[attr-defined]
    futures = [client.submit(prepare_host, conditions, designs, workers=[place], pure=False) for place in places]
    for future in futures:
        with suppress(Exception):  # a design may kill the worker; evaluations will say what is wrong
            future.result()


def _is_spawned(executor: Executor) -> bool:
    context = getattr(executor, "_mp_context", None)
    return isinstance(executor, ProcessPoolExecutor) and getattr(context, "_name", "") == "spawn"


def _try_out_once(conditions: Conditions, designs: list[Design], tell: Tell) -> None:
    """Make a trial of the first design that can be tried, unless that was done before."""
    receipt = receipt_of_trial(conditions)
    if receipt.is_file() or not can_keep():
        return
    tell(0, "what no list names")
    for design in designs:
        pool = SpawnedPool(1)
        try:
            if pool.submit(try_out, conditions, design, TRIAL_TIME).result():
                with suppress(OSError):
                    receipt.parent.mkdir(parents=True, exist_ok=True)
                    receipt.touch()
                return
        except Exception:  # it died, or cannot be sent: evaluations will say what is wrong
            continue
        finally:
            pool.end()


def receipt_of_trial(conditions: Conditions) -> Path:
    """The file that says that a trial was made in an arena, for the kernels."""
    key = content_key(conditions.arena.key(), *origin(), sys.version, llvm.get_host_cpu_name())
    return cache_root() / "kernels" / f"{key[:16]}.tried"
