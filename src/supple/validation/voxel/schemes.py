"""voxel/schemes: the four ways to list colliding pairs of [HL12, table 3], on the source's clapper, give one motion.

A U of 600 voxels of 1 mm: two arms of 2x6x20, a base of 2x6x10 between them, held. Each arm has two layers; one swells
while the other shrinks, by 0.02 x 30 = 60 %, at the arms' first resonance. The horizon is two voxel sizes; the largest
voxels grow to 1.6, so a list lasts for a fifth of a voxel size of motion. At 60 % the arms curl up and beat the base
and each other. `supple bench voxel/collision` times the four.
"""

from __future__ import annotations

from functools import cache
from itertools import product
from typing import Literal, NamedTuple

import numpy as np

from supple.bodies.voxel import Actuation, Collision, VoxelBody
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.examples.clapper import BASE, INNER, OUTER, clapper
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.solvers import vibration_modes
from supple.validation.row import Row, bounded
from supple.validation.voxel.blocks import held_system

Array = np.ndarray
CASE = "voxel/schemes"
SIZE = 1e-3  # [m]
LOOKS = 30  # on the way
SAFETY = 0.5  # of the step that is stable at rest: at 60 % of strain the lattice is stiffer


class Clapping(NamedTuple):
    """The source's clapper: its body, the numbers of the held voxels, a stable step [s], the control's period [s]."""

    body: VoxelBody
    held: Array
    dt: float
    period: float


@cache
def source_clapper() -> Clapping:
    """The clapper of [HL12, figure 8] at its full control."""
    grid = VoxelGrid(clapper().grid.materials, SIZE)
    soft = {
        number: VoxelMaterial(young=1e6, density=1000, expansion=expansion, bond_damping=0.3)
        for number, expansion in ((BASE, 0.0), (INNER, 0.02), (OUTER, -0.02))
    }
    passive = VoxelBody(grid, soft)
    held = np.flatnonzero(grid.materials[tuple(grid.voxels.T)] == BASE)
    frequency = float(vibration_modes(held_system(passive, held), 2).frequencies[0])
    body = VoxelBody(grid, soft, actuation=Actuation(30.0, frequency))
    dt = body.stable_step(held=held, collision=Collision(), safety=SAFETY, staged=False)
    return Clapping(body, held, dt, 1 / frequency)


def schemes() -> dict[str, Collision]:
    """All or surface voxels, listed at every step or when the horizon asks for it, every pair tested; and by cells."""
    rebuilds: tuple[Literal["every_step", "horizon"], ...] = ("every_step", "horizon")
    found = {
        f"{'surface' if surface else 'all'}, {rebuild.replace('_', ' ')}": Collision(
            scheme="all_pairs", surface_only=surface, rebuild=rebuild
        )
        for rebuild, surface in product(rebuilds, (False, True))
    }
    return found | {"surface, horizon, cells": Collision()}


def sweep_of(collision: Collision) -> LatticeSweep:
    """The clapper at rest, ready to run."""
    body, held, _, _ = source_clapper()
    return LatticeSweep.make(body.model, held=held, swing=body.swing, collision=collision)


def run() -> list[Row]:
    """The frames after three quarters of a period, against those of all voxels listed at every step."""
    body, _, dt, period = source_clapper()
    ends, quiet = {}, 0
    for name, collision in schemes().items():
        sweep = sweep_of(collision)
        x, v = body.model.rest_frames.copy(), np.zeros((body.model.voxel_count, 6))
        quiet = 0
        for _ in range(LOOKS):
            sweep.advance(dt, int(0.75 * period / dt / LOOKS))
            quiet += sweep.touching == 0
        sweep.save(x, v)
        ends[name] = x
    first = next(iter(ends))
    rows = [
        bounded(CASE, f"{name}: off in position", float(np.abs(x - ends[first]).max()), 0.0, unit="m", source=first)
        for name, x in ends.items()
        if name != first
    ]
    return [*rows, bounded(CASE, "part of the looks at which nothing touched", quiet / LOOKS, 0.5, source="they clap")]


CASES = {CASE: run}
