"""Phases of a lattice's step that threads share: by slabs, or by parts of the contacts.

A call enters one parallel region. Its threads are a thread team (`thread_team`), which shares each phase by items, and
the next phase begins when all items are done. Whoever does an item runs the same instructions, no two items of a phase
write the same numbers, and what slabs owe each other is done by claims (`border_kernels`): so the result has the same
bits for any number of threads.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.thread_team import (
    COUNT,
    NUMBER,
    ROUND,
    TASKS,
    WAY,
    await_task,
    claim,
    close_task,
    leave_task,
    open_task,
)
from supple.bodies.voxel.sweep.damping_kernels import damp_slab
from supple.bodies.voxel.sweep.shift_kernels import couple_slab, measure_slab, shift_slab
from supple.bodies.voxel.sweep.step_kernels import measure_peaks, sweep_slab
from supple.bodies.voxel.touching.collision_kernels import find_part, prepare_part, push_part

MEASURE, COUPLE, SHIFT, DAMP, SWEEP, PEAKS, PREPARE, FIND, PUSH = (np.int64(k) for k in range(9))
"""Phases: laws of links; stages of damping, and the sweep; the fastest voxel, and contacts of voxels."""


@compiled(borrows=True)
def treat(bricks, slabs, laws, damping, contacts, step, phase, stage, n, item):
    """Do one item of a phase of step n; stage: of the damping. contacts: or None."""
    keep_whole()
    if phase == SWEEP:
        sweep_slab(bricks, slabs, damping, item, n, step)
    elif phase == DAMP:
        damp_slab(bricks, slabs, damping, item, n, stage)
    elif phase == MEASURE:
        measure_slab(bricks, slabs, laws, item)
    elif phase == COUPLE:
        couple_slab(bricks, slabs, laws, item)
    elif phase == SHIFT:
        shift_slab(bricks, slabs, laws, item)
    if contacts is not None:
        if phase == PREPARE:
            prepare_part(bricks.state, bricks.loads, contacts, item)
        elif phase == FIND:
            find_part(contacts, item)
        elif phase == PUSH:
            push_part(bricks.state, contacts, step.dt, item)
        elif phase == PEAKS:
            measure_peaks(bricks, slabs, item)


@compiled(borrows=True)
def work_off(bricks, slabs, laws, damping, contacts, step, member, members):
    """Items of the present phase, as a member of the thread team, until none is left."""
    team = slabs.team
    phase, stage, n, count, number = team[WAY], team[ROUND], team[TASKS], team[COUNT], team[NUMBER]
    item = count * member // members
    for _ in range(count):
        if claim(team, item, number):
            treat(bricks, slabs, laws, damping, contacts, step, phase, stage, n, item)
        item += 1
        if item == count:
            item = 0


@compiled(borrows=True)
def assist(bricks, slabs, laws, damping, contacts, step, member, members):
    """What a member of the thread team does that does not lead."""
    last = 0
    while True:
        last = await_task(slabs.team, last)
        if last < 0:
            break
        work_off(bricks, slabs, laws, damping, contacts, step, member, members)
        leave_task(slabs.team)


@compiled(borrows=True)
def share(bricks, slabs, laws, damping, contacts, step, phase, stage, n, count, members):
    """So many items of a phase, with the other members where there are any."""
    if members > 1 and count > 1:
        open_task(slabs.team, phase, stage, n, 0, count)
        work_off(bricks, slabs, laws, damping, contacts, step, np.int64(0), members)
        close_task(slabs.team)
    else:
        for item in range(count):
            treat(bricks, slabs, laws, damping, contacts, step, phase, stage, n, item)
