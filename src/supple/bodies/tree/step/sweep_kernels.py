"""Ways through a tree: what is done to which groups and interfaces in which order, by one thread or several.

Groups with interfaces are gone through level by level, outwards for frames and the substitution, inwards for the
elimination: first or last each group as such, and its interfaces by parts. All other groups, the leaves, are visited
together: a leaf is asked for its frames by its own elimination alone, so that where nothing comes between, a visit
finishes the pass before, takes the forces where they are new, finds the frames and eliminates, while it is in the
cache.

Threads share parts and groups as a thread team (`algebra.thread team`); what they do to each does not depend on who
does it, and sums are taken in a fixed order, so the result has the same bits for any number of them.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.thread_team import (
    COUNT,
    FIRST,
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
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.layout import group_rows, part_count, scratch_rows, sum_rows
from supple.bodies.tree.step.effective_kernels import change_forces, compute_forces
from supple.bodies.tree.step.elimination_kernels import (
    add_interfaces,
    begin_group,
    finish_group,
    substitute_group,
    substitute_interfaces,
)
from supple.bodies.tree.step.frame_kernels import compute_fit, compute_interface, compute_spins
from supple.bodies.tree.step.inertia_kernels import compute_inertia, compute_own_inertia
from supple.bodies.tree.step.momentum_kernels import add_momenta, begin_momentum, finish_momentum

SUBSTITUTE, FRAMES, FORCES, CHANGE, ELIMINATE, MOMENTUM, START = (np.int64(task) for task in (1, 2, 4, 8, 16, 32, 64))
"""What is to be done, in this order where it is done in one visit. Not plain integers: kernels that are called with
different ones would be compiled for each. CHANGE: forces from those of the first pass; START: FORCES are these."""
LEAVES, BEARERS, INTERFACES = 0, 1, 2
"""Items of an order: pieces of `tree.order`, groups with interfaces being asked for forces alone; such groups;
parts."""
OUTWARDS, TOGETHER, INWARDS = (np.int64(way) for way in (0, 1, 2))
"""Ways through a tree: its groups with interfaces from the root, or to it; all others, and the forces of all."""


class Work(NamedTuple):
    """What all sweeps of a step have in common: the thread team and its members, coupling, k² and k of the step."""

    team: np.ndarray
    members: int
    coupling: int
    by_q: float
    by_v: float


@compiled(inline=True)
def order_of(tree, way, round, todo):
    """Kind, first item and end of an order of a way, of which there are `rounds_of`."""
    levels = len(tree.level_start) - 1
    level = round // 2 if way == OUTWARDS else levels - 1 - round // 2
    if way == TOGETHER:
        return LEAVES, 0 if todo & (FORCES + CHANGE) else tree.level_bearer[levels], len(tree.piece_start) - 1
    if (round % 2 == 0) == (way == OUTWARDS):
        return BEARERS, tree.level_bearer[level], tree.level_bearer[level + 1]
    return INTERFACES, tree.level_part[level], tree.level_part[level + 1]


@compiled(inline=True)
def rounds_of(tree, way):
    """Orders of a way, one after the other."""
    return 1 if way == TOGETHER else 2 * (len(tree.level_start) - 1)


@compiled(borrows=True)
def treat(tree, workspace, way, round, item, todo, coupling, by_q, by_v, free):
    """Do what is to be done to one item of an order of a way; to all items of all its orders where item < 0.

    free: the thread's scratch.
    """
    keep_whole()
    shared, own = tree.shared, tree.own
    begin, end = (0, rounds_of(tree, way)) if item < 0 else (round, round + 1)
    for number in range(begin, end):
        kind, first, last = order_of(tree, way, number, todo)
        if item >= 0:
            first, last = item, item + 1
        if kind == LEAVES and last > first:
            first, last = tree.piece_start[first], tree.piece_start[last]
        for n in range(first, last):
            g = tree.part_group[n] if kind == INTERFACES else tree.order[n]
            part = tree.part_number[n] if kind == INTERFACES else 0
            interfaces, r = tree.group_interfaces[g], tree.class_r[tree.group_class[g]]
            is_shared = tree.group_class[g] < len(tree.lone_starts)
            base, rows = tree.group_work[g], group_rows(r, interfaces)
            now = todo & (FORCES + CHANGE + START) if kind == LEAVES and interfaces > 0 else todo
            parts = max(part_count(interfaces), 1)
            from_interface, to_interface = part * interfaces // parts, (part + 1) * interfaces // parts
            if kind == INTERFACES:
                if now & SUBSTITUTE:
                    if is_shared:
                        substitute_interfaces(tree, workspace, shared, g, from_interface, to_interface, free)
                    else:
                        substitute_interfaces(tree, workspace, own, g, from_interface, to_interface, free)
                if now & FRAMES:
                    for k in range(from_interface, to_interface):
                        if is_shared:
                            compute_fit(tree, workspace, shared, g, k)
                        else:
                            compute_fit(tree, workspace, own, g, k)
                        compute_interface(tree, workspace, g, k, free)
            else:
                if now & SUBSTITUTE:
                    substitute_group(tree, workspace, by_q, by_v, g, free)
                if now & FRAMES:
                    compute_spins(tree, workspace, g)
                if r > 0 and (now & FORCES or (now & CHANGE and tree.group_changes[g] == 0)):
                    compute_forces(tree, workspace, by_q, by_v, free, g, now & START > 0)
                elif now & CHANGE and r > 0:
                    change_forces(tree, workspace, by_q, by_v, free, g)
            sums = base + LANES * (rows.sums + part * sum_rows(r).size)
            if interfaces == 0:
                sums = free + LANES * (scratch_rows(r).sums - sum_rows(r).coupling)
            if now & MOMENTUM:
                if interfaces == 0 or (kind == INTERFACES and part == 0):
                    if is_shared:
                        begin_momentum(tree, workspace, shared, False, g, free, sums)
                    else:
                        begin_momentum(tree, workspace, own, True, g, free, sums)
                if kind == INTERFACES and is_shared:
                    add_momenta(tree, workspace, shared, g, from_interface, to_interface, sums, free)
                elif kind == INTERFACES:
                    add_momenta(tree, workspace, own, g, from_interface, to_interface, sums, free)
                else:
                    finish_momentum(tree, workspace, g, sums)
            if now & ELIMINATE:
                if interfaces == 0 or (kind == INTERFACES and part == 0):
                    H = sums + LANES * sum_rows(r).coupling
                    if is_shared:
                        compute_inertia(tree, workspace, shared, g, free, H)
                    else:
                        compute_own_inertia(tree, workspace, own, g, free, H)
                    begin_group(tree, workspace, coupling, g, free, sums)
                if kind == INTERFACES and is_shared:
                    add_interfaces(tree, workspace, shared, coupling, g, from_interface, to_interface, sums, free)
                elif kind == INTERFACES:
                    add_interfaces(tree, workspace, own, coupling, g, from_interface, to_interface, sums, free)
                elif finish_group(tree, workspace, coupling, g, sums) >= 0:
                    workspace.bad[g] = 1.0


@compiled(borrows=True)
def work_off(tree, workspace, work, member):
    """Items of the present order, as a member of a thread team, until none is left."""
    team = work.team
    way, round, todo, first, count = team[WAY], team[ROUND], team[TASKS], team[FIRST], team[COUNT]
    item, free = count * member // work.members, tree.scratch_start[member]
    for _ in range(count):
        if claim(team, item, team[NUMBER]):
            treat(tree, workspace, way, round, first + item, todo, work.coupling, work.by_q, work.by_v, free)
        item += 1
        if item == count:
            item = 0


@compiled(borrows=True)
def assist(tree, workspace, team, member, members, coupling, by_q, by_v):
    """What a member of a thread team does that does not lead."""
    last, work = 0, Work(team, members, coupling, by_q, by_v)
    while True:
        last = await_task(team, last)
        if last < 0:
            break
        work_off(tree, workspace, work, member)
        leave_task(team)


@compiled(borrows=True)
def sweep(tree, workspace, work, way, todo):
    """Do what is to be done along a way through the tree."""
    is_shared, free = work.members > 1, tree.scratch_start[0]
    for round in range(rounds_of(tree, way) if is_shared else 1):
        kind, first, last = order_of(tree, way, round, todo)
        is_short = last - first == 1 or (kind == BEARERS and way == OUTWARDS)  # not worth being shared
        if is_shared and not is_short and last > first:
            open_task(work.team, way, round, todo, first, last - first)
            work_off(tree, workspace, work, np.int64(0))
            close_task(work.team)
            continue
        for item in range(first if is_shared else -1, last if is_shared else 0):
            treat(tree, workspace, way, round, item, todo, work.coupling, work.by_q, work.by_v, free)
