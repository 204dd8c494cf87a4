"""voxel/threads: one lattice on two threads, beside two processes of one thread each that run it at the same time.

Two processes share memory and cache, as two threads do, and never wait for each other: their summed throughput is what
two cores can do. Both sides are measured by turns, in windows of the same number of steps; the best window of each
counts. Cases: blocks of mixed materials, with and without collisions, and the sliding plates of `voxel/everything`.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from multiprocessing.connection import Connection
from time import perf_counter
from typing import NamedTuple

import numba
import numpy as np

from supple.bench.row import Row, at_least, measured, threads
from supple.bench.voxel_block import DT, PALETTE, mixed
from supple.bench.voxel_everything import sliding
from supple.bodies.voxel import Collision
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.stability.stages import ONE_STAGE, THREE_STAGES, Stages
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.geometry import VoxelGrid

CASE = "voxel/threads"
LIMIT = 0.95
WORK = 2_000_000  # voxel-steps of one window
ROUNDS = 12
G = (0.0, 0.0, -9.81)


class Lattice(NamedTuple):
    """What is measured: a sweep, its step [s], its stages of damping, and how to bring it back to its start."""

    sweep: LatticeSweep
    dt: float
    stages: Stages
    reset: Callable[[], None]

    @property
    def steps(self) -> int:
        """Steps of a window."""
        return max(10, WORK // self.sweep.model.voxel_count)

    def rate(self) -> float:
        """Voxel-steps a second of one window; a few steps before and after it are not counted."""
        few = self.steps // 8
        self.reset()
        self._advance(few)
        start = perf_counter()
        self._advance(self.steps)
        time = perf_counter() - start
        self._advance(few)
        return self.sweep.model.voxel_count * self.steps / time

    def _advance(self, steps: int) -> None:
        self.sweep.advance(self.dt, steps, gravity=G, stages=self.stages)


def block(shape: tuple[int, int, int], collision: Collision | None = None, stages: Stages = ONE_STAGE) -> Lattice:
    """A block of two materials mixed at random, held at its lowest layer along x."""
    model = VoxelModel.make(VoxelGrid(mixed(shape), 1e-3), PALETTE)
    held = np.flatnonzero(model.cells[:, 0] == 0)
    sweep = LatticeSweep.make(model, held=held, collision=collision)
    return Lattice(sweep, DT, stages, lambda: None)


def plates() -> Lattice:
    """Two plates that slide over each other and over a floor."""
    start = sliding()
    return Lattice(start.sweep, start.dt, ONE_STAGE, lambda: start.sweep.load(start.x, start.v, start.t))


LATTICES: dict[str, Callable[[], Lattice]] = {
    "20x20x10": lambda: block((20, 20, 10)),
    "20x20x10, three stages": lambda: block((20, 20, 10), stages=THREE_STAGES),
    "20x20x10 that may collide": lambda: block((20, 20, 10), Collision()),
    "40x40x20": lambda: block((40, 40, 20)),
    "40x40x20 that may collide": lambda: block((40, 40, 20), Collision()),
    "2 plates of 20x20x5 that touch": plates,
}


def serve(name: str, connection: Connection) -> None:
    """A process of its own: run one window on one thread for each message until there are no more."""
    numba.set_num_threads(1)
    lattice = LATTICES[name]()
    lattice.rate()
    connection.send(0.0)
    while connection.recv():
        connection.send(lattice.rate())


def compare(name: str, rounds: int = ROUNDS) -> tuple[float, float]:
    """Voxel-steps a second of one process on two threads, and of two on one thread each, summed."""
    context = multiprocessing.get_context("spawn")
    pipes = [context.Pipe() for _ in range(2)]
    others = [context.Process(target=serve, args=(name, theirs), daemon=True) for _, theirs in pipes]
    for process in others:
        process.start()
    lattice = LATTICES[name]()
    lattice.rate()
    for mine, _ in pipes:
        mine.recv()
    together, apart = [], []
    for _ in range(rounds):
        together.append(lattice.rate())
        for mine, _ in pipes:
            mine.send(True)
        apart.append(sum(mine.recv() for mine, _ in pipes))
    for (mine, _), process in zip(pipes, others):
        mine.send(False)
        process.join()
    return max(together), max(apart)


def two_threads() -> list[Row]:
    """Two threads over two processes side by side, for each lattice."""
    if numba.get_num_threads() < 2:
        return []
    rows = []
    with threads(2):
        for name in LATTICES:
            together, apart = compare(name)
            rows.append(
                at_least(CASE, f"speed_up over two processes / 2, {name}", together / apart, LIMIT, unit="-", threads=2)
            )
            rows.append(measured(CASE, f"rate, {name}", together, unit="voxel-steps/s", threads=2))
    return rows


CASES = {CASE: two_threads}
