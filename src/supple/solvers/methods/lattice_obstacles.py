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

import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.protocols import LocalState
from supple.bodies.voxel.model import VoxelModel
from supple.bodies.voxel.sweep.sweep import LatticeSweep
from supple.contact.binding.named_pairs import NamedPairs
from supple.contact.binding.remembering import Touching
from supple.errors import StepWarning
from supple.interaction.obstacles import Box, Capsule, Obstacle, Sphere, distance
from supple.scene.state import State

Array = np.ndarray
MET = "obstacles met in sweeps"
"""In a system's memo: `ObstaclesMet`, left there by the solver."""
Steps = Callable[[list[int], list[tuple[Obstacle, ...]]], list[Array]]
"""Velocities (k, n, 6) [m/s, rad/s] after one small step from states of these numbers, with each of several lists of
the obstacles."""


class ObstaclesMet:
    """Where lattices push obstacles, at a state; of states that were foreseen, found at once. find: of several."""

    def __init__(self, find: Callable[[Sequence[State]], list[Touching]]) -> None:
        self.find = find
        self._foreseen: dict[float, tuple[tuple[bytes, bytes], Touching]] = {}

    def foresee(self, states: Sequence[State]) -> None:
        """Find for all of these what will be asked next, one after the other."""
        found = zip(map(_content, states), self.find(states))
        self._foreseen = dict(zip([state.t for state in states], found))

    def __call__(self, state: State) -> Touching:
        if state.t in self._foreseen:
            content, found = self._foreseen[state.t]
            if content == _content(state):
                return found
        return self.find([state])[0]


def _content(state: State) -> tuple[bytes, bytes]:
    return state.x.tobytes(), state.v.tobytes()


def found_forces(
    sweep: LatticeSweep,
    obstacles: dict[str, Obstacle],
    owners: Sequence[tuple[str, int]],
    states: Sequence[LocalState],
    h: float,
    steps: Steps,
) -> list[Touching]:
    """Contacts of voxels with obstacles, at frames of states. owners: name of each body, and how many voxels it has; h
    [s]: the small step."""
    x, model = np.array([np.asarray(state.x)[:, :3] for state in states]), sweep.model
    times = np.array([state.t for state in states])
    size = model.size if sweep.swing is None else sweep.swing.sizes_at(times, sweep.commanded)
    gaps = [_posed_distances(obstacle, times, x) for obstacle in obstacles.values()]
    inside = [gap < size / 2 for gap, _ in gaps]
    near = np.array([rows.any(axis=1) for rows in inside])  # (obstacles, states)
    body = np.repeat(np.arange(len(owners)), [count for _, count in owners])
    names, all_obstacles = [*(name for name, _ in owners), *obstacles], list(obstacles.values())
    told = [nothing()] * len(states)
    for which in np.unique(near[:, near.any(axis=0)], axis=1).T:
        chosen = np.flatnonzero((which == near.T).all(axis=1))
        numbers = np.flatnonzero(which).tolist()
        met = [all_obstacles[number] for number in numbers]
        v = [after[:, :, :3] for after in steps(chosen.tolist(), [tuple(met[:k]) for k in range(len(met) + 1)])]
        parts = []
        for number, before, after in zip(numbers, v, v[1:]):
            row, voxel = np.nonzero(inside[number][chosen])
            force = (model.mass[voxel] / h)[:, None] * (after[row, voxel] - before[row, voxel])
            pushes = force.any(axis=1)
            row, voxel, at = row[pushes], voxel[pushes], (chosen[row[pushes]], voxel[pushes])
            gap, normal = (values[at] for values in gaps[number])
            pair = np.stack([body[voxel], np.full(len(voxel), len(owners) + number)], axis=1)
            parts.append((row, pair, x[at] - gap[:, None] * normal, normal, force[pushes]))
        rows, *values = map(np.concatenate, zip(*parts))
        order = np.argsort(rows, kind="stable")  # of a state one obstacle after the other
        ends = np.searchsorted(rows[order], np.arange(len(chosen) + 1))
        pair, *arrays = (each[order] for each in values)
        for k, a, b in zip(chosen.tolist(), ends, ends[1:]):
            told[k] = Touching(NamedPairs.among(names, pair[a:b]), *(each[a:b] for each in arrays))
    return told


def nothing() -> Touching:
    """No contacts."""
    return Touching([], np.zeros((0, 3)), np.zeros((0, 3)), np.zeros((0, 3)))


