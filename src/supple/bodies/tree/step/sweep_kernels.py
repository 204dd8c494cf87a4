"""Ways through a tree: what is done to which groups and ports in which order, by one thread or several.

Groups with ports are gone through level by level, outwards for frames and the substitution, inwards for the
elimination: first or last each group as such, and its ports by parts. All other groups, the leaves, are visited
together: a leaf is asked for its frames by its own elimination alone, so that where nothing comes between, a visit
finishes the pass before, takes the forces where they are new, finds the frames and eliminates, while it is in the
cache.

Threads share parts and groups as a crew (`algebra.crew`); what they do to each does not depend on who does it, and
sums are taken in a fixed order, so the result has the same bits for any number of them.
"""

# mypy: ignore-errors
from __future__ import annotations

from supple.algebra.compiling.compiled import compiled, keep_whole
from supple.algebra.compiling.thread_team import (
    COUNT,
    FIRST,
    NUMBER,
    ROUND,
    TASKS,
    WAY,
    await_order,
    claim,
    close_order,
    leave_order,
    open_order,
)
from supple.algebra.lanes.lane_type import LANES
from supple.bodies.tree.domains.constants import Constants
from supple.bodies.tree.domains.layout import group_rows, part_count, room_rows, sum_rows
from supple.bodies.tree.step.effective_kernels import compute_forces
from supple.bodies.tree.step.elimination_kernels import (
    add_ports,
    begin_group,
    finish_group,
    substitute_group,
    substitute_ports,
)
from supple.bodies.tree.step.frame_kernels import compute_fit, compute_inertia, compute_port, compute_spins
from supple.modal.forces.lone_force_kernels import LoneArrays
from supple.modal.interfaces.interface_kernels import FitArrays

SUBSTITUTE, FRAMES, FORCES, ELIMINATE = 1, 2, 4, 8
"""What is to be done, in this order where it is done in one visit."""
LEAVES, BEARERS, PORTS = 0, 1, 2
"""Items of an order: pieces of `tree.order`, groups with ports being asked for forces alone; such groups; parts."""
OUTWARDS, TOGETHER, INWARDS = 0, 1, 2
"""Ways through a tree: its groups with ports from the root, or to it; all others, and the forces of all."""


@compiled(inline=True)
def order_of(tree, way, round, todo):
    """Kind, first item and end of an order of a way, of which there are `rounds_of`."""
    levels = len(tree.level_start) - 1
    level = round // 2 if way == OUTWARDS else levels - 1 - round // 2
    if way == TOGETHER:
        return LEAVES, 0 if todo & FORCES else tree.level_bearer[levels], len(tree.piece_start) - 1
    if (round % 2 == 0) == (way == OUTWARDS):
        return BEARERS, tree.level_bearer[level], tree.level_bearer[level + 1]
    return PORTS, tree.level_part[level], tree.level_part[level + 1]


@compiled(inline=True)
def rounds_of(tree, way):
    """Orders of a way, one after the other."""
    return 1 if way == TOGETHER else 2 * (len(tree.level_start) - 1)


