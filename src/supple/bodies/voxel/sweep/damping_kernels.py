"""Stages of damping before the forces of a step: v <- v - part dt M^-1 C v, sweeps over velocities alone. See `stages`.

The first stage reads the velocities of the state, the others those that the one before left in `Damping.rates`, in
place: what lies ahead of a brick is still old. Copies at the borders of slabs are kept twice, by turns.
"""

# mypy: ignore-errors
from __future__ import annotations

import numba

from supple.algebra.compiling.compiled import compiled
from supple.algebra.lanes.lane_type import lane_count, load
from supple.bodies.voxel.links.link import add, dot, scale
from supple.bodies.voxel.sweep.brick_data import CONSTANTS, GUIDE, RATES, STATE
from supple.bodies.voxel.sweep.brick_links import VELOCITY, load_moving, load_three, store_three
from supple.bodies.voxel.sweep.brick_sums import copy_tiles, enter_slab, sum_links


@compiled(inline=True)
def guided(bricks, g, W, v, w):
    """Velocities v, w in the directions that guide tile g leaves free, and its own in the others."""
    at = g * GUIDE * W
    x, y, z = (
        load_three(bricks.guides, at, W),
        load_three(bricks.guides, at + 3 * W, W),
        load_three(bricks.guides, at + 6 * W, W),
    )
    free = load(bricks.guides, at + 9 * W)
    v = add((dot(x, v), dot(y, v), dot(z, v)), load_three(bricks.guides, at + 10 * W, W))
    return v, add(scale(free, w), load_three(bricks.guides, at + 13 * W, W))


@compiled(inline=True)
def source_after(bricks, slabs, damping, stage, parity):
    """Where the velocities after so many stages lie, for `load_moving`; parity: of the copies of the state."""
    shift = parity * slabs.halo
    if stage == 0:
        return bricks.state, STATE, VELOCITY, slabs.first_copy, shift, shift
    return damping.rates, RATES, 0, slabs.first_copy, shift, (stage % 2) * slabs.halo


@compiled(borrows=True)
def damp_slab(bricks, slabs, damping, slab, stage, parity):
    """One stage of a slab."""
    W = lane_count(bricks.state)
    source = source_after(bricks, slabs, damping, stage, parity)
    part = damping.before[stage]
    enter_slab(bricks, slabs, slab, source, W, part, False)
    zero = load(bricks.state, 0) * 0.0
    none = ((zero, zero, zero), (zero, zero, zero))
    left = none
    for b in range(slabs.start[slab], slabs.start[slab + 1]):
        s = load_moving(bricks.state, source, b, W)
        if bricks.follows[b] == 0:
            left = none
        F, M, left = sum_links(bricks, slabs, slab, b, source, W, s, left, part, False)
        at = (b * CONSTANTS + 12) * W
        v = add(s[2], scale(load(bricks.constants, at), F))  # (14.28)
        w = add(s[3], scale(load(bricks.constants, at + W), M))  # (14.28)
        if bricks.guide.size > 0 and bricks.guide[b] >= 0:
            v, w = guided(bricks, bricks.guide[b], W, v, w)
        store_three(damping.rates, b * RATES * W, W, v)
        store_three(damping.rates, (b * RATES + 3) * W, W, w)
    copy_tiles(slabs, slab, damping.rates, RATES * W, ((stage + 1) % 2) * slabs.halo)


@compiled
def damp_links(bricks, slabs, damping, n):
    """All stages before step n, one thread."""
    for stage in range(len(damping.before)):
        for slab in range(len(slabs.start) - 1):
            damp_slab(bricks, slabs, damping, slab, stage, n % 2)


@compiled(parallel=True)
def damp_parallel(bricks, slabs, damping, stage, n):
    """One stage on all threads."""
    for slab in numba.prange(len(slabs.start) - 1):
        damp_slab(bricks, slabs, damping, slab, stage, n % 2)


@compiled
def damp_links_parallel(bricks, slabs, damping, n):
    """The same on all threads."""
    for stage in range(len(damping.before)):
        damp_parallel(bricks, slabs, damping, stage, n)
