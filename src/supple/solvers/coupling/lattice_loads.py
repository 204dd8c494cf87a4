"""What acts on the voxels of a stride from outside: loads, springs, forces of a person's own; constant over a part.

A part of h divided into N steps of symplectic Euler under a constant acceleration a gives

    v' = v + h a,   x' = x + h v + (N + 1) / (2 N) h² a

With a = -k (x + s h v), the force at a place foreseen, the determinant of this map is

    1 + h² k (1 - (N + 1) / (2 N) - s)

It is one, so that springs neither gain nor lose energy, for s = (N - 1) / (2 N): for one step the place at its start,
for many the middle of the part. The map is stable below h² k = 4; h² k = 1/4 is used, of each voxel alone.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from supple.algebra.dense import rotations
from supple.bodies.mappings import FramePoints
from supple.bodies.protocols import GivenForce
from supple.bodies.traits import is_passive
from supple.bodies.voxel.sweep.strides import PointLoads
from supple.scene.slots import Slot
from supple.scene.state import State
from supple.scene.system import BoundForce, System

Array = np.ndarray
PART = 0.5  # longest part of what acts, over the root of its stiffness by mass
ITERATIONS = 20  # of the power method
NUDGE = 1e-6  # part of the scene's extent by which voxels are moved to feel a stiffness


def acting_loads(system: System, state: State, acting: list[BoundForce]) -> Array:
    """Forces and moments in world axes on the voxels of all bodies, (n, 6), of what acts on them from outside."""
    kin = system.propagate(state.t, state.x, state.v)
    out = [np.zeros_like(v) for v in kin.v]
    for _, slot, force in acting:
        force.add_force(kin.local(slot), out[slot.index])
    kin.pull(out)
    f = system.gather(out).reshape(-1, 6)
    f[:, 3:] = rotations.rotate(state.x.reshape(-1, 7)[:, 3:], f[:, 3:])
    return f


def point_loads(system: System, acting: list[BoundForce], first: dict[str, int]) -> PointLoads | None:
    """What acts on the voxels, where all of it is given in time on points of theirs. first: the number of the first
    voxel of each body."""
    if not acting or not all(isinstance(f.force, GivenForce) and _is_on_voxels(f.slot) for f in acting):
        return None
    mappings: list[Any] = [f.slot.mapping for f in acting]
    voxel = [first[f.slot.parents[0].name] + m.frame for f, m in zip(acting, mappings)]
    forces: list[Any] = [f.force for f in acting]

    def of(force: Any, times: Array) -> Array:
        values = [force.values(float(t)) for t in (times[:1] if is_passive(force) else times)]
        return np.asarray(np.broadcast_to(values, (len(times), *values[0].shape)))

    return PointLoads(
        np.concatenate(voxel).astype(np.int64),
        np.ascontiguousarray(np.concatenate([m.local for m in mappings]), dtype=float),
        lambda times: np.concatenate([of(force, times) for force in forces], axis=1),
    )


def _is_on_voxels(slot: Slot) -> bool:
    return isinstance(slot.mapping, FramePoints) and slot.parents[0].is_body


def foreseen(state: State, ahead: float) -> State:
    """The state a time [s] ahead, at the velocities of now."""
    if ahead == 0.0:
        return state
    return State(state.t + ahead, moved(state.x, ahead * state.v), state.v)


def moved(x: Array, d: Array) -> Array:
    """Frames x, flat, moved by d, flat: places in world, turns in body axes."""
    out, step = x.reshape(-1, 7).copy(), d.reshape(-1, 6)
    out[:, :3] += step[:, :3]
    out[:, 3:] = rotations.multiply(out[:, 3:], rotations.exp(step[:, 3:]))
    return out.ravel()


def longest_part(system: System, acting: list[BoundForce], masses: Array) -> float:
    """How long [s] what acts may be kept constant, found at the start; infinite where it depends on time alone.

    masses (n, 6): mass and inertia of the voxels. The largest rates k [1/s²] and c [1/s] of the forces' change with
    places and velocities are found by the power method on differences.
    """
    if not acting:
        return np.inf
    start = system.initial_state()
    f0 = acting_loads(system, start, acting)
    scale = 1.0 / np.sqrt(masses)
    places = start.x.reshape(-1, 7)[:, :3]
    length = NUDGE * float(np.ptp(places, axis=0).max() or 1.0)

    def change(d: Array, of_velocity: bool) -> Array:
        size = length / max(float(np.abs(d).max()), 1e-300)
        x = start.x if of_velocity else moved(start.x, size * d.ravel())
        v = start.v + size * d.ravel() if of_velocity else start.v
        return (acting_loads(system, State(start.t, x, v), acting) - f0) / size

    rates = []
    for of_velocity in (False, True):
        y, rate = np.random.default_rng(0).normal(size=masses.shape), 0.0
        for _ in range(ITERATIONS):
            z = scale * change(scale * y / np.linalg.norm(y), of_velocity)
            rate = float(np.linalg.norm(z))
            if not np.isfinite(rate) or rate == 0.0:
                break
            y = z
        rates.append(rate if np.isfinite(rate) else 0.0)
    k, c = rates
    return PART / max(np.sqrt(k), c) if max(k, c) > 0 else np.inf
