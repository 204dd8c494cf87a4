"""Loads and winds on a tree before each call of its steps, as kernels.

Loads are brought to its coordinates by virtual work. A wind acts on coordinates and as wrenches on domains, see
`wind_kernels`. What acts stays as it is during a call, where wrenches turn with their domains.

They are those in the middle of the call, where the tree is by constant velocities: at its start they would lag half a
call behind, an error of first order, which weighs more than all others of an oak in the wind.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.bodies.tree.step.stride_kernels import keep, mark, take_call
from supple.bodies.tree.surface import kinematics_kernels as kinematics
from supple.bodies.tree.surface.kinematics_kernels import Chain, Frames, times
from supple.solvers.coupling.trees.wind_kernels import blow, turn_ahead
from supple.solvers.coupling.trees.wind_kernels import look_ahead as look_ahead_in_lanes

Array = np.ndarray


class Acting(NamedTuple):
    """chain: the domains on which loads act and those that carry them, with the points of loads; number (n,): of
    their coordinates among all, places (n,): of these in the kernels' vectors.

    State: q (n,), v (n,), frame (7,), velocity (6,). Found: Q (n,), push (6,): force at the root's origin and torque,
    in world axes. Scratch: frames, y (p, 3), wrench (d, 6).
    """

    chain: Chain
    number: Array
    places: Array
    q: Array
    v: Array
    frame: Array
    velocity: Array
    Q: Array
    push: Array
    frames: Frames
    y: Array
    wrench: Array


@compiled(borrows=True)
def look_ahead(acting, ahead):
    """Move the state on by a time [s], at constant velocities."""
    for l in range(len(acting.q)):
        acting.q[l] += ahead * acting.v[l]
    turn_ahead(acting.frame, acting.velocity, ahead)


@compiled
def find_forces(acting, forces, ahead):
    """Q and push of forces (p, 3) [N] on the points of loads, a time `ahead` [s] from now."""
    keep_whole()
    look_ahead(acting, ahead)
    chain, frames = acting.chain, acting.frames
    acting.Q[:] = 0.0
    acting.wrench[:] = 0.0
    kinematics.compute_frames(chain, acting.q, acting.frame, frames)
    kinematics.compute_local(chain, acting.q, acting.y)
    kinematics.add_pulled(chain, frames, acting.y, forces, acting.Q, acting.wrench)
    push_root(frames, acting.wrench, acting.push)


@compiled(borrows=True)
def push_root(frames, wrench, push_out):
    """Force and torque in world axes of the root's wrench."""
    for c in range(2):
        a, b, d = times(frames.R, 0, wrench[0, 3 - 3 * c], wrench[0, 4 - 3 * c], wrench[0, 5 - 3 * c])
        push_out[3 * c], push_out[3 * c + 1], push_out[3 * c + 2] = a, b, d


@compiled
def pull_wrenches(chain, frames, q, frame, wrench, Q_out, push_out):
    """Wrenches (d, 6) on all domains of a chain, brought to its coordinates q (n,) and its root's frame (7,); changes
    them."""
    kinematics.compute_frames(chain, q, frame, frames)
    pulled = np.zeros(kinematics.FIT)
    for k in range(len(chain.parent) - 1, 0, -1):
        kinematics.pull_parent(chain, frames, k, pulled, Q_out, wrench)
    push_root(frames, wrench, push_out)


@compiled
def bring_winds(tree, blown, t, ahead, workspace, root):
    """What winds do a time `ahead` [s] from now, t [s], into the workspace."""
    blown.frame[:3], blown.frame[3:] = root.x, root.rotation
    blown.velocity[:3], blown.velocity[3:] = root.velocity, root.spin
    look_ahead_in_lanes(blown, workspace.q, workspace.v, ahead)
    blow(tree, blown, t + ahead)
    workspace.load_q[:], workspace.load_w[:] = blown.Q, blown.wrench


@compiled
def bring_forces(acting, forces, ahead, workspace, root):
    """What loads do a time `ahead` [s] from now, added to what is in the workspace, and into the root."""
    for l in range(len(acting.places)):
        acting.q[l], acting.v[l] = workspace.q[acting.places[l]], workspace.v[acting.places[l]]
    acting.frame[:3], acting.frame[3:] = root.x, root.rotation
    acting.velocity[:3], acting.velocity[3:] = root.velocity, root.spin
    find_forces(acting, forces, ahead)
    for l in range(len(acting.places)):
        workspace.load_q[acting.places[l]] += acting.Q[l]
    root.push[:] = acting.push


@compiled
def acting_stride(
    tree, workspace, root, numbers, gravity, steps, limit, team, kept, blown, acting, forces, starts, marked_out,
    changes_out,
):  # fmt: skip
    """Calls as of `stride_kernels.stride`; forces (calls, p, 3) [N] on the points of loads, calls begin at `starts`
    [s]."""
    found, ahead = np.empty(4), 0.5 * steps * numbers.h
    for call in range(len(changes_out)):
        keep(workspace, root, kept)
        if len(blown.winds.half) > 0:
            bring_winds(tree, blown, starts[call], ahead, workspace, root)
        else:
            workspace.load_q[:] = 0.0
        if forces.shape[1] > 0:
            bring_forces(acting, forces[call], ahead, workspace, root)
        changes_out[call] = take_call(tree, workspace, root, numbers, gravity, steps, limit, team, kept, found)
        if changes_out[call] < 0.0:
            return call
        mark(workspace, root, marked_out, call + 1)
    return len(changes_out)