@compiled(borrows=True)
def treat(tree, storage, way, round, item, todo, coupling, by_q, by_v, free):
    """Do what is to be done to one item of an order of a way; to all items of all its orders where item < 0.

    free: the thread's room. A call hands over a hundred arrays, 0.3 us: one thread alone calls once for a way.
    """
    keep_whole()
    shared = Constants(
        tree.fixed, tree.mass, tree.U_bar, tree.W5, tree.W7,
        FitArrays(tree.port_x, tree.port_A, tree.port_a, tree.port_modes), tree.port_start,
    )  # fmt: skip
    own = Constants(
        tree.own_fixed, tree.own_mass, tree.own_U_bar, tree.own_W5, tree.own_W7,
        FitArrays(tree.own_port_x, tree.own_port_A, tree.own_port_a, tree.own_port_modes), tree.own_port_start,
    )  # fmt: skip
    lone = LoneArrays(tree.lone_linear, tree.lone_strips, tree.lone_tiles)
    begin, end = (0, rounds_of(tree, way)) if item < 0 else (round, round + 1)
    for number in range(begin, end):
        kind, first, last = order_of(tree, way, number, todo)
        if item >= 0:
            first, last = item, item + 1
        if kind == LEAVES and last > first:
            first, last = tree.piece_start[first], tree.piece_start[last]
        for n in range(first, last):
            g = tree.part_group[n] if kind == PORTS else tree.order[n]
            part = tree.part_number[n] if kind == PORTS else 0
            ports, r = tree.group_ports[g], tree.class_r[tree.group_class[g]]
            is_shared = tree.group_class[g] < len(tree.lone_starts)
            base, rows = tree.group_work[g], group_rows(r, ports)
            now = todo & FORCES if kind == LEAVES and ports > 0 else todo
            parts = max(part_count(ports), 1)
            from_port, to_port = part * ports // parts, (part + 1) * ports // parts
            if kind == PORTS:
                if now & SUBSTITUTE:
                    if is_shared:
                        substitute_ports(tree, storage, shared, g, from_port, to_port, free)
                    else:
                        substitute_ports(tree, storage, own, g, from_port, to_port, free)
                if now & FRAMES:
                    for k in range(from_port, to_port):
                        if is_shared:
                            compute_fit(tree, storage, shared, g, k)
                        else:
                            compute_fit(tree, storage, own, g, k)
                        compute_port(tree, storage, g, k, free)
            else:
                if now & SUBSTITUTE:
                    substitute_group(tree, storage, by_q, by_v, g, free)
                if now & FRAMES:
                    compute_spins(tree, storage, g)
                if now & FORCES and r > 0:
                    compute_forces(tree, storage, shared, own, lone, by_q, by_v, free, g)
            if now & ELIMINATE:
                sums = base + LANES * (rows.sums + part * sum_rows(r).size)
                if ports == 0:
                    sums = free + LANES * (room_rows(r).sums - sum_rows(r).coupling)
                if ports == 0 or (kind == PORTS and part == 0):
                    H = sums + LANES * sum_rows(r).coupling
                    if is_shared:
                        compute_inertia(tree, storage, shared, g, free, H)
                    else:
                        compute_inertia(tree, storage, own, g, free, H)
                    begin_group(tree, storage, coupling, g, free, sums)
                if kind == PORTS and is_shared:
                    add_ports(tree, storage, shared, coupling, g, from_port, to_port, sums, free)
                elif kind == PORTS:
                    add_ports(tree, storage, own, coupling, g, from_port, to_port, sums, free)
                elif finish_group(tree, storage, coupling, g, sums) >= 0:
                    storage.bad[g] = 1.0


@compiled(borrows=True)
def work_off(tree, storage, crew, member, members, coupling, by_q, by_v):
    """Items of the present order, as a member of a crew, until none is left."""
    way, round, todo, first, count = crew[WAY], crew[ROUND], crew[TASKS], crew[FIRST], crew[COUNT]
    item = count * member // members
    for _ in range(count):
        if claim(crew, item, crew[NUMBER]):
            treat(tree, storage, way, round, first + item, todo, coupling, by_q, by_v, tree.room_start[member])
        item += 1
        if item == count:
            item = 0


@compiled(borrows=True)
def assist(tree, storage, crew, member, members, coupling, by_q, by_v):
    """What a member of a crew does that does not lead."""
    last = 0
    while True:
        last = await_order(crew, last)
        if last < 0:
            break
        work_off(tree, storage, crew, member, members, coupling, by_q, by_v)
        leave_order(crew)


@compiled(borrows=True)
def sweep(tree, storage, crew, members, way, todo, coupling, by_q, by_v):
    """Do what is to be done along a way through the tree."""
    for round in range(rounds_of(tree, way) if members > 1 else 1):
        kind, first, last = order_of(tree, way, round, todo)
        is_short = last - first == 1 or (kind == BEARERS and way == OUTWARDS)  # not worth being shared
        if members > 1 and not is_short and last > first:
            open_order(crew, way, round, todo, first, last - first)
            work_off(tree, storage, crew, 0, members, coupling, by_q, by_v)
            close_order(crew)
            continue
        for item in range(first if members > 1 else -1, last if members > 1 else 0):
            treat(tree, storage, way, round, item, todo, coupling, by_q, by_v, tree.room_start[0])
