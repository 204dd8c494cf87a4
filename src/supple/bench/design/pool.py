"""design/pool: a population on two workers beside one, and on one worker beside this process alone.

Robots of 500 voxels that walk for 10,000 small steps, with contact between their own voxels. All three are measured by
turns, with workers that have started and have evaluated before; the best turn of each counts. The overhead is the part
of the time that a worker takes longer than this process, which calls `try_design` in a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from supple.bench.row import Row, at_least, at_most, measured
from supple.design import Arena, Design, Evaluator, try_design
from supple.design.population.workers import available_cores
from supple.material.voxel import VoxelMaterial

CASE = "design/pool"
SHAPE = (10, 10, 5)
STRIDES = 556
"""Of the solver's 1/300 s, with 18 small steps each at rest: 10,008 in all."""
DESIGNS, ROUNDS = 12, 3
SPEED_UP, OVERHEAD = 1.8, 0.05
DAY = 86400.0  # [s]
SOFT = VoxelMaterial(young=1e5, density=1000.0, expansion=0.01, bond_damping=0.1)
SETTLE = 0.1  # [s]
ARENA = Arena(
    {1: SOFT}, 0.01, duration=STRIDES / 300 - SETTLE, settle=SETTLE, amplitude=15.0, frequency=4.0, self_contact=True
)


def walkers(count: int) -> list[Design]:
    """Blocks with waves of different lengths running through them."""
    places = np.indices(SHAPE) / 10.0
    waves = np.random.default_rng(0).uniform(0.2, 1.5, (count, 3))
    return [Design(np.ones(SHAPE), {"phase": np.tensordot(wave, places, 1)}) for wave in waves]


def time_of(work: Callable[[], object]) -> float:
    """Wall time of a call [s]."""
    begun = perf_counter()
    work()
    return perf_counter() - begun


def best_times(designs: list[Design], rounds: int = ROUNDS) -> tuple[float, float, float]:
    """The shortest times [s] of a population: in this process, by one worker, by two."""

    def here() -> None:
        for design in designs:
            try_design(design, ARENA)

    with Evaluator(ARENA, workers=1) as one, Evaluator(ARENA, workers=2) as two:
        ways = (here, lambda: one.evaluate(designs), lambda: two.evaluate(designs))
        try_design(designs[0], ARENA)
        for evaluator in (one, two):
            evaluator.evaluate(designs[:4])
        times = [[time_of(way) for way in ways] for _ in range(rounds)]
    return tuple(min(column) for column in zip(*times))  # type: ignore[return-value]


def pool() -> list[Row]:
    """Speed of two workers over one, overhead of a worker, designs a day."""
    if available_cores() < 2:
        return []
    designs = walkers(DESIGNS)
    here, one, two = best_times(designs)
    robots = "500 voxels, 10,000 steps"
    return [
        at_least(CASE, f"speed_up of two workers, {robots}", one / two, SPEED_UP, unit="-", threads=2),
        at_most(CASE, f"overhead of a worker, {robots}", one / here - 1, OVERHEAD, unit="-", threads=1),
        measured(CASE, f"rate, {robots}", DAY * DESIGNS / two, unit="designs/day", threads=2),
    ]


CASES = {CASE: pool}
