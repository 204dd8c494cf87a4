"""Phases of a lattice's step that threads share: by slabs, or by parts of the contacts.

A call enters one parallel region. Its threads are a thread team (`thread_team`), which shares each phase by items, and
the next phase begins when all items are done. Whoever does an item runs the same instructions, and no two items of a
phase write the same numbers: so the result has the same bits for any number of threads.

The sweep and its stages of damping are one phase of many steps: each member goes on with the slabs of its own, and
slabs wait for their neighbours alone, see `border_kernels`. A slab whose member does not come is taken by another
member, which never goes on to a sweep before all slabs are begun in the one before: so what a slab waits for is always
on its way.
"""

# mypy: ignore-errors
from __future__ import annotations

import numpy as np

from supple.algebra.compiling.aligned_stack import align_stack
from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.thread_team import (
    COUNT,
    FIRST,
    NUMBER,
    TASKS,
    WAY,
    atomic_add,
    atomic_max,
    atomic_read,
    atomic_write,
    await_task,
    claim,
    close_task,
    leave_task,
    open_task,
    pause,
)
from supple.bodies.voxel.sweep.border_kernels import await_slab, begin_slab, open_borders, sweep_number
from supple.bodies.voxel.sweep.brick_data import LINE
from supple.bodies.voxel.sweep.damping_kernels import damp_slab
from supple.bodies.voxel.sweep.shift_kernels import couple_slab, measure_slab, shift_slab
from supple.bodies.voxel.sweep.step_kernels import measure_peaks, sweep_slab
from supple.bodies.voxel.touching.collision_kernels import (
    add_later,
    find_part,
    is_list_good,
    prepare_part,
    push_part,
)

MEASURE, COUPLE, SHIFT, SWEEPS, CALM, PEAKS, PREPARE, FIND, PUSH = (np.int64(k) for k in range(9))
"""Phases: laws of links; sweeps with their stages of damping, all steps or as long as no voxels may meet; the fastest
voxel, and contacts of voxels."""
BEGUN, DONE, AWAY, SENDING = range(4)
"""Words of a slab's turn: the sweep that was begun last, the one that was done; whether its member was not there; the
sweep for which the loads across its borders were begun last."""
ENDED, JUDGED, REACHED = 0, LINE, LINE + 1
"""Words after those of the slabs: how many turns have ended in calm steps; up to which sweep it is known whether the
steps are calm, and the step that no longer is."""
PATIENCE = 1000
"""Looks, some 30 µs, after which a member takes a slab that another one has not begun."""


@compiled(borrows=True)
def treat(bricks, slabs, laws, damping, contacts, step, phase, n, item):
    """Do one item of a phase of step n. contacts: or None."""
    keep_whole()
    align_stack()
    if phase == MEASURE:
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


@compiled(inline=True)
def begin_turn(slabs, slab, word, number):
    """Whether this member is to do what belongs to a word of a slab's turn, in the sweep of that number."""
    at = slab * LINE + word
    return atomic_read(slabs.turns, at) < number and atomic_max(slabs.turns, at, number) < number


@compiled(inline=True)
def await_turn(slabs, slab, number):
    """Have a slab's turn done in the sweep of that number."""
    while atomic_read(slabs.turns, slab * LINE + DONE) < number:
        pause()


@compiled(borrows=True)
def send_slab(bricks, slabs, damping, slab, stage, number):
    """Send the loads across the borders above a slab, unless another member does; returns whether it does."""
    if begin_turn(slabs, slab, SENDING, number):
        await_turn(slabs, slab, number - 1)
        begin_slab(bricks, slabs, damping, slab, stage, number)
        return False
    return True


@compiled(borrows=True)
def take_turn(bricks, slabs, damping, contacts, step, phase, slab, n, count, stage, number):
    """A slab's turn in a stage of step n, or in its sweep."""
    keep_whole()
    align_stack()
    if send_slab(bricks, slabs, damping, slab, stage, number):
        await_slab(slabs, slab, number)
        await_turn(slabs, slab, number - 1)
    if stage < len(damping.before):
        damp_slab(bricks, slabs, damping, slab, n, stage)
    else:
        if contacts is not None:
            add_later(bricks.loads, slabs, contacts, slab)
        sweep_slab(bricks, slabs, damping, slab, n, step)
    atomic_write(slabs.turns, slab * LINE + DONE, number)
    if contacts is not None:
        is_judged = phase == CALM and stage == len(damping.before)
        if is_judged:
            judge(slabs, contacts, step.dt, n, count, number)


@compiled(inline=True)
def is_left(slabs, slab, number, looks, patience):
    """Whether nobody will soon begin a slab's turn that is due."""
    if atomic_read(slabs.turns, slab * LINE + DONE) < number - 1:
        return False
    return looks > patience or atomic_read(slabs.turns, slab * LINE + AWAY) > 0


