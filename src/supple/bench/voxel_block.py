"""voxel/block, floor, time, scaling, step: voxel-steps a second of the fused sweep, its memory, how the cost grows.

The block has 20x20x10 voxels of two materials mixed at random, one end layer held, gravity, bond and ground damping.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numba
import numpy as np

from supple.bench.row import Row, at_least, at_most, best_of, measured, threads
from supple.bodies.voxel import Actuation, VoxelBody
from supple.bodies.voxel.actuation import Swing
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.stability.stable_step import find_step
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Plane
from supple.material.voxel import VoxelMaterial
from supple.validation.voxel.scaling import rates

CASE = "voxel/block"
FLOOR = "voxel/floor"
FIELDS = "voxel/fields"
TIME = "voxel/time"
SCALING = "voxel/scaling"
STEP = "voxel/step"
PALETTE = [
    VoxelMaterial(young=1e6, density=1000, poisson=0.3, bond_damping=0.3, ground_damping=0.001, name="stiff"),
    VoxelMaterial(young=5e5, density=1000, poisson=0.3, bond_damping=0.3, ground_damping=0.001, name="soft"),
]
MUSCLES = [replace(material, expansion=0.005) for material in PALETTE]
DT = 4e-6  # [s], a tenth of sqrt(m / (E l))
WORK = 800_000  # voxel-steps of one measurement


def ready(numbers: np.ndarray, dtype: Any) -> LatticeSweep:
    """A body of voxels of 1 mm, held at its lowest layer along x."""
    model = VoxelModel.make(VoxelGrid(numbers, 1e-3), PALETTE)
    return LatticeSweep.make(model, held=np.flatnonzero(model.cells[:, 0] == 0), dtype=dtype)


def mixed(shape: tuple[int, int, int]) -> np.ndarray:
    """Two materials at random."""
    return np.random.default_rng(0).integers(1, 3, shape)


def rate(sweep: LatticeSweep, repeats: int = 15) -> float:
    """Voxel-steps a second."""
    count = max(2, WORK // sweep.model.voxel_count)
    time = best_of(repeats, lambda: sweep.advance(DT, count, gravity=(0, 0, -9.81)))
    return sweep.model.voxel_count * count / time


def rate_row(case: str, what: str, value: float, limit: float, *, dtype: str, thread_count: int) -> Row:
    """A row for a rate."""
    row = at_least(case, f"rate, {what}", value, limit, unit="voxel-steps/s", threads=thread_count)
    return row._replace(dtype=dtype)


def block() -> list[Row]:
    """The block in double on one thread and two, in single, and against a million voxels."""
    rows = []
    with threads(1):
        double, single = ready(mixed((20, 20, 10)), np.float64), ready(mixed((20, 20, 10)), np.float32)
        small = rate(double)
        rows.append(rate_row(CASE, "20x20x10", small, 18e6, dtype="float64", thread_count=1))
        rows.append(rate_row(CASE, "20x20x10", rate(single), 34e6, dtype="float32", thread_count=1))
    if numba.get_num_threads() >= 2:
        with threads(2):
            rows.append(rate_row(CASE, "20x20x10", rate(double), 30e6, dtype="float64", thread_count=2))
    memory = double.bytes_per_voxel
    rows.append(at_most(CASE, "bytes_per_voxel, 20x20x10", memory, 400.0, unit="B", threads=1))
    with threads(1):
        large = rate(ready(mixed((100, 100, 100)), np.float64))
    rows.append(at_most(CASE, "cost a voxel, 1e6 over 4000 voxels", small / large, 1.6, unit="-", threads=1))
    return rows


def real_time() -> list[Row]:
    """Simulated seconds a second of the block, at the source's step [HL12, eq. 31] and at the largest stable one."""
    body = VoxelBody(VoxelGrid(mixed((20, 20, 10)), 1e-3), PALETTE)
    model = body.model
    with threads(1):
        steps = rate(ready(mixed((20, 20, 10)), np.float64)) / model.voxel_count
    source = float(1 / (2 * np.pi * np.sqrt((model.values("young") * model.size / model.mass).max())))
    ours = body.stable_step(held=np.flatnonzero(body.grid.voxels[:, 0] == 0), staged=False)
    return [
        measured(TIME, f"simulated, steps of {dt:.3g} s: {what}", steps * dt, unit="s/s", threads=1)
        for what, dt in (("1/(2 pi w0)", source), ("stable_step", ours))
    ]


def floor() -> list[Row]:
    """The block lying on a floor with friction, its voxels swinging in size."""
    model = VoxelModel.make(VoxelGrid(mixed((20, 20, 10)), 1e-3), MUSCLES)
    swing = Swing.of(model, Actuation(10.0, 5.0, np.random.default_rng(1).uniform(size=model.voxel_count)))
    with threads(1):
        sweep = LatticeSweep.make(model, planes=[Plane()], swing=swing)
        value = rate(sweep)
    return [rate_row(FLOOR, "20x20x10, friction, actuation", value, 15e6, dtype="float64", thread_count=1)]


def fields() -> list[Row]:
    """A block whose voxels all differ in stiffness and density over a block of one material, and with other laws."""
    shape = (20, 20, 10)
    rng = np.random.default_rng(2)
    grid, one = VoxelGrid(np.ones(shape, dtype=int), 1e-3), replace(PALETTE[0], poisson=0.0)
    uniform = LatticeSweep.make(VoxelModel.make(grid, one))
    young, density = rng.uniform(5e5, 1e6, shape), rng.uniform(900, 1100, shape)
    varied = LatticeSweep.make(VoxelModel.make(grid, one, young=young, density=density))
    plastic = LatticeSweep.make(VoxelModel.make(grid, replace(one, yield_stress=1e5, plastic_modulus=1e5)))
    coupled = LatticeSweep.make(VoxelModel.make(grid, replace(one, poisson=0.3), transverse=True))
    with threads(1):
        rounds = [[rate(sweep, 4) for sweep in (uniform, varied, plastic, coupled)] for _ in range(4)]
    plain, field, yielding, transverse = np.max(rounds, axis=0)
    return [
        at_most(FIELDS, "cost, fields of stiffness and density over none", plain / field, 1.1, unit="-", threads=1),
        measured(FIELDS, "rate, links that may yield", yielding, unit="voxel-steps/s", threads=1),
        measured(FIELDS, "rate, strains coupled across axes", transverse, unit="voxel-steps/s", threads=1),
    ]


def scaling() -> list[Row]:
    """Speed per voxel of solid bodies of growing size, as [HL12, figure 6]."""
    return [
        measured(SCALING, f"rate, {'x'.join(map(str, shape))}", value, unit="voxel-steps/s", threads=1)
        for shape, value in rates().items()
    ]


def step() -> list[Row]:
    """The search for the largest stable step, at strong damping."""
    rows = []
    for shape, limit in (((20, 20, 10), None), ((100, 100, 100), 2.0)):
        palette = [replace(material, bond_damping=1.0) for material in PALETTE]
        model = VoxelModel.make(VoxelGrid(mixed(shape), 1e-3), palette)
        with threads(1):
            find_step(model)
            time, name = best_of(3, partial(find_step, model)), f"search, {'x'.join(map(str, shape))}"
        rows.append(
            measured(STEP, name, time, unit="s", threads=1)
            if limit is None
            else at_most(STEP, name, time, limit, unit="s", threads=1)
        )
    return rows


CASES = {CASE: block, FIELDS: fields, FLOOR: floor, SCALING: scaling, STEP: step, TIME: real_time}
