"""voxel/everything: a scene with gravity, a floor, friction, actuation and collisions, all at once.

Two soft plates of 20x20x5 voxels of 1 cm, of two materials mixed at random, lie upon each other and slide over a
floor, while a wave of swelling runs through them. The upper one has fallen on the lower one before, so that they touch
over their faces, and the lists of pairs have to be made anew as they travel.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from time import perf_counter
from typing import NamedTuple

import numpy as np
from scipy.spatial import cKDTree

from supple.bench.row import Row, at_least, at_most, measured, threads
from supple.bench.voxel_block import MUSCLES, mixed
from supple.bodies.voxel import Actuation, Collision, VoxelBody
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.geometry import VoxelGrid
from supple.interaction.obstacles import Plane

Array = np.ndarray
CASE = "voxel/everything"
G = (0.0, 0.0, -9.81)
SPEED = 0.4  # [m/s]
SOFT = [
    replace(material, young=0.1 * material.young, static_friction=0.3, kinetic_friction=0.2) for material in MUSCLES
]
STEPS = 400  # of one measurement
REPEATS = 12


class Sliding(NamedTuple):
    """The plates where they are measured: body, sweep, frames x (n, 7), velocities v (n, 6), time [s], step [s]."""

    body: VoxelBody
    sweep: LatticeSweep
    x: Array
    v: Array
    t: float
    dt: float


def plates() -> VoxelBody:
    """Two plates with a layer of empty cells between them."""
    numbers = mixed((20, 20, 11))
    numbers[:, :, 5] = 0
    grid = VoxelGrid(numbers, 0.01)
    return VoxelBody(grid, SOFT, actuation=Actuation(1.0, 5.0, grid.voxels[:, 0] / 20))


@cache
def sliding() -> Sliding:
    """The plates after the upper one has fallen on the lower one and both have started to slide."""
    body = plates()
    n, l = body.model.voxel_count, body.grid.voxel_size
    collision = Collision()
    dt = body.stable_step(contact=True, collision=collision, staged=False)
    sweep = LatticeSweep.make(body.model, planes=[Plane()], swing=body.swing, collision=collision)
    x, v = body.model.rest_frames.copy(), np.zeros((n, 6))
    upper = body.grid.voxels[:, 2] > 5
    x[upper, 2] -= 0.95 * l
    sweep.load(x, v)
    sweep.advance(dt, int(0.5 / dt), gravity=G)
    sweep.save(x, v)
    v[:, 0] += SPEED
    sweep.load(x, v, sweep.t)
    sweep.advance(dt, 200, gravity=G)
    sweep.save(x, v)
    return Sliding(body, sweep, x, v, sweep.t, dt)


def touching_part(body: VoxelBody, x: Array, t: float) -> float:
    """Part of the surface voxels that touch one of the other plate: found here from positions and sizes alone."""
    assert body.swing is not None
    size = body.swing.sizes(t)
    upper = body.grid.voxels[:, 2] > 5
    low, high = np.flatnonzero(~upper), np.flatnonzero(upper)
    found = cKDTree(x[low, :3]).query_ball_tree(cKDTree(x[high, :3]), float(size.max()))
    touched: set[int] = set()
    for i, near in zip(low, found):
        for j in high[near]:
            if np.linalg.norm(x[i, :3] - x[j, :3]) < 0.5 * (size[i] + size[j]):
                touched |= {int(i), int(j)}
    links = np.bincount(body.model.link_voxels.ravel(), minlength=body.model.voxel_count)
    return len(touched) / int(np.count_nonzero(links < 6))


def everything() -> list[Row]:
    """The rate, and how much there was to do."""
    with threads(1):
        body, sweep, x, v, t, dt = sliding()
        times, lists, parts = [], [], []
        end = np.empty_like(x)
        for _ in range(REPEATS):
            sweep.load(x, v, t)
            start = perf_counter()
            sweep.advance(dt, STEPS, gravity=G)
            times.append(perf_counter() - start)
            lists.append(sweep.lists_made)
        sweep.save(end, np.empty_like(v))
        parts = [touching_part(body, x, t), touching_part(body, end, sweep.t)]
    rate = body.model.voxel_count * STEPS / min(times)
    return [
        at_least(CASE, "rate, 2 plates of 20x20x5", rate, 11e6, unit="voxel-steps/s", threads=1),
        at_least(CASE, "surface voxels that touch", 100 * min(parts), 5.0, unit="%", threads=1),
        at_most(CASE, "steps a list of pairs lasts", STEPS / min(lists), 200.0, unit="steps", threads=1),
        measured(CASE, "pairs that touch", sweep.touching, unit="-", threads=1),
    ]


CASES = {CASE: everything}