@compiled(borrows=True)
def judge(slabs, contacts, dt, n, count, number):
    """At the end of a turn of step n: whoever ends the last one says whether the next step is calm."""
    slab_count = len(slabs.start) - 1
    at = slab_count * LINE
    if (atomic_add(slabs.turns, at + ENDED, 1) + 1) % slab_count == 0:
        if n + 1 == count or not is_list_good(slabs, contacts, dt):
            slabs.turns[at + REACHED] = n + 1
        atomic_write(slabs.turns, at + JUDGED, number)


@compiled(inline=True)
def is_calm(slabs, n, number):
    """Whether step n + 1 is, once all turns of step n have ended."""
    at = (len(slabs.start) - 1) * LINE
    while atomic_read(slabs.turns, at + JUDGED) < number:
        pause()
    return slabs.turns[at + REACHED] > n + 1


@compiled(borrows=True)
def sweep_together(bricks, slabs, damping, contacts, step, phase, first, count, member, members):
    """Steps first to count with their stages, as a member of the thread team: the slabs of its own, and those that
    their members leave. Loads across borders are sent before, since a slab above waits for them."""
    slab_count = len(slabs.start) - 1
    own, after = slab_count * member // members, slab_count * (member + 1) // members
    patience = 0  # in the first turn: the others had one of this member's to come
    for n in range(first, count):
        for stage in range(len(damping.before) + 1):
            number = sweep_number(damping, n, stage)
            for slab in range(own, after):
                send_slab(bricks, slabs, damping, slab, stage, number)
            for slab in range(own, after):
                if begin_turn(slabs, slab, BEGUN, number):
                    if atomic_read(slabs.turns, slab * LINE + AWAY) > 0:
                        atomic_write(slabs.turns, slab * LINE + AWAY, 0)
                    take_turn(bricks, slabs, damping, contacts, step, phase, slab, n, count, stage, number)
            for slab in range(slab_count):
                looks = 0
                while atomic_read(slabs.turns, slab * LINE + BEGUN) < number:
                    if is_left(slabs, slab, number, looks, patience) and begin_turn(slabs, slab, BEGUN, number):
                        atomic_write(slabs.turns, slab * LINE + AWAY, 1)
                        take_turn(bricks, slabs, damping, contacts, step, phase, slab, n, count, stage, number)
                    pause()
                    looks += 1
            patience = PATIENCE
        if contacts is not None:
            goes_on = phase != CALM or is_calm(slabs, n, number)
            if not goes_on:
                break


@compiled(borrows=True)
def open_turns(bricks, slabs, damping, n):
    """Before the first stage of step n, whatever happened before: no turn of it has been taken."""
    number = sweep_number(damping, n, 0)
    for slab in range(len(slabs.start) - 1):
        slabs.turns[slab * LINE + BEGUN], slabs.turns[slab * LINE + DONE] = number - 1, number - 1
        slabs.turns[slab * LINE + AWAY], slabs.turns[slab * LINE + SENDING] = 0, number - 1
    at = (len(slabs.start) - 1) * LINE
    slabs.turns[at + ENDED], slabs.turns[at + JUDGED] = 0, number - 1
    open_borders(bricks, slabs, number)


@compiled(borrows=True)
def sweep_steps(bricks, slabs, laws, damping, contacts, step, phase, first, count, members):
    """Steps first to count with their stages, with the other members where there are any; returns the step it came to,
    earlier than count where a step is no longer calm."""
    at = (len(slabs.start) - 1) * LINE + REACHED
    slabs.turns[at] = count + 1
    if members > 1:
        open_task(slabs.team, phase, 0, first, count, 0)
        sweep_together(bricks, slabs, damping, contacts, step, phase, first, count, np.int64(0), members)
        close_task(slabs.team)
    else:
        sweep_together(bricks, slabs, damping, contacts, step, phase, first, count, np.int64(0), np.int64(1))
    return min(slabs.turns[at], count)


@compiled(borrows=True)
def work_off(bricks, slabs, laws, damping, contacts, step, member, members):
    """Items of the present phase, as a member of the thread team, until none is left."""
    team = slabs.team
    phase, n, count, number = team[WAY], team[TASKS], team[COUNT], team[NUMBER]
    if phase in (SWEEPS, CALM):
        sweep_together(bricks, slabs, damping, contacts, step, phase, n, team[FIRST], member, members)
    item = count * member // members
    for _ in range(count):
        if claim(team, item, number):
            treat(bricks, slabs, laws, damping, contacts, step, phase, n, item)
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
def share(bricks, slabs, laws, damping, contacts, step, phase, n, count, members):
    """So many items of a phase, with the other members where there are any."""
    if members > 1 and count > 1:
        open_task(slabs.team, phase, 0, n, 0, count)
        work_off(bricks, slabs, laws, damping, contacts, step, np.int64(0), members)
        close_task(slabs.team)
    else:
        for item in range(count):
            treat(bricks, slabs, laws, damping, contacts, step, phase, n, item)
