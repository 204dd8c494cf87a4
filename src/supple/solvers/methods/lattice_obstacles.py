"""Where voxels push obstacles within the sweep of lattices, and with which forces.

The sweep passes no forces on: it changes velocities. So one small step h is taken from a state twice, with an obstacle
and without it:

    F = m (v_with - v_without) / h

for voxels that are in the obstacle at the state, of one obstacle after the other. F has the normal push and friction as
the sweep will have them in the small step that begins there. Nothing is done where nobody asks, and the state stays as
it is. The force acts at the voxel's centre; its place is told on the surface, below it. Where bodies of other kinds are
in the scene, what they push and hold in this one small step is left out.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.contact.binding.remembering import Touching
from supple.interaction.obstacles import Obstacle, distance

Array = np.ndarray
MET = "obstacles met in sweeps"
"""In a system's memo: a function of a state that tells them, left there by the solver."""
Steps = Callable[[list[tuple[Obstacle, ...]]], list[Array]]
"""Velocities (n, 6) [m/s, rad/s] after one small step with each of several lists of the obstacles."""


def found_forces(
    sweep: LatticeSweep,
    obstacles: dict[str, Obstacle],
    owners: Sequence[tuple[str, int]],
    state: LocalState,
    h: float,
    steps: Steps,
) -> Touching:
    """Contacts of voxels with obstacles, at frames of a state. owners: name of each body, and how many voxels it has; h
    [s]: the small step."""
    x, model = np.asarray(state.x)[:, :3], sweep.model
    size = model.size if sweep.swing is None else sweep.swing.sizes(state.t, sweep.commanded)
    near: list[tuple[str, Obstacle, Array, Array, Array]] = []
    for name, obstacle in obstacles.items():
        gap, normal = _posed_distance(obstacle, state.t, x)
        inside = np.flatnonzero(gap < size / 2)
        if len(inside):
            near.append((name, obstacle, inside, gap[inside], normal[inside]))
    if not near:
        return nothing()
    body = np.repeat(np.arange(len(owners)), [count for _, count in owners])
    names: list[tuple[str, str]] = []
    places, normals, forces = [], [], []
    met = tuple(obstacle for _, obstacle, *_ in near)
    v = [after[:, :3] for after in steps([met[:k] for k in range(len(met) + 1)])]
    for (name, _, inside, gap, normal), (before, after) in zip(near, pairwise(v)):
        force = (model.mass[inside] / h)[:, None] * (after[inside] - before[inside])
        pushes = force.any(axis=1)
        names += [(owners[number][0], name) for number in body[inside[pushes]].tolist()]
        places.append((x[inside] - gap[:, None] * normal)[pushes])
        normals.append(normal[pushes])
        forces.append(force[pushes])
    return Touching(names, np.concatenate(places), np.concatenate(normals), np.concatenate(forces))


def nothing() -> Touching:
    """No contacts."""
    return Touching([], np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)))


def _posed_distance(obstacle: Obstacle, t: float, x: Array) -> tuple[Array, Array]:
    """Distances and normals of points (n, 3) of the world at a time [s]."""
    if obstacle.motion is None:
        return distance(obstacle, x)
    pose = obstacle.pose(t)
    R = rotations.to_matrix(pose[3:])
    gap, normal = distance(obstacle, (x - pose[:3]) @ R)
    return gap, normal @ R.T
