"""Many strides of a lattice in one call: frames into bricks, small steps, frames out again, and a look at the strains.

A stride begins with frames and ends with frames: what is rounded there does not depend on how many strides a call has.
Within a call bricks are rounded as frames would do it, and frames come out where somebody asks for them. Nor does what
voxels that meet remember depend on it: pairs are listed anew in each stride.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.compiling.thread_team import assemble, dismiss
from supple.algebra.dense.rotation_kernels import (
    cross,
    quaternion_exp,
    quaternion_multiply,
    quaternion_rotate,
)
from supple.algebra.lanes.lane_type import lane_count, load, store
from supple.bodies.voxel.kernels import advance, advance_colliding
from supple.bodies.voxel.sweep.brick_data import STATE
from supple.bodies.voxel.sweep.lattice_kernels import largest_strain_and_bend
from supple.bodies.voxel.sweep.look_kernels import may_exceed
from supple.bodies.voxel.sweep.state_kernels import enter_bricks, is_finite, leave_bricks, renew_bricks
from supple.bodies.voxel.sweep.team_kernels import assist
from supple.bodies.voxel.touching.collision_kernels import HELD, LISTED, TABLE, clear_contacts
from supple.bodies.voxel.touching.joint_kernels import compute_violations, place_sides, start_joints

Array = np.ndarray
WHOLE, LOOK, LOST, BROKEN, CROWDED = range(5)
"""How a call ended: after all strides, after one whose strains ask for a look; before one that left the finite, in
which links failed, or in which more pairs of voxels came near each other than there is workspace for."""


class Frames(NamedTuple):
    """x (n, 7), v (n, 6): frames of the voxels, angular velocities in body axes.

    place (n,): where the fields of a voxel begin in the state. axes (3,): of the world, in the order of the sweep.
    moves (n,): 1, or 0 for voxels that are held. number (strides,): which of the kept frames kept_x (k, n, 7), kept_v
    (k, n, 6) the end of a stride is, or -1.
    """

    x: Array
    v: Array
    place: Array
    axes: Array
    moves: Array
    number: Array
    kept_x: Array
    kept_v: Array


class Given(NamedTuple):
    """Forces on points of voxels. voxel (p,): their voxels; place (p,): where the loads of these begin; local (p, 3)
    [m]: where, in the voxel's axes; force (strides, p, 3) [N], constant over a stride; ahead [s]: from its start to the
    time at which they act."""

    voxel: Array
    place: Array
    local: Array
    force: Array
    ahead: float


@compiled(borrows=True)
def load_voxels(given, frames, stride, loads_out):
    """Forces and moments on the voxels in a stride, where they will be at the time at which they act."""
    W, x, v = lane_count(loads_out), frames.x, frames.v
    for p in range(len(given.voxel)):
        for k in range(6):
            loads_out[given.place[p] + k * W] = 0.0
    for p in range(len(given.voxel)):
        i, at = given.voxel[p], given.place[p]
        ahead = frames.moves[i] * given.ahead
        turn = quaternion_exp((ahead * v[i, 3], ahead * v[i, 4], ahead * v[i, 5]))
        q = quaternion_multiply((x[i, 3], x[i, 4], x[i, 5], x[i, 6]), turn)
        r = quaternion_rotate(q, (given.local[p, 0], given.local[p, 1], given.local[p, 2]))
        F = (given.force[stride, p, 0], given.force[stride, p, 1], given.force[stride, p, 2])
        M = cross(r, F)
        for k in range(3):
            a = frames.axes[k]
            loads_out[at + k * W] += F[0] if a == 0 else (F[1] if a == 1 else F[2])
            loads_out[at + (3 + k) * W] += M[0] if a == 0 else (M[1] if a == 1 else M[2])


@compiled(borrows=True)
def size_bricks(bricks, signals, stride):
    """Sizes by the signals at the start of a stride."""
    state, W, count = bricks.state, lane_count(bricks.state), signals.shape[1]
    if count > 0:
        zero = load(state, 0) * 0.0
        for b in range(len(bricks.edge)):
            size = zero + bricks.edge[b]
            for c in range(count):
                size = size + signals[stride, c] * load(bricks.swings, (b * count + c) * W)  # (14.20)
            store(state, (b * STATE + 13) * W, size)


@compiled(borrows=True)
def begin_stride(bricks, frames, signals, k):
    """The start of stride k, whose frames are those of the call or the end of the stride before."""
    if k == 0:
        enter_bricks(bricks.state, frames)
    else:
        renew_bricks(bricks)
    size_bricks(bricks, signals, k)


@compiled(borrows=True)
def end_stride(bricks, slabs, frames, links, strain, bend, k, asks):
    """The end of stride k: how a call would end here. strain, angle between linked voxels [rad]: what was seen. asks:
    whether somebody asks for the frames, whatever is seen."""
    if not is_finite(bricks):
        return LOST
    at, looks = frames.number[k], may_exceed(bricks, slabs, strain, bend)
    if asks or looks or at >= 0 or k == len(frames.number) - 1:
        leave_bricks(bricks.state, frames)
    if at >= 0:
        for i in range(len(frames.place)):
            for c in range(7):
                frames.kept_x[at, i, c] = frames.x[i, c]
            for c in range(6):
                frames.kept_v[at, i, c] = frames.v[i, c]
    if not looks:
        return WHOLE
    found = largest_strain_and_bend(links, frames.x)
    return LOOK if found[0] > strain or found[1] > bend else WHOLE


@compiled
def advance_strides(bricks, slabs, laws, damping, given, step, frames, links, signals, count, strain, bend, members):
    """Strides of so many small steps, one for each row of signals (strides, ...); rows k (count + 1) on of the step's
    tables are those of stride k. given: forces, or None. members: of the thread team that this leads, 1: alone. Returns
    how many were taken, and how it ended."""
    for k in range(len(signals)):
        begin_stride(bricks, frames, signals, k)
        if given is not None:
            load_voxels(given, frames, k, bricks.loads)
        first = k * (count + 1)
        advance(bricks, slabs, laws, damping, step, first, first + count, members)
        if laws.failures.sum() > 0:
            return k, BROKEN
        how = end_stride(bricks, slabs, frames, links, strain, bend, k, given is not None)
        if how != WHOLE:
            return (k if how == LOST else k + 1), how
    return len(signals), WHOLE


@compiled
def advance_apart(bricks, slabs, laws, damping, given, step, frames, signals, x, v_out):
    """One small step from each of several states, with x (k, n, 7) and v_out (k, n, 6), which become the velocities at
    its end; of a step that left the finite those at its start. Rows 2 k of the step's tables are those of state k."""
    for k in range(len(x)):
        for i in range(len(frames.place)):
            for c in range(7):
                frames.x[i, c] = x[k, i, c]
            for c in range(6):
                frames.v[i, c] = v_out[k, i, c]
        enter_bricks(bricks.state, frames)
        size_bricks(bricks, signals, k)
        if given is not None:
            load_voxels(given, frames, k, bricks.loads)
        advance(bricks, slabs, laws, damping, step, 2 * k, 2 * k + 1, 1)
        if is_finite(bricks):
            leave_bricks(bricks.state, frames)
        for i in range(len(frames.place)):
            for c in range(6):
                v_out[k, i, c] = frames.v[i, c]


