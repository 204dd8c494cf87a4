"""Many steps of a lattice in one call, on one thread or several: which phase of a step follows which.

    contacts of voxels; laws of links; stages of damping; the sweep itself

What each phase does is in the modules that `team_kernels` names; how threads share it, there. Where there are several,
the functions here are what the leader of the thread team does, beside those at the end, which bring the team together.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.compiling.thread_team import STARTED, assemble, dismiss
from supple.bodies.voxel.sweep.brick_data import PARTS
from supple.bodies.voxel.sweep.team_kernels import (
    CALM,
    COUPLE,
    FIND,
    MEASURE,
    PEAKS,
    PREPARE,
    PUSH,
    SHIFT,
    SWEEPS,
    assist,
    open_turns,
    share,
    sweep_steps,
)
from supple.bodies.voxel.touching.collision_kernels import (
    AT_ONCE,
    LISTED,
    TOUCHING,
    add_pushes,
    end_pushes,
    is_list_good,
    renew_list,
)
from supple.bodies.voxel.touching.joint_kernels import begin_joints, close_joints
from supple.bodies.voxel.touching.surface_contact_kernels import add_surfaces, clear_surfaces


@compiled(borrows=True)
def shift_links(bricks, slabs, laws, damping, contacts, step, n, members):
    """Laws of links before step n; returns in how many bricks links failed."""
    count, failures = len(slabs.start) - 1, 0
    share(bricks, slabs, laws, damping, contacts, step, MEASURE, n, count, members)
    if laws.coupling.size > 0:
        share(bricks, slabs, laws, damping, contacts, step, COUPLE, n, count, members)
        share(bricks, slabs, laws, damping, contacts, step, SHIFT, n, count, members)
    for slab in range(count):
        failures += laws.failures[slab]
    return failures


@compiled(borrows=True)
def move(bricks, slabs, laws, damping, contacts, step, n, members):
    """Stages of damping and the sweep of step n, with the loads that bricks have; returns as `shift_links`."""
    failures = 0
    if bricks.shifts.size > 0:
        failures = shift_links(bricks, slabs, laws, damping, contacts, step, n, members)
    sweep_steps(bricks, slabs, laws, damping, contacts, step, SWEEPS, n, n + 1, members)
    return failures


@compiled(borrows=True)
def collide(bricks, slabs, laws, damping, contacts, step, n, members):
    """Renew the loads by contacts at the start of a step; returns how many pairs lack workspace, zero when done."""
    memory = contacts.memory
    is_good = is_list_good(slabs, contacts, step.dt)
    if is_good and memory[LISTED] == 0:
        return 0
    share(bricks, slabs, laws, damping, contacts, step, PREPARE, n, PARTS, members)
    memory[TOUCHING] = 0.0
    if not is_good:
        lacking = renew_list(contacts)
        if lacking > 0:
            return lacking
    share(bricks, slabs, laws, damping, contacts, step, FIND, n, PARTS, members)
    share(bricks, slabs, laws, damping, contacts, step, PUSH, n, PARTS, members)
    end_pushes(contacts)
    for slab in range(len(slabs.start) - 1 if memory[AT_ONCE] > 0 else 0):
        add_pushes(bricks.loads, slabs, contacts, slab)
    return 0


@compiled
def advance(bricks, slabs, laws, damping, step, first, count, members):
    """Steps first to count; returns the step it came to, earlier than count where links failed."""
    slabs.team[STARTED] = 1
    open_turns(bricks, slabs, damping, first)
    if bricks.shifts.size == 0:
        sweep_steps(bricks, slabs, laws, damping, None, step, SWEEPS, first, count, members)
        return count
    for n in range(first, count):
        if move(bricks, slabs, laws, damping, None, step, n, members) > 0:
            return n + 1
    return count


@compiled
def advance_colliding(bricks, slabs, laws, damping, contacts, run, joints, step, first, count, members):
    """Steps first to count; returns the step it came to, and how many pairs lacked workspace there.

    run: contacts with surfaces of other bodies, joints: what holds voxels; each or None.

    It stops early, without lacking anything, after a step in which links failed.
    """
    slab_count = len(slabs.start) - 1
    slabs.team[STARTED] = 1
    open_turns(bricks, slabs, damping, first)
    share(bricks, slabs, laws, damping, contacts, step, PEAKS, first, slab_count, members)
    is_alone = run is None and joints is None
    contacts.memory[AT_ONCE] = 0.0 if is_alone else 1.0
    n = first
    while n < count:
        if run is not None:
            clear_surfaces(run, contacts.base, bricks.loads)
        lacking = collide(bricks, slabs, laws, damping, contacts, step, n, members)
        if lacking > 0:
            return n, lacking
        if is_alone and bricks.shifts.size == 0 and contacts.memory[LISTED] == 0:
            n = sweep_steps(bricks, slabs, laws, damping, contacts, step, CALM, n, count, members)
            continue
        if joints is not None:
            begin_joints(bricks.state, joints, step, n)
        if run is not None:
            add_surfaces(bricks.state, run, step.dt, bricks.loads)
        failures = move(bricks, slabs, laws, damping, contacts, step, n, members)
        n += 1
        if joints is not None:
            close_joints(bricks.state, joints, step.dt)
            open_turns(bricks, slabs, damping, n)
            share(bricks, slabs, laws, damping, contacts, step, PEAKS, n - 1, slab_count, members)
        if failures > 0:
            return n, 0
    return count, 0


@compiled(parallel=True)
def advance_together(bricks, slabs, laws, damping, step, first, count, members):
    """`advance` by so many threads."""
    reached = np.zeros(1, dtype=np.int64)
    assemble(slabs.team)
    for member in numba.prange(members):
        if member == 0:
            reached[0] = advance(bricks, slabs, laws, damping, step, first, count, members)
            dismiss(slabs.team)
        else:
            assist(bricks, slabs, laws, damping, None, step, np.int64(member), members)
    return reached[0]


@compiled(parallel=True)
def advance_colliding_together(bricks, slabs, laws, damping, contacts, run, joints, step, first, count, members):
    """`advance_colliding` by so many threads."""
    found = np.zeros(2, dtype=np.int64)
    assemble(slabs.team)
    for member in numba.prange(members):
        if member == 0:
            reached, lacking = advance_colliding(
                bricks, slabs, laws, damping, contacts, run, joints, step, first, count, members
            )
            found[0], found[1] = reached, lacking
            dismiss(slabs.team)
        else:
            assist(bricks, slabs, laws, damping, contacts, step, np.int64(member), members)
    return found[0], found[1]
