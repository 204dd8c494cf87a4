"""Collisions of voxels: blocks that meet, and what momentum, geometry and the slower rivals say about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel import VoxelBody
from supple.bodies.voxel.touching.collision import Collision
from supple.geometry import VoxelGrid
from supple.material.voxel import VoxelMaterial
from supple.validation.row import Row, bounded

Array = np.ndarray
SIZE = 0.01  # [m]
LAWS = "conservation of momentum"
BRUTE = "every pair tested at every step"


def two_blocks(*, edge: int = 3, gap: int = 3, **material: float) -> tuple[VoxelBody, Array]:
    """Two cubes of voxels in a row along x, not joined, and which voxels belong to the first, (n,)."""
    numbers = np.zeros((2 * edge + gap, edge, edge), dtype=int)
    numbers[:edge] = numbers[-edge:] = 1
    plain = VoxelMaterial(young=1e6, density=1000, bond_damping=0.1)
    body = VoxelBody(VoxelGrid(numbers, SIZE), replace(plain, **material))  # type: ignore[arg-type]
    return body, body.grid.voxels[:, 0] < edge


def meeting(body: VoxelBody, first: Array, *, speed: float, aside: float = 0.0) -> LocalState:
    """The first block flies at the second, beside the middle by `aside` [m]; both fly at half the speed [m/s]."""
    x, v = body.model.rest_frames.copy(), np.zeros((body.model.voxel_count, 6))
    x[first, 1] += aside
    v[:, 0] = np.where(first, 0.5, -0.5) * speed
    return LocalState(0.0, x, v)


def momenta(body: VoxelBody, state: LocalState) -> Array:
    """Momentum [kg m/s] and angular momentum about the origin [kg m²/s], (6,)."""
    p = body.model.mass[:, None] * state.v[:, :3]
    spin = body.model.inertia[:, None] * rotations.rotate(state.x[:, 3:], state.v[:, 3:])
    return np.r_[p.sum(axis=0), (np.cross(state.x[:, :3], p) + spin).sum(axis=0)]


def run() -> list[Row]:
    """Momentum of an oblique collision, and the fast list of pairs against the slow one."""
    body, first = two_blocks()
    start = meeting(body, first, speed=4.0, aside=0.7 * SIZE)
    dt = body.stable_step(collision=Collision())
    end = body.advance(start, dt, 400, collision=Collision())
    slow = body.advance(start, dt, 400, collision=Collision(scheme="all_pairs", rebuild="every_step"))
    before, after = momenta(body, start), momenta(body, end)
    p = float(np.sum(body.model.mass * np.abs(start.v[:, 0])))
    case = "voxel/collision"
    return [
        bounded(case, "change of momentum", float(np.abs(after - before)[:3].max()) / p, 1e-12, source=LAWS),
        bounded(
            case,
            "change of angular momentum",
            float(np.abs(after - before)[3:].max()) / (p * SIZE),
            1e-12,
            source=LAWS,
        ),
        bounded(case, "fast against slow list", float(np.abs(end.x - slow.x).max()), 0.0, unit="m", source=BRUTE),
    ]


CASES = {"voxel/collision": run}
