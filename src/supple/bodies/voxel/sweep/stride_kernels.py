"""Many strides of a lattice in one call: frames into bricks, small steps, frames out again, and a look at the strains.

A stride begins with frames and ends with frames, also within a call: what is rounded there does not depend on how many
strides a call has.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import quaternion_rotate, quaternion_rotate_inverse
from supple.algebra.lanes.lane_type import lane_count, load, store
from supple.bodies.voxel.kernels import advance, advance_parallel
from supple.bodies.voxel.sweep.brick_data import STATE
from supple.bodies.voxel.sweep.brick_links import three
from supple.bodies.voxel.sweep.lattice_kernels import largest_strain_and_bend

Array = np.ndarray
WHOLE, LOOK, LOST = 0, 1, 2
"""How a call ended: after all strides, after one whose strains ask for a look, before one that left the finite."""


class Frames(NamedTuple):
    """x (n, 7), v (n, 6): frames of the voxels, angular velocities in body axes; x_end, v_end: room for the next.

    place (n,): where the fields of a voxel begin in the state. axes (3,): of the world, in the order of the sweep.
    moves (n,): 1, or 0 for voxels that are held.
    """

    x: Array
    v: Array
    x_end: Array
    v_end: Array
    place: Array
    axes: Array
    moves: Array


@compiled(borrows=True)
def enter_stride(bricks, frames, signals, stride):
    """Frames into the bricks, and sizes by the signals at the start of a stride."""
    state, W, x, v = bricks.state, lane_count(bricks.state), frames.x, frames.v
    for i in range(len(frames.place)):
        at, free = frames.place[i], frames.moves[i]
        w = (free * v[i, 3], free * v[i, 4], free * v[i, 5])
        w = quaternion_rotate((x[i, 3], x[i, 4], x[i, 5], x[i, 6]), w)
        state[at + 3 * W] = x[i, 3]
        for k in range(3):
            a = frames.axes[k]
            state[at + k * W] = x[i, a]
            state[at + (4 + k) * W] = x[i, 4 + a]
            state[at + (7 + k) * W] = free * v[i, a]
            state[at + (10 + k) * W] = w[0] if a == 0 else (w[1] if a == 1 else w[2])
    count = signals.shape[1]
    if count > 0:
        zero = load(state, 0) * 0.0
        for b in range(len(bricks.edge)):
            size = zero + bricks.edge[b]
            for c in range(count):
                size = size + signals[stride, c] * load(bricks.swings, (b * count + c) * W)  # (14.20)
            store(state, (b * STATE + 13) * W, size)


@compiled(borrows=True)
def leave_stride(state, frames):
    """The bricks' state into frames; returns whether all of it is finite, and leaves them as they were where not."""
    W, x, v, total = lane_count(state), frames.x_end, frames.v_end, 0.0
    for i in range(len(frames.place)):
        at = frames.place[i]
        x[i, 3] = state[at + 3 * W]
        w = three(state, at + 10 * W, W)
        for k in range(3):
            a = frames.axes[k]
            x[i, a] = state[at + k * W]
            x[i, 4 + a] = state[at + (4 + k) * W]
            v[i, a] = state[at + (7 + k) * W]
            v[i, 3 + a] = w[k]
        q = (x[i, 3], x[i, 4], x[i, 5], x[i, 6])
        v[i, 3], v[i, 4], v[i, 5] = quaternion_rotate_inverse(q, (v[i, 3], v[i, 4], v[i, 5]))
        for k in range(6):
            total += 0.0 * (x[i, k] + v[i, k])
        total += 0.0 * x[i, 6]
    if total != 0.0:
        return False
    for i in range(len(frames.place)):
        for k in range(7):
            frames.x[i, k] = x[i, k]
        for k in range(6):
            frames.v[i, k] = v[i, k]
    return True


@compiled(borrows=True)
def asks_for_a_look(links, x, strain, bend):
    """Whether a strain, or the angle between linked voxels [rad], is beyond what was seen."""
    found = largest_strain_and_bend(links, x)
    return found[0] > strain or found[1] > bend


@compiled
def advance_strides(bricks, slabs, laws, damping, step, frames, links, signals, count, strain, bend):
    """Strides of so many small steps, one for each row of signals (strides, ...); rows k (count + 1) on of the step's
    tables are those of stride k. Returns how many were taken, and how it ended."""
    for k in range(len(signals)):
        enter_stride(bricks, frames, signals, k)
        first = k * (count + 1)
        advance(bricks, slabs, laws, damping, step, first, first + count)
        if not leave_stride(bricks.state, frames):
            return k, LOST
        if asks_for_a_look(links, frames.x, strain, bend):
            return k + 1, LOOK
    return len(signals), WHOLE


@compiled
def advance_strides_parallel(bricks, slabs, laws, damping, step, frames, links, signals, count, strain, bend):
    """The same on all threads; the same bits as `advance_strides`."""
    for k in range(len(signals)):
        enter_stride(bricks, frames, signals, k)
        first = k * (count + 1)
        advance_parallel(bricks, slabs, laws, damping, step, first, first + count)
        if not leave_stride(bricks.state, frames):
            return k, LOST
        if asks_for_a_look(links, frames.x, strain, bend):
            return k + 1, LOOK
    return len(signals), WHOLE