def _posed_distances(obstacle: Obstacle, times: Array, x: Array) -> tuple[Array, Array]:
    """Distances (k, n) and normals (k, n, 3) of points (k, n, 3) of the world at times (k,) [s]."""
    if obstacle.motion is None:
        gap, normal = distance(obstacle, x.reshape(-1, 3))
        return gap.reshape(x.shape[:2]), normal.reshape(x.shape)
    each = [_posed_distance(obstacle, float(t), at) for t, at in zip(times, x)]
    return np.array([gap for gap, _ in each]), np.array([normal for _, normal in each])


def _posed_distance(obstacle: Obstacle, t: float, x: Array) -> tuple[Array, Array]:
    """Of points (n, 3) at a time [s], for an obstacle that moves."""
    pose = obstacle.pose(t)
    R = rotations.to_matrix(pose[3:])
    gap, normal = distance(obstacle, (x - pose[:3]) @ R)
    return gap, normal @ R.T


class Leap(NamedTuple):
    """A voxel that comes so fast to an obstacle that it may pass through: how far it gets, and how far it may [m]."""

    obstacle: str
    voxel: int
    way: float
    limit: float


def stopping_times(model: VoxelModel) -> Array:
    """How far a voxel sinks in, over the speed it comes with, (n,) [s].

    m u'' + c u' + k u = 0, k = 2 E l, w^2 = k / m, z = c / (2 m w):  u_max = v / w exp(-z / sqrt(1 - z^2) arccos z)

    The contact's ratio of damping is that of half the stiffness, E l, so z is less by sqrt(2).
    """
    w = np.sqrt(2 * model.values("young") * model.size / model.mass)
    z = model.values("contact_damping") / np.sqrt(2)
    return np.asarray(np.exp(-z / np.sqrt(1 - z * z) * np.arccos(z)) / w)


def find_leap(
    obstacles: dict[str, Obstacle], x: Array, v: Array, size: Array, t: float, stopping: Array, duration: float
) -> Leap | None:
    """The one that gets farthest through a thin obstacle, of voxels of a size [m] at x (n, 3) [m] with velocities v
    (n, 3) [m/s] that reach it within a duration [s]. stopping (n,) [s]: how far each gets over its speed.

    A voxel touches from half its size on, and is pushed back the way it came up to the middle of the obstacle.
    """
    found: Leap | None = None
    for name, obstacle in obstacles.items():
        thick = thickness(obstacle)
        if thick == np.inf:
            continue
        limit = np.broadcast_to((thick + size) / 2, len(x))
        u = v - obstacle.velocity_at(t, x)
        speed = np.sqrt((u * u).sum(axis=1))
        if not (stopping * speed > limit).any():
            continue
        gap, normal = _posed_distance(obstacle, t, x)
        way = -stopping * (u * normal).sum(axis=1)
        leaps = np.flatnonzero((way > limit) & (gap > 0) & (gap < speed * duration + size))
        if leaps.size and (found is None or way[leaps].max() > found.way):
            k = int(leaps[np.argmax(way[leaps])])
            found = Leap(name, k, float(way[k]), float(limit[k]))
    return found


def thickness(obstacle: Obstacle) -> float:
    """The smallest extent of an obstacle [m]; infinite of what has an inside without an end."""
    if isinstance(obstacle, Box):
        return float(np.min(obstacle.edges))
    return 2 * float(obstacle.radius) if isinstance(obstacle, Sphere | Capsule) else np.inf


def warns_of_leap(obstacles: dict[str, Obstacle], model: VoxelModel, state: State, h: float, duration: float) -> bool:
    """Whether a warning was given of a voxel that may pass through an obstacle within a duration [s], in small steps of
    h [s]."""
    if all(thickness(obstacle) == np.inf for obstacle in obstacles.values()):
        return False
    x, v = state.x.reshape(-1, 7)[:, :3], state.v.reshape(-1, 6)[:, :3]
    leap = find_leap(obstacles, x, v, model.size, state.t, np.maximum(stopping_times(model), h), duration)
    if leap is None:
        return False
    cell = model.cells[leap.voxel].tolist()
    sentence = (
        f"t = {state.t:.4g} s: the voxel of cell {cell} comes to obstacle '{leap.obstacle}' so fast that it gets "
        f"{leap.way:.2g} m deep before it is stopped, and may pass through it from {leap.limit:.2g} m on. Use stiffer "
        "voxels, or a thicker obstacle."
    )
    warnings.warn(StepWarning(sentence), stacklevel=7)
    return True
