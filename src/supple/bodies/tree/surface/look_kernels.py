"""What a frame of a run asks of a large tree at one instant, in one pass over its domains, lanes of them at once.

    frames of all domains, and how they move     `moving_kernels`, groups with interfaces from the root outwards
    energies, momenta, first moment              `measure_kernels`
    the largest gap                              d = s |X + U q - (x + T y)|, points of interfaces  [BZ11, figure 3]
    domains where an element may be inverted     sum |q_l| e_l >= 1 and |q^T L| >= 1, `modal.basis_inversion`

Each is needed once a frame; one after another they would bring the same coordinates and frames into the cache again.
Items are domains of one class: whole groups of the step, whose coordinates lie side by side, and domains of mixed
groups, put together class by class.
"""

# mypy: ignore-errors
from __future__ import annotations

from typing import NamedTuple

import numpy as np

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import LANES, any_greater, fabs, lane_sum, load, maximum, select_ge, sqrt, store
from supple.bodies.tree.energy_kernels import WIDTH
from supple.bodies.tree.step.frame_kernels import load9
from supple.bodies.tree.step.measure_kernels import FACTORS, POSE, TOTALS, MeasureArrays, measure_lanes
from supple.bodies.tree.step.transpose_kernels import transpose_square
from supple.bodies.tree.surface.moving_kernels import (
    FITTED,
    SLOT,
    STRETCH,
    MovingFrames,
    gather_frames,
    place_children,
    place_root,
)

Array = np.ndarray
GAP, TOGETHER = 6, 3
"""Numbers of an interface's point at rest: y in the child's axes and D in the parent's, from their origins. Points
whose gaps are found together."""
ABOVE_ONE = 1.0 + 1e-9
"""What a bound is taken times, for round-off."""
BELOW_ONE = 1.0 - 1e-12
"""What may be one: sums are taken in another order than where elements are looked at."""


class Items(NamedTuple):
    """k items of WIDTH domains of a class, kind (k,). together: 1 for each LANES of them that are a group of the step.
    Of each place: slot: where its frame begins, q_at: where its coordinates begin, LANES apart, domain: -1: none.
    factors (k, 4 WIDTH), flat: as of `measure_kernels`, zero where there is no domain."""

    kind: Array
    together: Array
    slot: Array
    q_at: Array
    domain: Array
    factors: Array


class Gaps(NamedTuple):
    """Points of the interfaces that are known by the classes of groups: start (f + 1,), TOGETHER by TOGETHER; value
    (f,): where the numbers of each begin: (GAP + 3 r) a point, y, D, and V by the coordinates. reach (f, 2 + r): of
    each, see `gap_bound`, the largest |D - A y| at rest, |y|, and |V - A_l y| by each coordinate. used: 1 for each slot
    that a domain hangs on. Domains on groups of several classes are not among them."""

    start: Array
    value: Array
    points: Array
    reach: Array
    used: Array


class Strains(NamedTuple):
    """Of c classes: most (c, r), flat: largest strains by coordinate; covering (c, r, r), flat: L, where known (c,) is
    1."""

    most: Array
    covering: Array
    known: Array


class Look(NamedTuple):
    """places (n,): of the coordinates in the workspace of a step; slot_of (d,): where the frame of each domain begins.

    Found: total (TOTALS,); gap (1,): the square of the largest [m²]; widest (2,): its group and interface, where the
    next look begins, since most others are known to be narrower; near (d,): domains whose strains may invert an
    element, near_count (1,); R (d, 9), o (d, 3): their frames. Scratch: rows, scratch, found.
    """

    places: Array
    slot_of: Array
    items: Items
    measures: MeasureArrays
    moving: MovingFrames
    gaps: Gaps
    strains: Strains
    total: Array
    gap: Array
    widest: Array
    near: Array
    near_count: Array
    R: Array
    o: Array
    rows: Array
    scratch: Array
    found: Array


@compiled(borrows=True)
def bring(look, x, v):
    """Coordinates x (1, width) and rates v (1, width) into the workspace's order, and the root's."""
    moving, places = look.moving, look.places
    for i in range(7):
        moving.frame[i] = x[0, i]
    for i in range(6):
        moving.velocity[i] = v[0, i]
    for k in range(len(places)):
        moving.q[places[k]], moving.v[places[k]] = x[0, 7 + k], v[0, 6 + k]


