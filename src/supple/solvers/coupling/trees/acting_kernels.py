"""Loads and winds on a tree, brought to its coordinates before each call of its steps by virtual work, as kernels.

They are those in the middle of the call, where the tree is by constant velocities: at its start they would lag half a
call behind, an error of first order, which weighs more than all others of an oak in the wind.

A wind acts on flat patches: of each the centroid and two edges are known, and the force acts on the centroid. What acts
stays as it is during a call.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.dense.rotation_kernels import quaternion_multiply, quaternion_normalise
from supple.algebra.lanes.lane_type import LANES, lane_sum, load, store
from supple.bodies.tree.step.stride_kernels import keep, mark, take_call
from supple.bodies.tree.surface import kinematics_kernels as kinematics
from supple.bodies.tree.surface.kinematics_kernels import Chain, Frames, back, times
from supple.scene.acting.wind_kernels import CHUNK, Flow, add_waves

Array = np.ndarray
SHAPE = 16
"""Numbers of a patch by a coordinate: its centroid (3), two edges (3 each), and zeros."""


class Patches(NamedTuple):
    """places (d + 1,): where the patches of a domain begin; first (d,): the row of its first one among those of all
    classes. Rows of SHAPE numbers, flat: at rest, and by each coordinate, from row mode[m] on."""

    places: Array
    first: Array
    rest: Array
    mode: Array
    modes: Array


class Winds(NamedTuple):
    """Of w winds: half (w,): rho C / 2 [kg/m³]; back (w,): part of it on faces that look downwind; U (w, 3) [m/s];
    start (w + 1,): where the waves of each begin, as of `Flow`."""

    half: Array
    back: Array
    U: Array
    start: Array
    k: Array
    a: Array
    phase: Array


class Acting(NamedTuple):
    """chain: the domains on which something acts and those that carry them, with the points of loads; number (n,): of
    their coordinates among all, places (n,): of these in the kernels' vectors.

    State: q (n,), v (n,), frame (7,), velocity (6,). Found: Q (n,), push (6,): force at the root's origin and torque,
    in world axes. Scratch: frames, u, w (d, 3), y (p, 3), wrench (d, 6); of patches (t, 3): centroid [m] in the
    domain's axes; area vector [m²], centroid [m], its velocity [m/s] and force [N] in the world's.
    """

    chain: Chain
    patches: Patches
    winds: Winds
    number: Array
    places: Array
    q: Array
    v: Array
    frame: Array
    velocity: Array
    Q: Array
    push: Array
    frames: Frames
    u: Array
    w: Array
    y: Array
    wrench: Array
    arm: Array
    normal: Array
    centre: Array
    moving: Array
    force: Array


@compiled(borrows=True)
def place_patches(acting, k, shape, rate):
    """Where the patches of domain k are, and how they move. shape (SHAPE), rate (LANES): scratch."""
    patches, chain, frames = acting.patches, acting.chain, acting.frames
    at, r, s = chain.start[k], chain.start[k + 1] - chain.start[k], chain.scale[k]
    for p in range(patches.places[k], patches.places[k + 1]):
        row = patches.first[k] + p - patches.places[k]
        mode = SHAPE * patches.mode[row]
        for c in range(0, SHAPE, LANES):
            lanes = load(patches.rest, SHAPE * row + c)
            for l in range(r):
                lanes += acting.q[at + l] * load(patches.modes, mode + SHAPE * l + c)  # (12.3)
            store(shape, c, lanes)
        moving = 0.0 * load(patches.rest, SHAPE * row)
        for l in range(r):
            moving += acting.v[at + l] * load(patches.modes, mode + SHAPE * l)  # (12.3)
        store(rate, 0, moving)
        x, y, z = s * shape[0], s * shape[1], s * shape[2]
        area = 0.5 * s * s
        acting.arm[p, 0], acting.arm[p, 1], acting.arm[p, 2] = x, y, z
        acting.normal[p, 0] = area * (shape[4] * shape[8] - shape[5] * shape[7])
        acting.normal[p, 1] = area * (shape[5] * shape[6] - shape[3] * shape[8])
        acting.normal[p, 2] = area * (shape[3] * shape[7] - shape[4] * shape[6])
        a = acting.w[k, 1] * z - acting.w[k, 2] * y + s * rate[0]
        b = acting.w[k, 2] * x - acting.w[k, 0] * z + s * rate[1]
        c = acting.w[k, 0] * y - acting.w[k, 1] * x + s * rate[2]
        a, b, c = times(frames.R, k, a, b, c)
        x, y, z = times(frames.R, k, x, y, z)
        acting.moving[p, 0], acting.moving[p, 1], acting.moving[p, 2] = (
            acting.u[k, 0] + a, acting.u[k, 1] + b, acting.u[k, 2] + c,
        )  # fmt: skip
        acting.centre[p, 0], acting.centre[p, 1], acting.centre[p, 2] = (
            frames.o[k, 0] + x, frames.o[k, 1] + y, frames.o[k, 2] + z,
        )  # fmt: skip
        x, y, z = times(frames.R, k, acting.normal[p, 0], acting.normal[p, 1], acting.normal[p, 2])
        acting.normal[p, 0], acting.normal[p, 1], acting.normal[p, 2] = x, y, z
        acting.force[p, 0], acting.force[p, 1], acting.force[p, 2] = 0.0, 0.0, 0.0


@compiled
def blow(acting, number, t):
    """Add the drag of one wind at time t [s] to the forces on the patches."""
    winds, at, air = acting.winds, np.empty((3, CHUNK)), np.empty((3, CHUNK))
    first, last = winds.start[number], winds.start[number + 1]
    flow = Flow(winds.U[number], winds.k[first:last], winds.a[first:last], winds.phase[first:last])
    half, behind = winds.half[number], winds.back[number]
    for start in range(0, len(acting.force), CHUNK):
        count = min(CHUNK, len(acting.force) - start)
        for n in range(count):
            at[0, n], at[1, n], at[2, n] = (
                acting.centre[start + n, 0], acting.centre[start + n, 1], acting.centre[start + n, 2],
            )  # fmt: skip
        add_waves(flow, t, count, at, air)
        for n in range(count):
            p, along, area2 = start + n, 0.0, 0.0
            for c in range(3):
                along += (air[c, n] - acting.moving[p, c]) * acting.normal[p, c]
                area2 += acting.normal[p, c] * acting.normal[p, c]
            s = along * along / area2 if area2 > 0.0 else 0.0  # (15.1)
            g = -half * s if along < 0.0 else half * behind * s  # (15.1)
            for c in range(3):
                acting.force[p, c] += g * acting.normal[p, c]


@compiled(borrows=True)
def pull_patches(acting, k, pushed):
    """Forces on the patches of domain k brought to its coordinates, and to a wrench on it. pushed (LANES): zeros."""
    patches, chain = acting.patches, acting.chain
    at, r, s = chain.start[k], chain.start[k + 1] - chain.start[k], chain.scale[k]
    for p in range(patches.places[k], patches.places[k + 1]):
        mode = SHAPE * patches.mode[patches.first[k] + p - patches.places[k]]
        a, b, c = back(acting.frames.R, k, acting.force[p, 0], acting.force[p, 1], acting.force[p, 2])  # (12.4)
        pushed[0], pushed[1], pushed[2] = s * a, s * b, s * c
        force = load(pushed, 0)
        for l in range(r):
            acting.Q[at + l] += lane_sum(load(patches.modes, mode + SHAPE * l) * force)
        x, y, z = acting.arm[p, 0], acting.arm[p, 1], acting.arm[p, 2]
        acting.wrench[k, 0] += y * c - z * b  # (12.4)
        acting.wrench[k, 1] += z * a - x * c
        acting.wrench[k, 2] += x * b - y * a
        acting.wrench[k, 3] += a
        acting.wrench[k, 4] += b
        acting.wrench[k, 5] += c


@compiled(borrows=True)
def look_ahead(acting, ahead):
    """Move the state on by a time [s], at constant velocities."""
    for l in range(len(acting.q)):
        acting.q[l] += ahead * acting.v[l]
    frame, w, s = acting.frame, acting.velocity, 0.5 * ahead
    for i in range(3):
        frame[i] += ahead * w[i]
    turn = (1.0, s * w[3], s * w[4], s * w[5])
    turned = quaternion_normalise(quaternion_multiply((frame[3], frame[4], frame[5], frame[6]), turn))
    for i in range(4):
        frame[3 + i] = turned[i]


@compiled
def find_forces(acting, forces, t, ahead):
    """Q and push of forces (p, 3) [N] on the points of loads, and of all winds, a time `ahead` [s] after t [s]."""
    keep_whole()
    look_ahead(acting, ahead)
    chain, frames = acting.chain, acting.frames
    acting.Q[:] = 0.0
    acting.wrench[:] = 0.0
    kinematics.compute_frames(chain, acting.q, acting.frame, frames)
    kinematics.compute_local(chain, acting.q, acting.y)
    if len(acting.winds.half) > 0:
        shape, rate = np.empty(SHAPE), np.empty(LANES)
        kinematics.compute_rates(chain, frames, acting.v, acting.velocity, acting.u, acting.w)
        for k in range(len(chain.parent)):
            place_patches(acting, k, shape, rate)
        for number in range(len(acting.winds.half)):
            blow(acting, number, t + ahead)
    pulled, pushed = np.zeros(kinematics.FIT), np.zeros(LANES)
    for k in range(len(chain.parent) - 1, -1, -1):
        kinematics.pull_points(chain, frames, k, acting.y, forces, acting.Q, acting.wrench)
        pull_patches(acting, k, pushed)
        if k > 0:
            kinematics.pull_parent(chain, frames, k, pulled, acting.Q, acting.wrench)
    root = acting.wrench
    for c in range(2):
        a, b, d = times(frames.R, 0, root[0, 3 - 3 * c], root[0, 4 - 3 * c], root[0, 5 - 3 * c])
        acting.push[3 * c], acting.push[3 * c + 1], acting.push[3 * c + 2] = a, b, d


@compiled
def bring_forces(acting, forces, t, ahead, workspace, root):
    """What acts a time `ahead` [s] from now, t [s], into the workspace and the root."""
    for l in range(len(acting.places)):
        acting.q[l], acting.v[l] = workspace.q[acting.places[l]], workspace.v[acting.places[l]]
    acting.frame[:3], acting.frame[3:] = root.x, root.rotation
    acting.velocity[:3], acting.velocity[3:] = root.velocity, root.spin
    find_forces(acting, forces, t, ahead)
    for l in range(len(acting.places)):
        workspace.load_q[acting.places[l]] = acting.Q[l]
    root.push[:] = acting.push


@compiled
def acting_stride(
    tree, workspace, root, numbers, gravity, steps, limit, team, kept, acting, forces, starts, marked_out, changes_out
):  # fmt: skip
    """Calls as of `stride_kernels.stride`; forces (calls, p, 3) [N] on the points of loads, calls begin at `starts`
    [s]."""
    found, ahead = np.empty(4), 0.5 * steps * numbers.h
    for call in range(len(changes_out)):
        keep(workspace, root, kept)
        bring_forces(acting, forces[call], starts[call], ahead, workspace, root)
        changes_out[call] = take_call(tree, workspace, root, numbers, gravity, steps, limit, team, kept, found)
        if changes_out[call] < 0.0:
            return call
        mark(workspace, root, marked_out, call + 1)
    return len(changes_out)