@compiled(borrows=True)
def begin_meeting(bricks, contacts, joints, given, frames, stride, count):
    """Forget what a stride before knew of contacts, but for the pairs that are held; begin with loads and joints."""
    clear_contacts(bricks.loads, contacts)
    if given is not None:
        W = lane_count(bricks.loads)
        load_voxels(given, frames, stride, contacts.base)
        for p in range(len(given.place)):
            for k in range(6):
                bricks.loads[given.place[p] + k * W] = contacts.base[given.place[p] + k * W]
    memory = contacts.memory
    held, table, listed = memory[HELD], memory[TABLE], -1.0 if len(contacts.voxels) > 0 else 0.0
    memory[:] = 0.0
    memory[HELD], memory[TABLE], memory[LISTED] = held, table, listed
    if joints is not None:
        start_joints(bricks.state, joints, count)


@compiled(borrows=True)
def end_joints(state, joints):
    """The largest violation of a row."""
    largest = 0.0
    if joints is not None:
        place_sides(state, joints)
        compute_violations(joints)
        for m in range(len(joints.phi)):
            largest = max(largest, abs(joints.phi[m]))
    return largest


@compiled
def advance_meeting(
    bricks, slabs, laws, damping, contacts, joints, given, step, frames, links, signals, count, strain, bend, members,
    open_out,
):  # fmt: skip
    """Strides of voxels that meet or are held by joints; joints, given: or None. open_out (strides,): the largest
    violation of a row at the end of each. Returns how many were taken, how it ended, how many pairs lacked workspace.
    """
    for k in range(len(signals)):
        begin_stride(bricks, frames, signals, k)
        begin_meeting(bricks, contacts, joints, given, frames, k, count)
        first = k * (count + 1)
        _, lacking = advance_colliding(
            bricks, slabs, laws, damping, contacts, None, joints, step, first, first + count, members
        )
        if lacking > 0:
            return k, CROWDED, lacking
        if laws.failures.sum() > 0:
            return k, BROKEN, 0
        open_out[k] = end_joints(bricks.state, joints)
        how = end_stride(bricks, slabs, frames, links, strain, bend, k, given is not None)
        if how != WHOLE:
            return (k if how == LOST else k + 1), how, 0
    return len(signals), WHOLE, 0


@compiled(parallel=True)
def advance_strides_together(
    bricks, slabs, laws, damping, given, step, frames, links, signals, count, strain, bend, members
):
    """`advance_strides` by so many threads."""
    found = np.zeros(2, dtype=np.int64)
    assemble(slabs.team)
    for member in numba.prange(members):
        if member == 0:
            done, how = advance_strides(
                bricks, slabs, laws, damping, given, step, frames, links, signals, count, strain, bend, members
            )
            found[0], found[1] = done, how
            dismiss(slabs.team)
        else:
            assist(bricks, slabs, laws, damping, None, step, np.int64(member), members)
    return found[0], found[1]


@compiled(parallel=True)
def advance_meeting_together(
    bricks, slabs, laws, damping, contacts, joints, given, step, frames, links, signals, count, strain, bend, members,
    open_out,
):  # fmt: skip
    """`advance_meeting` by so many threads."""
    found = np.zeros(3, dtype=np.int64)
    assemble(slabs.team)
    for member in numba.prange(members):
        if member == 0:
            done, how, lacking = advance_meeting(
                bricks, slabs, laws, damping, contacts, joints, given, step, frames, links, signals, count, strain,
                bend, members, open_out,
            )  # fmt: skip
            found[0], found[1], found[2] = done, how, lacking
            dismiss(slabs.team)
        else:
            assist(bricks, slabs, laws, damping, contacts, step, np.int64(member), members)
    return found[0], found[1], found[2]
