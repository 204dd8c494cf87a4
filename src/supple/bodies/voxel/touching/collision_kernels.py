"""Kernels of collisions: when the list of candidate pairs is renewed, and the forces of those that touch.

Threads share lists by parts: they find which pairs touch, then the forces of these; whoever sweeps a slab adds these to
its loads, in the order of the list. Symbols as in `collision`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross
from supple.algebra.lanes.lane_type import lane_count
from supple.bodies.voxel.links.link import add, dot, scale, subtract
from supple.bodies.voxel.sweep.brick_data import LINE, LOADS, PARTS
from supple.bodies.voxel.sweep.brick_links import three
from supple.bodies.voxel.touching.pair_list_kernels import are_near, list_by_cells, list_by_force
from supple.interaction.law_kernels import FREE, friction_force, normal_force

Array = np.ndarray
MEMORY = 7  # number of listed pairs, motion since they were listed [m], touching pairs, lists made; pairs that are
# remembered, and in which of the two tables; whether forces of a step are added to the loads at once, before its sweep
LISTED, MOVED, TOUCHING, LISTS, HELD, TABLE, AT_ONCE = range(MEMORY)
TANGENTIAL = 0.1  # tangential stiffness over normal stiffness


class Contacts(NamedTuple):
    """Voxels that may meet, s of them, and what is known of their meetings.

    voxels (s,): their numbers. place, load_place (s,): where x and the loads of a voxel start. constants (s, 5): k, m,
    zeta, mu_s, mu_k. barred_start (s + 1,), barred: partners that never meet. base: the loads without contacts. pairs
    (capacity, 2), touching (capacity,): listed pairs, and those of them that touch. held (2, capacity, 2), slips
    (2, capacity, 4): two tables of pairs that touched in a step, ascending, with the stretch [m] of the spring that
    holds them, and 1 where they slid; one is read while the other is written. spheres (s, 4): centre and radius. cell,
    bucket, order, start: the cells. near (3 P,), near_voxels (P,), P >= s in whole lanes: centres and numbers of
    voxels that are tested together. memory (MEMORY,). horizon [m] of the list; limit [m]: motion and size that make a
    new one; cell_size [m], zero: every pair is tested. mark (s,): workspace to work in. found (capacity,): pairs that
    touch, in each of PARTS parts of the list from its start on, counts: how many, in cache lines of their own. pushes
    (capacity, 9): force and moments of pairs that touch.
    """

    voxels: Array
    place: Array
    load_place: Array
    constants: Array
    barred_start: Array
    barred: Array
    base: Array
    pairs: Array
    touching: Array
    found: Array
    counts: Array
    pushes: Array
    held: Array
    slips: Array
    spheres: Array
    cell: Array
    bucket: Array
    mark: Array
    order: Array
    start: Array
    near: Array
    near_voxels: Array
    memory: Array
    horizon: float
    limit: float
    cell_size: float


@compiled(borrows=True)
def is_list_good(slabs, contacts, dt):
    """Whether the list can still not miss a pair in a step, from the largest speed and size of all voxels."""
    memory, W = contacts.memory, lane_count(slabs.peaks)
    fastest, largest = 0.0, 0.0
    for slab in range(len(slabs.start) - 1):
        for k in range(2 * slab * W, (2 * slab + 1) * W):
            fastest = max(fastest, np.float64(slabs.peaks[k]))
            largest = max(largest, np.float64(slabs.peaks[k + W]))
    memory[MOVED] += dt * np.sqrt(fastest)
    return memory[LISTED] >= 0 and 2.0 * memory[MOVED] + largest <= contacts.limit


@compiled(borrows=True)
def renew_list(contacts):
    """List the pairs within the horizon; returns how many lack workspace."""
    memory = contacts.memory
    found = list_by_cells(contacts) if contacts.cell_size > 0.0 else list_by_force(contacts)
    if found > len(contacts.pairs):
        memory[LISTED] = -1.0
        return found
    memory[LISTED], memory[MOVED] = found, 0.0
    memory[LISTS] += 1.0
    return 0


@compiled(inline=True)
def part_of(count, part):
    """The first of so many things that belongs to a part, of PARTS."""
    return count * part // PARTS


@compiled(borrows=True)
def prepare_part(state, loads, contacts, part):
    """Take the contacts of the step before out of the loads, and find where the voxels that may meet are."""
    W, touching = lane_count(loads), int(contacts.memory[TOUCHING])
    for t in range(part_of(touching, part), part_of(touching, part + 1)):
        for side in range(2):
            at = contacts.load_place[contacts.pairs[contacts.touching[t], side]]
            for k in range(6):
                loads[at + k * W] = contacts.base[at + k * W]
    spheres = contacts.spheres
    for i in range(part_of(len(spheres), part), part_of(len(spheres), part + 1)):
        at = contacts.place[i]
        for k in range(3):
            spheres[i, k] = state[at + k * W]
        spheres[i, 3] = 0.5 * state[at + 13 * W]


@compiled(borrows=True)
def clear_contacts(loads, contacts):
    """Take the contacts of the step before out of the loads."""
    W = lane_count(loads)
    for t in range(int(contacts.memory[TOUCHING])):
        for side in range(2):
            i = contacts.pairs[contacts.touching[t], side]
            at = contacts.load_place[i]
            for k in range(6):
                loads[at + k * W] = contacts.base[at + k * W]
    contacts.memory[TOUCHING] = 0.0


@compiled(borrows=True)
def find_part(contacts, part):
    """Which of the listed pairs of a part touch."""
    spheres, pairs, listed = contacts.spheres, contacts.pairs, int(contacts.memory[LISTED])
    first = part_of(listed, part)
    found = first
    for p in range(first, part_of(listed, part + 1)):
        i, j = pairs[p, 0], pairs[p, 1]
        contacts.found[found] = p
        if are_near(spheres, i, j, spheres[i, 3] + spheres[j, 3]):
            found += 1
    contacts.counts[part * LINE] = found - first


@compiled(inline=True)
def pair_loads(state, contacts, i, j, slip, slid, dt):
    """Force on j, opposite on i, the moments on i and on j, and the slip, and whether they slide, after it."""
    W = lane_count(state)
    spheres = contacts.spheres
    one, two = contacts.constants[i], contacts.constants[j]
    p, q = contacts.place[i], contacts.place[j]
    r = (spheres[j, 0] - spheres[i, 0], spheres[j, 1] - spheres[i, 1], spheres[j, 2] - spheres[i, 2])
    d, reach = np.sqrt(dot(r, r)), spheres[i, 3] + spheres[j, 3]
    n = scale(1.0 / max(d, 1e-12 * reach), r)
    a1, a2 = d * spheres[i, 3] / reach, d * spheres[j, 3] / reach
    v1, v2 = three(state, p + 7 * W, W), three(state, q + 7 * W, W)
    w1, w2 = three(state, p + 10 * W, W), three(state, q + 10 * W, W)
    u = subtract(v2, v1)
    closing = -dot(u, n)
    k = one[0] * two[0] / (one[0] + two[0])
    c = 0.5 * (one[2] + two[2]) * np.sqrt(np.sqrt(one[1] * two[1]) * k)
    N = normal_force(k, c, reach - d, closing, FREE)  # (C1)
    spin = add(scale(a1, w1), scale(a2, w2))
    u = subtract(add(u, scale(closing, n)), cross(spin, n))
    s = add(subtract(slip, scale(dot(slip, n), n)), scale(dt, u))
    slide = 0.5 * (one[4] + two[4]) * N
    hold = slide if slid else 0.5 * (one[3] + two[3]) * N
    T, s, sticks = friction_force(TANGENTIAL * k, TANGENTIAL * c, hold, slide, s, u)  # (C3)
    turn = cross(T, n)
    return add(scale(N, n), T), scale(a1, turn), scale(a2, turn), s, not sticks


@compiled(inline=True)
def comes_before(pairs, k, i, j):
    """Whether pair k of a table stands before pair (i, j)."""
    return pairs[k, 0] < i or (pairs[k, 0] == i and pairs[k, 1] < j)


@compiled(inline=True)
def find_held(pairs, count, i, j):
    """The place of pair (i, j) in an ascending table of so many pairs, or where it would be."""
    first = 0
    while first < count:
        middle = (first + count) // 2
        if comes_before(pairs, middle, i, j):
            first = middle + 1
        else:
            count = middle
    return first


@compiled(borrows=True)
def push_part(state, contacts, dt, part):
    """Forces and moments of the pairs of a part that touch; remember their slips."""
    memory = contacts.memory
    count, table = int(memory[HELD]), int(memory[TABLE])
    before, slips_before = contacts.held[table], contacts.slips[table]
    after, slips_after = contacts.held[1 - table], contacts.slips[1 - table]
    first, t, known = part_of(int(memory[LISTED]), part), 0, -1
    for other in range(part):
        t += contacts.counts[other * LINE]
    for k in range(first, first + contacts.counts[part * LINE]):
        p = contacts.found[k]
        i, j = contacts.pairs[p, 0], contacts.pairs[p, 1]
        if known < 0:
            known = find_held(before, count, i, j)
        while known < count and comes_before(before, known, i, j):
            known += 1
        slip, slid = (0.0, 0.0, 0.0), False
        if known < count and before[known, 0] == i and before[known, 1] == j:
            slip = (slips_before[known, 0], slips_before[known, 1], slips_before[known, 2])
            slid = slips_before[known, 3] > 0.0
        F, M1, M2, slip, slid = pair_loads(state, contacts, i, j, slip, slid, dt)
        contacts.touching[t] = p
        after[t, 0], after[t, 1] = i, j
        slips_after[t, 0], slips_after[t, 1], slips_after[t, 2] = slip
        slips_after[t, 3] = 1.0 if slid else 0.0
        for c in range(3):
            contacts.pushes[t, c], contacts.pushes[t, 3 + c], contacts.pushes[t, 6 + c] = F[c], M1[c], M2[c]
        t += 1


@compiled(borrows=True)
def end_pushes(contacts):
    """Remember the pairs that touch."""
    memory, touching = contacts.memory, 0
    for part in range(PARTS):
        touching += contacts.counts[part * LINE]
    memory[TOUCHING], memory[HELD], memory[TABLE] = touching, touching, 1 - memory[TABLE]


@compiled(borrows=True)
def add_pushes(loads, slabs, contacts, slab):
    """Add forces and moments of all pairs that touch to the loads of a slab, in the order of the list."""
    W, pushes, touching = lane_count(loads), contacts.pushes, int(contacts.memory[TOUCHING])
    first, stop = slabs.start[slab] * LOADS * W, slabs.start[slab + 1] * LOADS * W
    for t in range(touching):
        p = contacts.touching[t]
        one, two = contacts.load_place[contacts.pairs[p, 0]], contacts.load_place[contacts.pairs[p, 1]]
        if first <= one < stop:
            for c in range(3):
                loads[one + c * W] -= pushes[t, c]
                loads[one + (3 + c) * W] += pushes[t, 3 + c]
        if first <= two < stop:
            for c in range(3):
                loads[two + c * W] += pushes[t, c]
                loads[two + (3 + c) * W] += pushes[t, 6 + c]


@compiled(borrows=True)
def add_later(loads, slabs, contacts, slab):
    """The same where it has not been done at once."""
    if contacts.memory[AT_ONCE] == 0:
        add_pushes(loads, slabs, contacts, slab)
