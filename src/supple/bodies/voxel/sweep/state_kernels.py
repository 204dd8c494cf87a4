"""Frames of voxels to and from the bricks of a sweep: their axes in the sweep's order, spins in world axes there.

bricks (tile, field, lane): position 0-2, quaternion 3-6, velocity 7-9, spin 10-12, size 13
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.aligned_stack import align_stack
from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import quaternion_rotate, quaternion_rotate_inverse
from supple.algebra.lanes.lane_type import lane_count, lane_sum, load, select_ge
from supple.bodies.voxel.links.link import scale
from supple.bodies.voxel.sweep.brick_data import CONSTANTS, STATE
from supple.bodies.voxel.sweep.brick_links import load_three, store_three, three


@compiled
def load_frames(x, v, held, sizes, axes, brick, lane, fields):
    """fields <- frames x (n, 7), velocities v (n, 6), zero of those that are held, and sizes (n,)."""
    for i in range(x.shape[0]):
        tile, l = fields[brick[i]], lane[i]
        q, spin = (x[i, 3], x[i, 4], x[i, 5], x[i, 6]), (0.0, 0.0, 0.0)
        if not held[i]:
            spin = quaternion_rotate(q, (v[i, 3], v[i, 4], v[i, 5]))
        for k in range(3):
            a = axes[k]
            tile[k, l] = x[i, a]
            tile[4 + k, l] = x[i, 4 + a]
            tile[7 + k, l] = 0.0 if held[i] else v[i, a]
            tile[10 + k, l] = spin[0] if a == 0 else (spin[1] if a == 1 else spin[2])
        tile[3, l] = x[i, 3]
        tile[13, l] = sizes[i]


@compiled
def save_frames(fields, axes, brick, lane, x_out, v_out):
    """Frames x_out (n, 7) and velocities v_out (n, 6), their spins still in world axes, from fields."""
    for i in range(x_out.shape[0]):
        tile, l = fields[brick[i]], lane[i]
        for k in range(3):
            a = axes[k]
            x_out[i, a] = tile[k, l]
            x_out[i, 4 + a] = tile[4 + k, l]
            v_out[i, a] = tile[7 + k, l]
            v_out[i, 3 + a] = tile[10 + k, l]
        x_out[i, 3] = tile[3, l]


@compiled
def turn_spins(x, v_out):
    """Spins of v_out (n, 6) from world axes to those of the frames x (n, 7), in place."""
    for i in range(x.shape[0]):
        q = (x[i, 3], x[i, 4], x[i, 5], x[i, 6])
        spin = quaternion_rotate_inverse(q, (v_out[i, 3], v_out[i, 4], v_out[i, 5]))
        v_out[i, 3], v_out[i, 4], v_out[i, 5] = spin


@compiled(borrows=True)
def enter_bricks(state, frames):
    """Frames into the bricks."""
    W, x, v = lane_count(state), frames.x, frames.v
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


@compiled(borrows=True)
def leave_bricks(state, frames):
    """The bricks' state into frames."""
    W, x, v = lane_count(state), frames.x, frames.v
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


@compiled(borrows=True)
def renew_bricks(bricks):
    """What the bricks hold after `leave_bricks` and `enter_bricks`, bit for bit, without frames: spins are turned into
    body axes and back, held voxels stand still."""
    align_stack()
    state, W = bricks.state, lane_count(bricks.state)
    for b in range(len(bricks.edge)):
        at = b * STATE * W
        per_mass = load(bricks.constants, (b * CONSTANTS + 12) * W)
        none = 0.0 * per_mass
        free = select_ge(none, per_mass, none, none + 1.0)
        q = (load(state, at + 3 * W), *load_three(state, at + 4 * W, W))
        w = quaternion_rotate_inverse(q, load_three(state, at + 10 * W, W))
        store_three(state, at + 10 * W, W, quaternion_rotate(q, scale(free, w)))
        store_three(state, at + 7 * W, W, scale(free, load_three(state, at + 7 * W, W)))


@compiled(borrows=True)
def is_finite(bricks):
    """Whether places, rotations and velocities are finite in all bricks."""
    state, W = bricks.state, lane_count(bricks.state)
    total = load(state, 0) * 0.0
    for b in range(len(bricks.edge)):
        for k in range(STATE - 1):
            total = total + 0.0 * load(state, (b * STATE + k) * W)
    return lane_sum(total) == 0.0
