"""Which springs the sweep of lattices takes within its small steps: between points of voxels and of the world.

Not those on voxels that filters lead or let slide, on other points than voxels' own, such as means of several, and, of
a length, stiffer than the small steps bear across them: they act as loads, see `coupling.lattice_loads`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.bodies.voxel.touching.joints import POINTS, WORLD
from supple.bodies.voxel.touching.springs import IN_WORLD, LatticeSprings
from supple.interaction.springs import SpringForce
from supple.scene.mapped.points import JoinedPoints, WorldPoints
from supple.scene.system import BoundForce, System
from supple.solvers.coupling.lattice_joints import side_of

Array = np.ndarray
SHARE = 1.0
"""Of 4, at which a small step is unstable: what springs of a length may add."""


class MovingEnd(NamedTuple):
    """springs (k,): whose end 0 or 1 is in the world, at points (k,) of these."""

    springs: Array
    end: int
    world: WorldPoints
    points: Array


@dataclass(frozen=True, eq=False)
class SweptSprings:
    """springs: as the sweep takes them; forces: ids of those of the system that they are; ends: that may be moved."""

    springs: LatticeSprings
    forces: frozenset[int]
    ends: list[MovingEnd]

    @classmethod
    def of(
        cls, system: System, first: Mapping[str, int], guided: Array, model: VoxelModel, dt: float
    ) -> SweptSprings | None:
        """Of a system of lattices alone; first: number of the first voxel of each body. guided: voxels that are led or
        slide; dt [s]: the longest small step. None where there are none."""
        given = system.scene.forces
        bound = zip(given, system.forces[len(system.forces) - len(given) :])
        found = [
            (own.force, ends)
            for acting, own in bound
            if isinstance(own.force, SpringForce) and (ends := _ends(acting.on, first, guided))
        ]
        soft = [(force, ends) for force, ends in found if not force.rest_length.any()]
        for chosen in (found, soft):
            springs, moving = _joined(chosen)
            if springs.share(model, dt) <= SHARE:
                break
        if not chosen:
            return None
        return cls(springs, frozenset(id(force) for force, _ in chosen), moving)

    def take(self, acting: list[BoundForce]) -> list[BoundForce]:
        """What of this is left to be asked from Python."""
        return [bound for bound in acting if id(bound.force) not in self.forces]

    def place(self, sweep: LatticeSweep) -> None:
        """Ends in the world, where they are now."""
        run = sweep.joint_run
        assert run is not None
        axes = np.array(sweep.layout.axes)
        for springs, end, world, points in self.ends:
            run.spring_local[springs, end] = world.rest[points][:, axes]


class _Ends(NamedTuple):
    """Of all points that springs join: voxel (p,), local (p, 3), and those of the world, with where they begin."""

    voxel: Array
    local: Array
    moving: list[tuple[WorldPoints, int]]


def _ends(on: object, first: Mapping[str, int], guided: Array) -> _Ends | None:
    """None where the sweep does not take such springs."""
    if not isinstance(on, JoinedPoints):
        return None
    sides = [side_of(part, first) for part in on.parts]
    moving, at = [], 0
    voxel: list[Array] = []
    local: list[Array] = []
    for part, side in zip(on.parts, sides):
        if side is None or side.kind not in (POINTS, WORLD):
            return None
        if isinstance(part, WorldPoints) and part.moves:
            moving.append((part, at))
        voxel.append(np.full(part.count, IN_WORLD) if side.kind == WORLD else side.voxel)
        local.append(side.held if side.kind == WORLD else side.local)
        at += part.count
    joined = np.concatenate(voxel).astype(np.int64)
    if np.isin(joined, guided).any():
        return None
    return _Ends(joined, np.concatenate(local), moving)


def _joined(chosen: list[tuple[SpringForce, _Ends]]) -> tuple[LatticeSprings, list[MovingEnd]]:
    parts, moving, count = [LatticeSprings.none()], [], 0
    for force, ends in chosen:
        pairs = force.pairs
        parts.append(
            LatticeSprings(ends.voxel[pairs], ends.local[pairs], force.stiffness, force.damping, force.rest_length)
        )
        for world, at in ends.moving:
            for end in range(2):
                mine = np.flatnonzero((pairs[:, end] >= at) & (pairs[:, end] < at + world.count))
                moving.append(MovingEnd(count + mine, end, world, pairs[mine, end] - at))
        count += len(pairs)
    return LatticeSprings(*(np.concatenate(values) for values in zip(*parts))), moving