@compiled(inline=True)
def gap_bound(tree, look, g, k):
    """What the squares of gaps at interface k of group g do not exceed, of its fit in the rows:

    X + U q - x - T y = (X + U q - x - A y) + T (S - I) y,   the first linear in q, A = T S
    """
    gaps, moving, kind = look.gaps, look.moving, tree.group_class[g]
    number, none = tree.class_interface[kind] + k, 0.0 * load(tree.scale, g * LANES)
    at = number * gaps.reach.shape[1]
    reach = gaps.reach.reshape(-1)
    bound = none + reach[at] + reach[at + 1] * sqrt(load(moving.rows, LANES * STRETCH))
    for n in range(tree.class_r[kind]):
        bound += fabs(load(moving.q, tree.group_q[g] + n * LANES)) * reach[at + 2 + n]
    return ABOVE_ONE * bound * bound


@compiled(inline=True)
def lanes_gap(tree, look, g, k, worst):
    """The larger of worst and the squares of gaps at interface k of group g, whose fit lies in the rows."""
    gaps, moving, kind = look.gaps, look.moving, tree.group_class[g]
    r, number = tree.class_r[kind], tree.class_interface[kind] + k
    s = load(tree.scale, g * LANES)
    weight = s * s * load(gaps.used, tree.group_slot[g] + k * LANES)
    if not any_greater(weight * gap_bound(tree, look, g, k), worst):
        return worst
    T = load9(moving.rows, LANES * (FITTED + 6))
    points, size, none = gaps.points, GAP + 3 * r, 0.0 * s
    found = none
    for p in range(gaps.start[number], gaps.start[number + 1], TOGETHER):
        i = gaps.value[number] + (p - gaps.start[number]) * size
        j, l = i + size, i + 2 * size
        a0, a1, a2 = none + points[i + 3], none + points[i + 4], none + points[i + 5]
        b0, b1, b2 = none + points[j + 3], none + points[j + 4], none + points[j + 5]
        c0, c1, c2 = none + points[l + 3], none + points[l + 4], none + points[l + 5]
        for n in range(r):
            q, at = load(moving.q, tree.group_q[g] + n * LANES), GAP + 3 * n
            a0, a1, a2 = a0 + q * points[i + at], a1 + q * points[i + at + 1], a2 + q * points[i + at + 2]  # (13.12)
            b0, b1, b2 = b0 + q * points[j + at], b1 + q * points[j + at + 1], b2 + q * points[j + at + 2]
            c0, c1, c2 = c0 + q * points[l + at], c1 + q * points[l + at + 1], c2 + q * points[l + at + 2]
        found = maximum(found, weight * apart(T, points, i, a0, a1, a2))
        found = maximum(found, weight * apart(T, points, j, b0, b1, b2))
        found = maximum(found, weight * apart(T, points, l, c0, c1, c2))
    store(look.found, 0, found)
    for b in range(LANES):
        if look.found[b] > worst:
            worst, look.widest[0], look.widest[1] = look.found[b], g, k
    return worst


@compiled(inline=True)
def apart(T, points, at, a, b, c):
    """The square of the distance between (a, b, c) and T y, y from points[at] on."""
    x, y, z = points[at], points[at + 1], points[at + 2]
    a -= T[0] * x + T[1] * y + T[2] * z
    b -= T[3] * x + T[4] * y + T[5] * z
    c -= T[6] * x + T[7] * y + T[8] * z
    return a * a + b * b + c * c


@compiled(borrows=True)
def place_frames(tree, look):
    """Frames of all domains from the root outwards, and the largest square of a gap on the way."""
    moving, worst, shared = look.moving, 0.0, len(tree.lone_starts)
    has_gaps = len(look.gaps.start) > 1
    if has_gaps and tree.group_class[look.widest[0]] < shared and tree.group_interfaces[look.widest[0]] > 0:
        place_children(tree, tree.shared, moving, look.widest[0], look.widest[1])  # for its gap, not its frames
        worst = lanes_gap(tree, look, look.widest[0], look.widest[1], worst)
    place_root(moving)
    for n in range(len(tree.order)):
        g = tree.order[n]
        if tree.group_interfaces[g] == 0:
            continue
        gather_frames(tree, moving, g)
        for k in range(tree.group_interfaces[g]):
            if tree.group_class[g] < shared:
                place_children(tree, tree.shared, moving, g, k)
                if has_gaps:
                    worst = lanes_gap(tree, look, g, k, worst)
            else:
                place_children(tree, tree.own, moving, g, k)
    look.gap[0] = worst


