"""Kernels of collisions: when the list of candidate pairs is renewed, and the forces of those that touch.

Symbols as in `collision`.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import NamedTuple

import numba
import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.dense.rotation_kernels import cross
from supple.algebra.lanes.lane_type import lane_count, load, maximum, store
from supple.bodies.voxel.kernels import copy_borders, sweep_slab
from supple.bodies.voxel.links.link import add, dot, scale, subtract
from supple.bodies.voxel.sweep.brick_data import STATE
from supple.bodies.voxel.sweep.brick_links import load_three, three
from supple.bodies.voxel.sweep.damping_kernels import damp_links, damp_links_parallel
from supple.bodies.voxel.sweep.shift_kernels import shift_links, shift_links_parallel
from supple.bodies.voxel.touching.joint_kernels import begin_joints, close_joints
from supple.bodies.voxel.touching.pair_list_kernels import are_near, list_by_cells, list_by_force
from supple.bodies.voxel.touching.surface_contact_kernels import add_surfaces, clear_surfaces
from supple.interaction.law_kernels import FREE, friction_force, normal_force

Array = np.ndarray
MEMORY = 6  # number of listed pairs, motion since they were listed [m], touching pairs, lists made; pairs that are
# remembered, and in which of the two tables
LISTED, MOVED, TOUCHING, LISTS, HELD, TABLE = range(MEMORY)
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
    new one; cell_size [m], zero: every pair is tested. mark (s,), peaks (2 W,): workspace to work in.
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
    held: Array
    slips: Array
    spheres: Array
    cell: Array
    bucket: Array
    mark: Array
    peaks: Array
    order: Array
    start: Array
    near: Array
    near_voxels: Array
    memory: Array
    horizon: float
    limit: float
    cell_size: float
    brick_count: int


@compiled(borrows=True)
def largest_values(state, contacts):
    """The largest speed and the largest size of all voxels."""
    W = lane_count(state)
    speed = load(state, 0) * 0.0
    size = speed
    for b in range(contacts.brick_count):
        at = b * STATE * W
        v = load_three(state, at + 7 * W, W)
        speed = maximum(speed, dot(v, v))
        size = maximum(size, load(state, at + 13 * W))
    store(contacts.peaks, 0, speed)
    store(contacts.peaks, W, size)
    fastest, largest = 0.0, 0.0
    for k in range(W):
        fastest = max(fastest, np.float64(contacts.peaks[k]))
        largest = max(largest, np.float64(contacts.peaks[W + k]))
    return np.sqrt(fastest), largest


@compiled(borrows=True)
def compute_spheres(state, contacts):
    """Centres and radii of the voxels that may meet."""
    W = lane_count(state)
    spheres = contacts.spheres
    for i in range(len(spheres)):
        at = contacts.place[i]
        for k in range(3):
            spheres[i, k] = state[at + k * W]
        spheres[i, 3] = 0.5 * state[at + 13 * W]


@compiled(borrows=True)
def update_list(state, contacts, dt):
    """Find where the voxels are and renew the list if it may miss a pair; returns how many pairs lack workspace."""
    memory = contacts.memory
    fastest, largest = largest_values(state, contacts)
    memory[MOVED] += dt * fastest
    lasts = memory[LISTED] >= 0 and 2.0 * memory[MOVED] + largest <= contacts.limit
    if not lasts or memory[LISTED] > 0:
        compute_spheres(state, contacts)
    if lasts:
        return 0
    found = list_by_cells(contacts) if contacts.cell_size > 0.0 else list_by_force(contacts)
    if found > len(contacts.pairs):
        memory[LISTED] = -1.0
        return found
    memory[LISTED], memory[MOVED] = found, 0.0
    memory[LISTS] += 1.0
    return 0


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
def find_touching(contacts):
    """Which of the listed pairs touch."""
    spheres, pairs = contacts.spheres, contacts.pairs
    touching = 0
    for p in range(int(contacts.memory[LISTED])):
        i, j = pairs[p, 0], pairs[p, 1]
        if are_near(spheres, i, j, spheres[i, 3] + spheres[j, 3]):
            contacts.touching[touching] = p
            touching += 1
    contacts.memory[TOUCHING] = touching


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
def find_held(pairs, count, first, i, j):
    """The place from `first` on of pair (i, j) in an ascending table of so many pairs, or where it would be."""
    while first < count and (pairs[first, 0] < i or (pairs[first, 0] == i and pairs[first, 1] < j)):
        first += 1
    return first


@compiled(borrows=True)
def add_contacts(state, loads, contacts, dt):
    """Add forces and moments of all pairs that touch to the loads, in the order of the list; remember their slips."""
    W = lane_count(state)
    memory = contacts.memory
    count, table = int(memory[HELD]), int(memory[TABLE])
    before, slips_before = contacts.held[table], contacts.slips[table]
    after, slips_after = contacts.held[1 - table], contacts.slips[1 - table]
    known = 0
    for t in range(int(memory[TOUCHING])):
        p = contacts.touching[t]
        i, j = contacts.pairs[p, 0], contacts.pairs[p, 1]
        known = find_held(before, count, known, i, j)
        slip, slid = (0.0, 0.0, 0.0), False
        if known < count and before[known, 0] == i and before[known, 1] == j:
            slip = (slips_before[known, 0], slips_before[known, 1], slips_before[known, 2])
            slid = slips_before[known, 3] > 0.0
        F, M1, M2, slip, slid = pair_loads(state, contacts, i, j, slip, slid, dt)
        after[t, 0], after[t, 1] = i, j
        slips_after[t, 0], slips_after[t, 1], slips_after[t, 2] = slip
        slips_after[t, 3] = 1.0 if slid else 0.0
        one, two = contacts.load_place[i], contacts.load_place[j]
        for c in range(3):
            loads[one + c * W] -= F[c]
            loads[one + (3 + c) * W] += M1[c]
            loads[two + c * W] += F[c]
            loads[two + (3 + c) * W] += M2[c]
    memory[HELD], memory[TABLE] = memory[TOUCHING], 1 - table


@compiled(borrows=True)
def collide(state, loads, contacts, dt):
    """Renew the loads by contacts at the start of a step; returns how many pairs lack workspace, zero when done."""
    clear_contacts(loads, contacts)
    lacking = update_list(state, contacts, dt)
    if lacking == 0:
        find_touching(contacts)
        add_contacts(state, loads, contacts, dt)
    return lacking


@compiled
def advance_colliding(bricks, slabs, laws, damping, contacts, run, joints, step, first, count):
    """Steps first to count on one thread; returns the step it came to, and how many pairs lacked workspace there.

    run: contacts with surfaces of other bodies, joints: what holds voxels; each or None.

    It stops early, without lacking anything, after a step in which links failed.
    """
    slab_count = len(slabs.start) - 1
    for slab in range(slab_count):
        copy_borders(bricks, slabs, slab, first % 2)
    for n in range(first, count):
        if run is not None:
            clear_surfaces(run, contacts.base, bricks.loads)
        lacking = collide(bricks.state, bricks.loads, contacts, step.dt)
        if lacking > 0:
            return n, lacking
        if joints is not None:
            begin_joints(bricks.state, joints)
        if run is not None:
            add_surfaces(bricks.state, run, step.dt, bricks.loads)
        failures = 0
        if bricks.shifts.size > 0:
            failures = shift_links(bricks, slabs, laws, n)
        damp_links(bricks, slabs, damping, n)
        for slab in range(slab_count):
            sweep_slab(bricks, slabs, damping, slab, n, step)
        if joints is not None:
            close_joints(bricks.state, joints, step.dt)
            for slab in range(slab_count):
                copy_borders(bricks, slabs, slab, 1 - n % 2)
        if failures > 0:
            return n + 1, 0
    return count, 0


@compiled(parallel=True)
def advance_colliding_parallel(bricks, slabs, laws, damping, contacts, run, joints, step, first, count):
    """The same on all threads, contacts on one; the same bits as `advance_colliding`."""
    slab_count = len(slabs.start) - 1
    reached, lacking, failures = first, 0, 0
    for slab in range(slab_count):
        copy_borders(bricks, slabs, slab, first % 2)
    while reached < count and lacking == 0 and failures == 0:
        if run is not None:
            clear_surfaces(run, contacts.base, bricks.loads)
        lacking = collide(bricks.state, bricks.loads, contacts, step.dt)
        if lacking == 0:
            if joints is not None:
                begin_joints(bricks.state, joints)
            if run is not None:
                add_surfaces(bricks.state, run, step.dt, bricks.loads)
            if bricks.shifts.size > 0:
                failures = shift_links_parallel(bricks, slabs, laws, reached)
            damp_links_parallel(bricks, slabs, damping, reached)
            for slab in numba.prange(slab_count):
                sweep_slab(bricks, slabs, damping, slab, reached, step)
            if joints is not None:
                close_joints(bricks.state, joints, step.dt)
                for slab in range(slab_count):
                    copy_borders(bricks, slabs, slab, 1 - reached % 2)
            reached += 1
    return reached, lacking