@compiled(borrows=True)
def read_frames(look):
    """Frames domain by domain."""
    slots = look.moving.slots
    for d in range(len(look.slot_of)):
        at = look.slot_of[d]
        for i in range(9):
            look.R[d, i] = slots[at + i]
        for i in range(3):
            look.o[d, i] = slots[at + 9 + i]


@compiled(inline=True)
def gather_half(look, r, m, at, first):
    """Rows of lanes first to first + LANES - 1 of all items, into m[at : at + LANES] of each row."""
    items, moving = look.items, look.moving
    if items.together[first // LANES] > 0:
        own = items.q_at[first]
        for l in range(r):
            store(m, l * WIDTH + at, load(moving.q, own + l * LANES))
            store(m, (r + l) * WIDTH + at, load(moving.v, own + l * LANES))
    else:
        for b in range(LANES):
            own = items.q_at[first + b]
            for l in range(r):
                m[l * WIDTH + at + b], m[(r + l) * WIDTH + at + b] = (
                    moving.q[own + l * LANES],
                    moving.v[own + l * LANES],
                )
    for b in range(LANES):
        slot = items.slot[first + b]
        for c in range(0, SLOT, LANES):
            store(moving.beside, SLOT * b + c, load(moving.slots, slot + c))
    for i in range(0, POSE, LANES):
        transpose_square(moving.beside, i, SLOT, m, (2 * r + i) * WIDTH + at, WIDTH)


@compiled(borrows=True)
def gather_item(look, item, r, m):
    """Rows of an item as `measure_kernels.measure_lanes` takes them."""
    for at in range(0, WIDTH, LANES):
        gather_half(look, r, m, at, item * WIDTH + at)
    for i in range(0, 4 * WIDTH, LANES):
        store(m, (2 * r + FACTORS) * WIDTH + i, load(look.items.factors, 4 * item * WIDTH + i))


@compiled(borrows=True)
def note_strained(look, item, r, m):
    """Domains of an item of which an element may be inverted, at their coordinates m (r rows)."""
    strains, c = look.strains, look.items.kind[item]
    most = look.measures.U_bar.shape[2]
    bound = 0.0 * load(m, 0, WIDTH)
    for l in range(r):
        bound += fabs(load(m, l * WIDTH, WIDTH)) * strains.most[most * c + l]
    if not any_greater(bound, BELOW_ONE):
        return
    if strains.known[c] > 0:
        form = 0.0 * bound
        for j in range(r):
            row, at = 0.0 * bound, most * most * c + j
            for i in range(r):
                row += load(m, i * WIDTH, WIDTH) * strains.covering[at + most * i]
            form += row * row
        bound = select_ge(form, BELOW_ONE, bound, 0.0 * bound)
    store(look.found, 0, bound)
    for b in range(WIDTH):
        domain = look.items.domain[item * WIDTH + b]
        if domain >= 0 and look.found[b] >= BELOW_ONE:
            look.near[look.near_count[0]] = domain
            look.near_count[0] += 1


@compiled(borrows=True)
def measure_items(tree, look):
    """Measures of all domains, and which of them may have inverted elements."""
    items, m, found = look.items, look.rows, look.found
    sums = TOTALS * WIDTH
    for i in range(sums, 2 * sums):
        found[i] = 0.0
    look.near_count[0] = 0
    for item in range(len(items.kind)):
        c = items.kind[item]
        r = tree.class_r[c]
        gather_item(look, item, r, m)
        note_strained(look, item, r, m)
        measure_lanes(look.measures, c, r, m, look.scratch, found)
        for i in range(0, sums, LANES):
            store(found, sums + i, load(found, sums + i) + load(found, i))
    for i in range(TOTALS):
        look.total[i] = lane_sum(load(found, sums + i * WIDTH, WIDTH))


@compiled
def see(tree, look, x, v):
    """All that `Look` finds, at coordinates x (1, width) and rates v (1, width)."""
    bring(look, x, v)
    place_frames(tree, look)
    read_frames(look)
    measure_items(tree, look)
